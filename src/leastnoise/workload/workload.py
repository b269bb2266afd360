"""A batch of linear counting queries over n cells.

Cells that no query tells apart are one *class*. A workload is its m × c matrix over classes
together with the map cell → class, so a thousand ranges over a million cells stay a matrix of at
most 2,000 columns. Cells that no query counts have class -1.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.errors import InputError
from leastnoise.memory import require
from leastnoise.workload.arrays import as_numpy
from leastnoise.workload.matrices import Matrix, dense, entries, is_sparse, stack

UNUSED = -1
"""The class of a cell that no query counts."""

_LARGEST = 2.0**53  # beyond it neighbouring integers are one double


class Workload:
    """m queries over n cells, held over classes: query i is Σ_j matrix[i, cells[j]]·xⱼ."""

    matrix: Matrix
    cells: np.ndarray
    names: tuple[str, ...]

    def __init__(self, matrix: Any, names: Sequence[str] | None = None) -> None:
        rows = _checked(matrix)
        self._hold(*_merge(rows, np.arange(rows.shape[1])), names)

    @classmethod
    def by_cell(cls, matrix: Any, names: Sequence[str] | None = None) -> "Workload":
        """A workload that merges nothing: each cell is a class, as mechanisms were published.

        Only to reproduce their figures; merging costs no accuracy and saves time.
        """
        workload, rows = cls.__new__(cls), _checked(matrix)
        workload._hold(rows, np.arange(rows.shape[1]), names)
        return workload

    @classmethod
    def over_classes(
        cls, matrix: Matrix, cells: np.ndarray, names: Sequence[str] | None = None
    ) -> "Workload":
        """A workload whose cells are already grouped; classes that turn out alike are merged."""
        workload = cls.__new__(cls)
        workload._hold(*_merge(matrix, cells), names)
        return workload

    def _hold(self, matrix: Matrix, cells: np.ndarray, names: Sequence[str] | None) -> None:
        if matrix.shape[1] == 0:
            raise InputError("the workload is all zero: give at least one nonzero coefficient")
        matrix = _lighter(matrix)
        if sparse.issparse(matrix):
            matrix.sum_duplicates()  # scipy would sort later, in place, what is read-only by then
        for array in (cells, entries(matrix)):
            array.setflags(write=False)
        self.matrix = matrix
        self.cells = cells
        self.names = _checked_names(names, matrix.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Queries and cells."""
        return self.matrix.shape[0], len(self.cells)

    @property
    def classes(self) -> int:
        """How many groups of cells the queries tell apart."""
        return int(self.matrix.shape[1])

    def dense(self) -> np.ndarray:
        """The m × n matrix over the original cells; refused when it would not fit."""
        rows, cells = self.shape
        require(8 * rows * cells, f"a dense {rows} x {cells} workload", "use .matrix and .cells")
        full = np.zeros((rows, cells))
        used = self.cells >= 0
        full[:, used] = dense(self.matrix)[:, self.cells[used]]
        return full

    def __or__(self, other: "Workload") -> "Workload":
        """The queries of both over one domain; classes are cut until they serve both."""
        if not isinstance(other, Workload):
            return NotImplemented
        if self.shape[1] != other.shape[1]:
            raise InputError(
                f"workloads joined with | need one domain: "
                f"the left one has {self.shape[1]} cells, the right one {other.shape[1]}"
            )
        pairs, cells = np.unique(np.stack([self.cells, other.cells]), axis=1, return_inverse=True)
        stacked = stack(_columns(self.matrix, pairs[0]), _columns(other.matrix, pairs[1]))
        return Workload.over_classes(stacked, cells.reshape(-1), _joined_names(self, other))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        rows, cells = self.shape
        return f"Workload({rows} queries, {cells} cells in {self.classes} classes)"


def as_workload(queries: Any) -> Workload:
    """A workload as it is, or one made from an array or a scipy sparse matrix."""
    return queries if isinstance(queries, Workload) else Workload(queries)


def _checked(matrix: Any) -> Matrix:
    """A finite, real, two-dimensional float64 matrix of our own, or one sentence of refusal."""
    values = matrix if is_sparse(matrix) else _as_array(matrix)
    if values.ndim != 2:
        raise InputError(
            f"the workload must be two-dimensional (queries x cells), not {values.ndim}-D; "
            f"write a single query as [[...]]"
        )
    if 0 in values.shape:
        raise InputError(f"the workload is empty ({values.shape[0]} x {values.shape[1]})")
    if values.dtype.kind not in "buif":
        kind = "complex" if values.dtype.kind == "c" else "not numeric"
        raise InputError(f"the workload is {kind} ({values.dtype}); give real numbers")
    own: Matrix = (
        sparse.csr_array(values, dtype=np.float64, copy=True)
        if is_sparse(values)
        else np.array(values, dtype=np.float64, order="C")
    )
    coefficients = entries(own)
    if not np.isfinite(coefficients).all():
        raise InputError("the workload has NaN or infinite coefficients; give finite numbers")
    if coefficients.size and max(coefficients.max(), -coefficients.min()) > _LARGEST:
        raise InputError("the workload has coefficients beyond 2**53; divide its rows")
    return own


def _as_array(matrix: Any) -> np.ndarray:
    try:
        return as_numpy(matrix)
    except ValueError:
        raise InputError("the workload's rows differ in length; give each n numbers") from None
    except (RuntimeError, TypeError):
        raise InputError("the workload cannot be read as an array; detach it first") from None


def _checked_names(names: Sequence[str] | None, rows: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"q{i + 1}" for i in range(rows))
    given = tuple(str(name) for name in names)
    if len(given) != rows:
        raise InputError(f"names has {len(given)} entries for {rows} queries; give one each")
    if len(set(given)) != rows:
        twice = next(name for name in given if given.count(name) > 1)
        raise InputError(f"names must differ, but {twice!r} is there twice")
    return given


def _joined_names(left: Workload, right: Workload) -> tuple[str, ...] | None:
    """Both sides' names, or fresh ones where they would collide (q1, q2, … on both sides)."""
    names = left.names + right.names
    return names if len(set(names)) == len(names) else None


def _merge(matrix: Matrix, cells: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """Keep one of each set of identical columns and no zero column; `cells` follows.

    Columns are told apart by a 128-bit BLAKE2 digest of their bytes, where a collision is out
    of reach. np.unique(axis=1) sorts whole columns: 0.6 s at 256 x 8192, this 0.03 s.
    """
    kept: list[int] = []
    first: dict[bytes | None, int] = {None: UNUSED}
    classes = np.empty(matrix.shape[1] + 1, dtype=np.int64)
    classes[UNUSED] = UNUSED
    for column, key in enumerate(_column_keys(matrix)):
        if key not in first:
            first[key] = len(kept)
            kept.append(column)
        classes[column] = first[key]
    if len(kept) == matrix.shape[1]:
        return matrix, cells
    return _columns(matrix, np.array(kept, dtype=np.int64)), classes[cells]


def _column_keys(matrix: Matrix) -> Iterator[bytes | None]:
    """A digest of each column's content; None for a zero column."""
    if sparse.issparse(matrix):
        yield from _sparse_column_keys(matrix.tocsc())
        return
    width = max(1, 2**20 // matrix.shape[0])
    for start in range(0, matrix.shape[1], width):
        block = np.ascontiguousarray(matrix[:, start : start + width].T) + 0.0  # -0.0 is 0.0
        for column in block:
            yield blake2b(column, digest_size=16).digest() if column.any() else None


def _sparse_column_keys(matrix: sparse.csc_array) -> Iterator[bytes | None]:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        content = matrix.indices[start:end].tobytes() + matrix.data[start:end].tobytes()
        yield blake2b(content, digest_size=16).digest() if content else None


def _columns(matrix: Matrix, index: np.ndarray) -> Matrix:
    """Columns by class; the class of unused cells is a zero column."""
    used = index >= 0
    if sparse.issparse(matrix):
        entries = np.ones(used.sum()), (index[used], np.flatnonzero(used))
        return sparse.csr_array(
            matrix @ sparse.csr_array(entries, shape=(matrix.shape[1], len(index)))
        )
    chosen = np.zeros((matrix.shape[0], len(index)))
    chosen[:, used] = matrix[:, index[used]]
    return chosen


def _lighter(matrix: Matrix) -> Matrix:
    """A small or well-filled sparse matrix as a dense one, which everything handles faster."""
    if not sparse.issparse(matrix):
        return matrix
    size = matrix.shape[0] * matrix.shape[1]
    return matrix.toarray() if size <= 2**20 or matrix.nnz > size / 4 else matrix
