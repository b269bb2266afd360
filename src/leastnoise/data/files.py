"""Matrices and counts from .npy, .npz and .csv files. Messages about counts never quote them.

Every way in which a file can be bad ends in one sentence that names the file.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sparse

from leastnoise.data.csvfile import read_csv
from leastnoise.errors import FileError, InputError
from leastnoise.workload.matrices import is_sparse
from leastnoise.workload.workload import Workload

_KINDS = (".npy", ".npz", ".csv")


def read_workload(path: Path) -> Workload:
    """The queries in a file: a row each, a column per cell."""
    names = None
    if _kind(path) == ".csv":
        table = read_csv(path)
        queries, names = table.equally_long(), table.names
    else:
        queries = _read_array(path, "queries")
    try:
        return Workload(queries, names)
    except InputError as error:
        raise FileError(f"{path}: {error}") from None


def read_counts(path: Path) -> Any:
    """The counts in a file, one per cell: a line of a CSV each, or all on one line."""
    return _read_vector(path, "counts")


def counts_in(path: Path) -> Callable[[], Any]:
    """Opens a file of counts, when called; that there is one of its kind is checked now."""
    _kind(path)
    return lambda: read_counts(path)


def read_weights(path: Path) -> Any:
    """The weights in a file, one per query: a line of a CSV each, or all on one line."""
    return _read_vector(path, "weights")


def _read_vector(path: Path, what: str) -> Any:
    """A CSV's numbers, an array as it is, a sparse row or column laid flat."""
    if _kind(path) == ".csv":
        return read_csv(path).one_per_line(what)
    array = _read_array(path, what)
    return _laid_flat(path, array, what) if is_sparse(array) else array


def _laid_flat(path: Path, matrix: Any, what: str) -> np.ndarray:
    if matrix.ndim > 1 and 1 not in matrix.shape:
        size = " x ".join(map(str, matrix.shape))
        raise FileError(f"{path} holds a {size} matrix; save {what} as one row or column")
    return np.asarray(matrix.toarray()).ravel()


def _kind(path: Path) -> str:
    """The file's ending, once it is one that can be read and there is a file."""
    kind = path.suffix.lower()
    if kind not in _KINDS:
        raise FileError(f"{path} has an unknown ending; give one of {', '.join(_KINDS)}")
    try:
        is_there = path.is_file()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    if not is_there:
        raise FileError(f"{path} does not exist, or is no file; check the name")
    return kind


def _read_array(path: Path, what: str) -> Any:
    """An .npy array, the only array of an .npz, or a scipy sparse matrix."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    with file:
        try:
            return _unpacked(path, file, what)
        except (FileError, MemoryError):
            raise
        except Exception as error:  # numpy, zipfile and scipy raise a dozen types on forged files
            raise FileError(
                f"{path} is damaged, or no {path.suffix} file of plain numbers; save it with numpy"
            ) from error


def _unpacked(path: Path, file: BinaryIO, what: str) -> Any:
    """What the file holds; never a pickle, which could run code."""
    content = np.load(file, allow_pickle=False)
    if isinstance(content, np.ndarray):
        return content
    if "format" in content.files and "shape" in content.files:
        file.seek(0)
        return _checked_sparse(sparse.load_npz(file))
    if len(content.files) != 1:
        raise FileError(f"{path} holds {len(content.files)} arrays; save one array of {what}")
    array = content[content.files[0]]
    if not isinstance(array, np.ndarray):  # the bytes of whatever else was zipped
        raise ValueError
    return array


def _checked_sparse(matrix: Any) -> Any:
    """scipy believes the indices in a file; one beyond the matrix would read foreign memory."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix
