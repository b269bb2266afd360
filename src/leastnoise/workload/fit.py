"""How far B·L is from W, query by query: the one check that a strategy answers what was asked."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from leastnoise.workload.matrices import Matrix, by_column, dense
from leastnoise.workload.workload import Workload

REBUILT = 1e-9
"""A query counts as rebuilt when it is off by at most this fraction of its largest entry."""

RECOGNISABLE = 0.5
"""Off by more than this fraction, with the bias told or not, a query is another one."""

_BLOCK = 2**20  # entries compared together


class Measured(Protocol):
    """A block of a strategy: L is measured on the classes of `cells`, B rebuilds."""

    @property
    def cells(self) -> np.ndarray: ...
    @property
    def L(self) -> Matrix: ...
    @property
    def B(self) -> Matrix: ...


def misfit(workload: Workload, blocks: Sequence[Measured]) -> np.ndarray:
    """maxⱼ |W − BL|ᵢⱼ for each query i, over the classes of the workload, some at a time."""
    queries, classes = workload.matrix.shape
    _, example = np.unique(workload.cells, return_index=True)
    example = example[-classes:]  # a cell of each class; unused cells sort first
    columns = [(block.B, by_column(block.L), block.cells[example]) for block in blocks]
    matrix, worst = by_column(workload.matrix), np.zeros(queries)
    width = max(1, _BLOCK // queries)
    for start in range(0, classes, width):
        part = slice(start, start + width)
        rebuilt = sum(dense(B @ _taken(L, where[part])) for B, L, where in columns)
        off = np.abs(dense(matrix[:, part]) - rebuilt)
        np.maximum(worst, off.max(axis=1), out=worst)
    return worst


def _taken(columns: Any, where: np.ndarray) -> Any:
    """One column for each class; zero where the block does not measure it, class -1."""
    return columns[:, where] * (where >= 0)
