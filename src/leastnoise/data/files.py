"""Matrices and counts from .npy, .npz and .csv files.

A CSV may start with a header line, and each line with a name; both are told from numbers by not
being numbers. Messages about counts never quote them.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.errors import FileError
from leastnoise.workload.workload import Workload

_KINDS = (".npy", ".npz", ".csv")


def read_workload(path: Path) -> Workload:
    """The queries in a file: one row each, one column per cell."""
    if path.suffix == ".csv":
        names, rows = _read_csv(path, float)
        return Workload(rows, names)
    return Workload(_read_array(path, "workload"))


def read_counts(path: Path) -> Any:
    """The counts in a file, one per cell: a line of a CSV each, or all on one line."""
    if path.suffix == ".csv":
        _, rows = _read_csv(path, _count)
        return (
            rows[0] if len(rows) == 1 else [count for row in rows for count in _single(row, path)]
        )
    counts = _read_array(path, "counts")
    return np.asarray(counts)


def read_vector(path: Path) -> Any:
    """Numbers, one per query, from a file."""
    if path.suffix == ".csv":
        _, rows = _read_csv(path, float)
        return np.ravel(rows)
    return np.asarray(_read_array(path, "numbers"))


def _count(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _single(row: list[Any], path: Path) -> Any:
    if len(row) != 1:
        raise FileError(f"{path} has several counts on a line; write one count per line")
    return row[0]


def _read_array(path: Path, what: str) -> Any:
    """An .npy array, the only array of an .npz, or a scipy sparse matrix; never a pickle."""
    if path.suffix not in _KINDS:
        raise FileError(f"{path} has an unknown ending; give one of {', '.join(_KINDS)}")
    try:
        content = np.load(_existing(path), allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        with content:
            if "format" in content.files and "data" in content.files:
                return sparse.load_npz(path)
            if len(content.files) != 1:
                raise FileError(
                    f"{path} holds {len(content.files)} arrays; save one array of {what}"
                )
            return content[content.files[0]]
    except FileError:
        raise
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise FileError(f"{path} is no readable {path.suffix} file; save it with numpy") from error


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise FileError(f"{path} does not exist, or is no file; check the name")
    return path


def _read_csv(path: Path, number: Callable[[str], Any]) -> tuple[list[str] | None, list[list[Any]]]:
    """Names, if the lines have any, and rows of numbers."""
    try:
        with _existing(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} is no CSV text; save it as UTF-8") from error
    if lines and not any(_is_number(cell) for cell in lines[0][1]):
        lines = lines[1:]  # a header
    if not lines:
        raise FileError(f"{path} holds no numbers; write one row per line")
    has_names = not any(_is_number(row[0]) for _, row in lines)
    rows = [_numbers(row[has_names:], number, path, line) for line, row in lines]
    return [row[0] for _, row in lines] if has_names else None, rows


def _numbers(row: list[str], number: Callable[[str], Any], path: Path, line: int) -> list[Any]:
    try:
        return [number(cell) for cell in row]
    except ValueError:
        raise FileError(f"{path} line {line} has a cell that is no number; correct it") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
