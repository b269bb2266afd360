"""Tables of numbers as CSV text, with or without a header line, with or without names.

A first line without numbers is a header, and so is one that starts with nothing or with "question",
"query" or "name" (so that cells may be called 0, 1, 2). Such a start says that the first column
holds names; otherwise it does if it holds no number. A header has a heading for every column.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from leastnoise.errors import FileError

Number: TypeAlias = int | float
Line: TypeAlias = tuple[int, list[str]]  # its number in the file, and its cells

_CORNERS = ("", "question", "query", "name")


@dataclass(frozen=True)
class Table:
    """Numbers by line, the lines' numbers in the file, and their names if they have any."""

    path: Path
    names: list[str] | None
    lines: list[int]
    rows: list[list[Number]]

    def equally_long(self) -> list[list[Number]]:
        """The rows, refused where one is longer or shorter than the first."""
        for line, row in zip(self.lines, self.rows, strict=True):
            if len(row) != len(self.rows[0]):
                raise FileError(
                    f"{self.path} line {line} has {len(row)} numbers, "
                    f"line {self.lines[0]} has {len(self.rows[0])}; give each the same"
                )
        return self.rows

    def one_per_line(self, what: str) -> list[Number]:
        """A single row, or the only number of each line."""
        if len(self.rows) == 1:
            return self.rows[0]
        for line, row in zip(self.lines, self.rows, strict=True):
            if len(row) != 1:
                raise FileError(f"{self.path} line {line} has several {what}; write one per line")
        return [row[0] for row in self.rows]


def read_csv(path: Path) -> Table:
    """The table in a file that exists."""
    lines = _read_lines(path)
    header = lines.pop(0) if lines and _is_header(lines[0][1]) else None
    if not lines:
        raise FileError(f"{path} holds no numbers; write one row per line")
    if header:
        _require_headings(path, header, lines[0])
    has_names = _starts_names(header) or not any(_is_number(cells[0]) for _, cells in lines)
    rows = [_numbers(path, line, cells[has_names:]) for line, cells in lines]
    names = [cells[0] for _, cells in lines] if has_names else None
    return Table(path, names, [line for line, _ in lines], rows)


def _read_lines(path: Path) -> list[Line]:
    """Lines with at least one cell that is not blank; a byte order mark is skipped."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except (UnicodeDecodeError, csv.Error):
        raise FileError(f"{path} is no CSV text; save it as UTF-8 with commas") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    return [line for line in lines if any(line[1])]


def _is_header(cells: list[str]) -> bool:
    return cells[0].lower() in _CORNERS or not any(_is_number(cell) for cell in cells)


def _starts_names(header: Line | None) -> bool:
    return header is not None and header[1][0].lower() in _CORNERS


def _require_headings(path: Path, header: Line, first: Line) -> None:
    """A column without a heading may hold names that look like numbers, taken for a cell."""
    if len(header[1]) != len(first[1]):
        raise FileError(
            f"{path} line {header[0]} has {len(header[1])} headings, line {first[0]} has "
            f"{len(first[1])} columns; give each column one"
        )


def _numbers(path: Path, line: int, cells: list[str]) -> list[Number]:
    if not cells:
        raise FileError(f"{path} line {line} has a name but no number; separate cells with commas")
    try:
        return [_number(cell) for cell in cells]
    except ValueError:
        raise FileError(f"{path} line {line} has a cell that is no number; correct it") from None


def _number(text: str) -> Number:
    """Integers stay exact while they fit into 64 bits; 2019_20 is a name, though Python's int."""
    if "_" in text:
        raise ValueError
    try:
        whole = int(text)
    except ValueError:
        return float(text)
    return whole if abs(whole) < 2**63 else float(text)


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except ValueError:
        return False
    return True
