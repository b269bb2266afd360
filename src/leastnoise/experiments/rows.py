"""Results as tidy tables: a row is one mechanism at one point, on one data set, for one promise."""

import csv
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import nan
from pathlib import Path
from typing import Any

from leastnoise.errors import FileError


@dataclass(frozen=True)
class Row:
    """`error` was seen, ± `error_std` by chance; `expected` was predicted; `lower_bound` is proven.

    `share` is WRelated's rank as a part of min(m, n), `ratio` the rows r of L as a multiple of
    `rank`. `seconds` are of the search alone, of one core; `peak_mib` is the most memory that its
    process has had so far. What does not apply is NaN or empty.
    """

    workload: str
    m: int
    n: int
    share: float
    rank: int
    mechanism: str
    gamma: float
    ratio: float
    runs: int
    seed: int
    note: str = ""
    dataset: str = ""
    epsilon: str = ""
    delta: str = ""
    noise: str = ""
    calibration: str = ""
    classes: int = 0
    r: int = 0
    error: float = nan
    error_std: float = nan
    expected: float = nan
    lower_bound: float = nan
    seconds: float = nan
    peak_mib: int = 0
    finished: str = ""
    machine: str = ""
    versions: str = ""


_KINDS = {field.name: field.type for field in fields(Row)}


def save_point(rows: Sequence[Row], path: Path) -> None:
    """One file for a point: whole, or not there."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps([asdict(row) for row in rows]), encoding="utf-8")
    unfinished.replace(path)


def load_point(path: Path) -> list[Row] | None:
    """The rows of a point; None where there are none, or the file is damaged."""
    try:
        return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return None


def save_table(rows: Sequence[Row], folder: Path, name: str) -> None:
    """`name`.csv and `name`.parquet."""
    import pyarrow as arrow
    from pyarrow import parquet

    columns = {name: [getattr(row, name) for row in rows] for name in _KINDS}
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(
            [_text(value) for value in line] for line in zip(*columns.values(), strict=True)
        )
    parquet.write_table(arrow.table(columns), folder / f"{name}.parquet")


def load_table(path: Path) -> list[Row]:
    """The rows of a table that `save_table` wrote as CSV."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [_row(line) for line in csv.DictReader(file)]
    except (OSError, ValueError, TypeError, KeyError):
        raise FileError(f"{path} holds no results; run the experiment again") from None


def _text(value: Any) -> str:
    """Seven digits of a float, which is more than any of them is worth; NaN is empty."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.7g}"
    return str(value)


def _row(line: dict[str, str]) -> Row:
    return Row(**{name: _parsed(line[name], kind) for name, kind in _KINDS.items()})


def _parsed(text: str, kind: Any) -> Any:
    if kind is float:
        return float(text or "nan")
    return kind(text)


def without_time(row: Row) -> Row:
    """What a seed decides of a row: the rest differs from run to run."""
    return replace(row, seconds=0.0, peak_mib=0, finished="", machine="", versions="")


def chosen(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Rows whose fields are as given."""
    return [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]
