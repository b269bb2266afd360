"""Where the search for a Laplace strategy starts: Θ as (P, N), Θ = P − N, shape (2, p, n).

Where N = 0 it is left out: shape (1, p, n).

A strategy L of Δ₁ = 1 becomes Θ = t·L: the larger t, the less the classes are measured by
themselves. Rows of L that see one class only are left out, for the identity does their work.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from leastnoise.strategy.objective import Objective
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft
from leastnoise.strategy.tree import node_sums, tree_of_depth
from leastnoise.workload.matrices import Matrix, dense

LARGEST = 1e5  # of Θ: beyond it I + ΘΘᵀ loses its identity to rounding

_RANDOM_ROWS = (8, 16, 32)
_WORK_FOR_RANDOM = 5e6  # entries of p × s × n, summed over the random starts
_FEWEST_RANDOM, _MOST_RANDOM = 4, 16
_DEPTHS = (2, 3, 4)  # of trees
_SCALES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4)
_MOST_OPERATIONS = 1.5e9  # of one evaluation that is worth beginning


@dataclass(frozen=True)
class Start:
    """(P, N), and where it comes from."""

    label: str
    signs: np.ndarray


def starts(
    objective: Objective, problem: Problem, drafts: Sequence[Draft], random: np.random.Generator
) -> Iterator[Start]:
    """All of them, cheap ones first."""
    yield from _random_starts(objective, random)
    for label, rows in _proposals(problem, drafts):
        shared = np.flatnonzero(_sizes(rows) > 1)
        if shared.size and objective.operations(shared.size) <= _MOST_OPERATIONS:
            yield from _scaled(objective, label, dense(rows[shared]))


def random_start(p: int, columns: int, is_signed: bool, random: np.random.Generator) -> Start:
    """Uniform entries, of both signs if that is wished."""
    signs = random.random((1 + is_signed, p, columns))
    return Start(f"{p} random rows{', signed' if is_signed else ''}", signs)


def _random_starts(objective: Objective, random: np.random.Generator) -> Iterator[Start]:
    """Most of them of few rows; every other one signed."""
    rows, columns = objective.matrix.shape
    fewest = min(_RANDOM_ROWS[0], columns)
    count = _WORK_FOR_RANDOM / (fewest * rows * columns)
    for i in range(int(np.clip(count, _FEWEST_RANDOM, _MOST_RANDOM))):
        one = random_start(fewest, columns, bool(i % 2), random)
        yield Start(f"{one.label} ({i // 2 + 1})", one.signs)
    for p in _RANDOM_ROWS[1:]:
        if p < columns:
            yield random_start(p, columns, False, random)


def _proposals(problem: Problem, drafts: Sequence[Draft]) -> Iterator[tuple[str, Matrix]]:
    classes = problem.workload.classes
    for depth in _DEPTHS:
        tree = tree_of_depth(classes, depth)
        yield f"a tree of depth {depth}", node_sums(tree, classes)
    matrix = dense(problem.workload.matrix)
    if len(matrix) <= 2 * classes:
        yield "the queries", np.unique(matrix, axis=0)
        yield "complements", complements(matrix)
    for draft in drafts:
        if len(draft.parts) == 1:
            yield draft.mechanism, draft.parts[0].measured


def _sizes(rows: Matrix) -> np.ndarray:
    """How many classes each row sees; a square matrix of them is never made dense."""
    if sparse.issparse(rows):
        return np.diff(rows.indptr)
    return np.count_nonzero(rows, axis=1)


def complements(matrix: np.ndarray) -> np.ndarray:
    """The total, and each query less its commonest coefficient: many ones become few."""
    commonest = np.array([_commonest(row) for row in matrix])
    rest = np.unique(matrix - commonest[:, None], axis=0)
    sizes = np.abs(rest).max(axis=1)
    rest = rest[sizes > 0] / sizes[sizes > 0, None]
    return np.vstack([np.ones((1, matrix.shape[1])), rest])


def _commonest(row: np.ndarray) -> float:
    values, counts = np.unique(row, return_counts=True)
    return float(values[counts.argmax()])


def _scaled(objective: Objective, label: str, rows: np.ndarray) -> Iterator[Start]:
    """t·L at the t of least error: with its short columns stretched to Δ₁, and as they are."""
    L = rows / np.abs(rows).sum(axis=0).max()
    signs = np.stack([np.maximum(L, 0), np.maximum(-L, 0)])
    slack = 1 - np.abs(L).sum(axis=0)
    kinds = {label: signs[: 1 + bool(signs[1].any())]}
    if (slack > 1e-6).any():
        kinds[f"{label}, columns kept"] = signs + slack / (2 * len(L))
    for name, one in kinds.items():
        values = [objective.total(t * one)[0] for t in _SCALES]
        yield Start(name, _SCALES[int(np.argmin(values))] * one)
