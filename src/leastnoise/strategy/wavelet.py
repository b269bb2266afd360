"""Haar wavelets: the total, and for every node of a binary tree the difference of its halves.

Privlet (Xiao, Wang & Gehrke, *Differential privacy via wavelet transforms*, ICDE 2010) measures
coefficient c with noise of scale proportional to 1/w(c), w the size of the node below it.
Multiplied by w that is a matrix H of entries −1, 0 and 1 under equal noise, with at most ⌈log₂n⌉ +
1 of them in a column. Where n is no power of two Privlet adds cells that hold nobody; here halves
may differ by one cell instead, so that H stays square and nothing is measured for nobody.

A node's sum and the difference of its halves give the halves' sums, (S ± d)/2, and so on down: a
cell l levels below a node takes ±2⁻ˡ of the node's difference, and as much of the total. That is
H⁻¹.
"""

import numpy as np
import scipy.sparse as sparse

from leastnoise.memory import require
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part
from leastnoise.workload.matrices import by_row


def wavelet(problem: Problem, search: Search) -> Draft:
    """H over the classes in their order, B = W·H⁻¹."""
    workload = problem.workload
    queries, classes = workload.matrix.shape
    require(
        8 * 3 * queries * classes,
        f"wavelets over {classes} classes for {queries} queries",
        "ask fewer queries",
    )
    matrix, inverse = haar(classes)
    rebuilt = by_row(sparse.csr_array(workload.matrix) @ inverse)
    part = Part(workload.cells, matrix, None, workload.matrix, is_exact=True, known=rebuilt)
    return Draft("wavelet", (part,))


def haar(classes: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """H, coarsest row first, and H⁻¹."""
    starts, sizes = np.zeros(1, dtype=np.int64), np.array([classes])
    cells = np.arange(classes)
    rows, columns, signs, levels = [np.zeros_like(cells)], [cells], [np.ones(classes)], [cells * 0]
    first, level = 1, 0
    depth = np.zeros(classes, dtype=np.int64)
    while (sizes > 1).any():
        is_split = sizes > 1
        index, inside = _inside(starts[is_split], sizes[is_split])
        left = (sizes[is_split] + 1) // 2
        position = inside - starts[is_split][index]
        rows.append(first + index)
        columns.append(inside)
        signs.append(np.where(position < left[index], 1.0, -1.0))
        levels.append(np.full(len(inside), level))
        depth[inside] += 1
        first, level = first + len(left), level + 1
        starts = np.column_stack([starts[is_split], starts[is_split] + left]).ravel()
        sizes = np.column_stack([left, sizes[is_split] - left]).ravel()
    below = depth[np.concatenate(columns)] - np.concatenate(levels)
    where, signed = (np.concatenate(rows), np.concatenate(columns)), np.concatenate(signs)
    matrix = sparse.csr_array((signed, where), (classes, classes))
    inverse = sparse.csr_array((signed * 2.0**-below, where[::-1]), (classes, classes))
    return matrix, inverse


def _inside(starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells of each node, one node after the other, and which node each is in."""
    index = np.repeat(np.arange(len(sizes)), sizes)
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return index, starts[index] + offsets
