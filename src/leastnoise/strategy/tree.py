"""Trees of sums: every node of a tree over the classes, in their order, measured alike.

A tree of branching factor b has the classes as leaves; each node sums up to b nodes below it, and
the last one of a level fewer where b does not divide. Its least-squares reconstruction is
*consistency*: going up, a node's estimate becomes the average of its own measurement and its
children's sum, weighted by their variances; going down, what a parent knows better is shared out
among its children (Hay, Rastogi, Miklau & Suciu, *Boosting the accuracy of differentially private
histograms through consistency*, PVLDB 2010). Here that linear map is applied from the other side,
to queries instead of measurements, in O(m·r); nothing of size n × n is made.

Where none is given, the branching factor of least error is taken, and the root is left out where
that is better (Qardaji, Yang & Li, *Understanding hierarchical methods for differentially private
histograms*, PVLDB 2013).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from leastnoise.errors import InputError
from leastnoise.memory import require
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.goal import Goal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part
from leastnoise.workload.matrices import dense, row_squares

_SMALL = range(2, 17)
_LARGEST = 2**31  # beyond it nodes could not be numbered; every tree is flat long before
_JUDGED = 5_000_000  # entries of W by which trees are compared: two seconds for all of them


class Tree(NamedTuple):
    """Nodes of each level, leaves first; a level's node is the parent of `branching` below it."""

    sizes: tuple[int, ...]
    branching: int

    @property
    def nodes(self) -> int:
        return sum(self.sizes)


def hierarchical(
    problem: Problem,
    search: Search,
    *,
    noise: str,
    branching: int | None = None,
    root: bool | None = None,
) -> Draft:
    """The best tree, or the one with this `branching`, with or without its `root`."""
    _check(branching, root)
    workload = problem.workload
    queries, classes = workload.matrix.shape
    trees = list(_trees(classes, branching, root))
    needed = 8 * 4 * queries * max(tree.nodes for tree in trees)
    require(needed, f"a tree over {classes} classes for {queries} queries", "ask fewer queries")
    queries_by_row = dense(workload.matrix)
    best = _best(trees, queries_by_row, problem.goal, noise)
    part = Part(
        workload.cells,
        node_sums(best, classes),
        None,
        workload.matrix,
        is_exact=True,
        known=reconstruction(best, queries_by_row),
    )
    with_root = "with its root" if best.sizes[-1] == 1 else "without its root"
    return Draft("hierarchical", (part,), note=f"branching {best.branching}, {with_root}")


def _trees(classes: int, branching: int | None, root: bool | None) -> Iterator[Tree]:
    """Small branching factors, and for each depth the least that reaches it; or the one given."""
    depths = range(1, classes.bit_length() + 1)
    least = {_least_branching(classes, depth) for depth in depths}
    small = {min(b, max(2, classes)) for b in _SMALL}
    for b in sorted(least | small) if branching is None else [min(int(branching), _LARGEST)]:
        sizes = _levels(classes, b)
        if root is not False or len(sizes) == 1:
            yield Tree(sizes, b)
        if not root and len(sizes) > 1:
            yield Tree(sizes[:-1], b)


def tree_of_depth(classes: int, depth: int) -> Tree:
    """The tree with so many levels above the leaves, its root among them, of least branching."""
    b = _least_branching(classes, depth)
    return Tree(_levels(classes, b), b)


def _levels(classes: int, branching: int) -> tuple[int, ...]:
    """How many nodes each level has, leaves first, root last."""
    sizes = [classes]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // branching))
    return tuple(sizes)


def _least_branching(classes: int, depth: int) -> int:
    """The least b ≥ 2 with b^depth ≥ classes."""
    b = max(2, round(classes ** (1 / depth)))
    while b > 2 and (b - 1) ** depth >= classes:
        b -= 1
    return b if b**depth >= classes else b + 1


def _check(branching: Any, root: Any) -> None:
    is_whole = isinstance(branching, int | np.integer) and not isinstance(branching, bool)
    if branching is not None and not (is_whole and branching >= 2):
        raise InputError(f"branching must be a whole number of at least 2, not {branching!r}")
    if root is not None and not isinstance(root, bool):
        raise InputError(f"root must be True or False, not {root!r}")


def _best(trees: Sequence[Tree], queries: np.ndarray, goal: Goal, noise: str) -> Tree:
    """The tree of least error for these queries; judged by evenly spaced ones if they are many."""
    if len(trees) == 1:
        return trees[0]
    step = -(-queries.size // _JUDGED)
    judged = Goal(goal.objective, goal.weights[::step])

    def error(tree: Tree) -> float:
        levels = len(tree.sizes)  # Δ₁, and Δ₂² too
        squares = row_squares(reconstruction(tree, queries[::step]))
        return judged.of(squares) * (levels**2 if noise == "laplace" else levels)

    return min(trees, key=error)


def node_sums(tree: Tree, classes: int) -> sparse.csr_array:
    """L: a row of ones for each node, leaves first."""
    leaves = np.arange(classes)
    starts = np.concatenate([[0], np.cumsum(tree.sizes)])
    rows = [
        start + leaves // tree.branching**level
        for level, start in enumerate(starts[: len(tree.sizes)])
    ]
    columns = np.tile(leaves, len(rows))
    ones = np.ones(len(columns))
    return sparse.csr_array((ones, (np.concatenate(rows), columns)), (tree.nodes, classes))


def reconstruction(tree: Tree, queries: np.ndarray) -> np.ndarray:
    """B = W·L⁺, by the adjoint of consistency.

    With v a node's variance from its own subtree and S the sum of its children's (v = 1 at a leaf),
    α = S/(1 + S) and v = α. Upwards a parent's demand is the average of its children's, weighted by
    v, and each child keeps what is its own; downwards a node takes α of what is asked of it
    and leaves the rest to its children.
    """
    starts = [np.arange(0, size, tree.branching) for size in tree.sizes[:-1]]
    variances, sums = [np.ones(tree.sizes[0])], []
    for start in starts:
        sums.append(np.add.reduceat(variances[-1], start))
        variances.append(sums[-1] / (1 + sums[-1]))
    demand, kept = queries, []
    for start, variance, total in zip(starts, variances, sums, strict=False):
        parent = np.add.reduceat(demand * variance, start, axis=1) / total
        kept.append(demand - _to_children(parent, tree.branching, demand.shape[1]))
        demand = parent
    kept.append(demand)
    asked, taken = kept.pop(), []
    for below, total in zip(reversed(kept), reversed(sums), strict=True):
        alpha = total / (1 + total)
        taken.append(alpha * asked)
        asked = below + _to_children(asked - taken[-1], tree.branching, below.shape[1])
    return np.hstack([asked, *reversed(taken)])


def _to_children(values: np.ndarray, branching: int, count: int) -> np.ndarray:
    """Each node's value, repeated for its children."""
    return np.repeat(values, min(branching, count), axis=1)[:, :count]
