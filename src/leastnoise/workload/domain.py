"""The table behind a matrix of queries: attributes, if every query is a product over them.

Cells in C order are a table of sizes (a, n/a) for the queries if each row, written as an a × n/a
matrix, has rank one. The finest chain of such cuts gives the attributes; neighbours that no query
tells apart, because each row varies along both or along neither, are one attribute.
"""

from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from leastnoise.memory import require
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

_MOST_ATTRIBUTES = 10
_MOST_TO_ONE = 4  # cells a class; with more, other starts over the few classes do better
_SAME = 1e-12  # of the largest entry of a row


class Table(NamedTuple):
    """Queries over the cells of a table, its attributes, and one of its cells for each class."""

    rows: np.ndarray
    sizes: tuple[int, ...]
    example: np.ndarray

    def over_classes(self, L: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
        """L with each class measured as its first cell would be, and the rows that see any."""
        measured = sparse.csr_array(L.tocsc()[:, self.example])
        seen = np.flatnonzero(np.diff(measured.indptr))
        return measured[seen], seen


def table_of(workload: Workload) -> Table:
    """The table of a workload's cells; of its classes, as one attribute, where the cells form none
    worth having: too many attributes, or many more cells than the queries tell apart."""
    queries, cells = workload.shape
    needed = 8 * 6 * queries * min(cells, _MOST_TO_ONE * workload.classes)
    require(needed, f"a table of {cells} cells for {queries} queries", "ask fewer queries")
    if cells <= _MOST_TO_ONE * workload.classes:
        rows = workload.dense()
        sizes = attribute_sizes(rows)
        if len(sizes) <= _MOST_ATTRIBUTES:
            _, example = np.unique(workload.cells, return_index=True)
            return Table(rows, sizes, example[-workload.classes :])
    classes = workload.classes
    return Table(dense(workload.matrix), (classes,), np.arange(classes))


def attribute_sizes(rows: np.ndarray) -> tuple[int, ...]:
    """Sizes of the attributes, first varies slowest; (n,) where the cells form no table."""
    cells = rows.shape[1]
    chain = [1, *_finest_chain(cells, [a for a in _divisors(cells) if _is_cut(rows, a)]), cells]
    sizes = [later // earlier for earlier, later in pairwise(chain)]
    return _joined(rows, sizes)


def _divisors(cells: int) -> list[int]:
    return [a for a in range(2, cells // 2 + 1) if cells % a == 0]


def _is_cut(rows: np.ndarray, a: int) -> bool:
    """Whether each row X, a × n/a, has rank one: X = X[:, j]·X[i, :]/Xᵢⱼ, Xᵢⱼ its largest."""
    table = rows.reshape(len(rows), a, -1)
    index = np.arange(len(rows))
    i, j = np.divmod(np.abs(rows).argmax(axis=1), table.shape[2])
    largest = table[index, i, j]
    scaled = table[index, :, j] / np.where(largest == 0, 1, largest)[:, None]
    for row in range(len(rows)):  # one at a time: no second matrix is made
        product = np.outer(scaled[row], table[row, i[row]])
        if np.abs(table[row] - product).max() > _SAME * abs(largest[row]):
            return False
    return True


def _finest_chain(cells: int, cuts: list[int]) -> list[int]:
    """The longest chain of cuts in which each divides the next."""
    longest: dict[int, list[int]] = {1: []}
    for cut in [*cuts, cells]:
        before = [chain for end, chain in longest.items() if cut % end == 0]
        longest[cut] = [*max(before, key=len), cut]
    return longest[cells][:-1]


def _joined(rows: np.ndarray, sizes: list[int]) -> tuple[int, ...]:
    """Neighbouring attributes along which the same rows vary, as one."""
    varies = [_varies(rows, sizes, axis) for axis in range(len(sizes))]
    joined = [sizes[0]]
    for axis in range(1, len(sizes)):
        if np.array_equal(varies[axis - 1], varies[axis]):
            joined[-1] *= sizes[axis]
        else:
            joined.append(sizes[axis])
    return tuple(joined)


def _varies(rows: np.ndarray, sizes: list[int], axis: int) -> np.ndarray:
    """Which rows are not constant along an attribute."""
    shape = (len(rows), prod(sizes[:axis]), sizes[axis], prod(sizes[axis + 1 :]))
    table = rows.reshape(shape)
    spread = np.abs(table - table[:, :, :1]).max(axis=(1, 2, 3))
    return np.asarray(spread > _SAME * np.abs(rows).max(axis=1))
