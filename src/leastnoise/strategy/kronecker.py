"""Products: a strategy for each attribute of a table, and all their products measured.

With L = L₁ ⊗ … ⊗ L_k and queries wᵢ = wᵢ₁ ⊗ … ⊗ wᵢₖ over the attributes

    ‖wᵢ·L⁺‖² = Πₐ ‖wᵢₐ·Lₐ⁺‖²        Δ₁(L) = Πₐ Δ₁(Lₐ)        wᵢ·L⁺ = wᵢ₁·L₁⁺ ⊗ … ⊗ wᵢₖ·Lₖ⁺

so with all but one Lₐ fixed the error is that of Lₐ for the weighted queries wᵢₐ: attributes are
optimised in turn, each in the augmented form (McKenna, Miklau, Hay & Machanavajjhala, PVLDB 2018,
section 6). Each Lₐ is rounded to whole numbers of a few bits, whose products are whole too.
"""

from functools import reduce
from math import prod

import numpy as np
import scipy.linalg as linalg
import scipy.sparse as sparse

from leastnoise.memory import require
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.objective import Objective
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.quasinewton import Descent
from leastnoise.strategy.starts import LARGEST, random_start
from leastnoise.strategy.strategy import Draft, Part, measured_by_class
from leastnoise.workload.domain import Table

_ROUNDS = 3
_STEPS, _TOLERANCE = 300, 1e-6  # of a descent for one attribute
_ROWS = (2, 8, 16)  # of the random starts
_MOST_INVERTED = 1_000  # merged classes for which the best B is found by QR
_BITS = 24  # for all attributes together


def kronecker(problem: Problem, search: Search) -> Draft:
    """The product of the attributes' strategies; noise on data where the cells form no table."""
    table = problem.table
    if len(table.sizes) == 1:
        return Draft("kronecker", (measured_by_class(problem.workload),), note="no table")
    factors = _factors(table)
    chosen = _chosen(factors, problem.goal.row_factors**2, search)
    rows = prod(len(one) for one in chosen)
    queries = len(table.rows)
    needed = 8 * 3 * queries * rows
    require(needed, f"{rows} products for {queries} queries", "ask fewer queries")
    B = [one @ linalg.pinv(L) for one, L in zip(factors, chosen, strict=True)]
    measured, seen = table.over_classes(reduce(_products, map(sparse.csr_array, chosen)))
    workload, known = problem.workload, None
    if workload.classes == table.rows.shape[1] or workload.classes > _MOST_INVERTED:
        known = reduce(_row_products, B)[:, seen]
    part = Part(workload.cells, measured, None, workload.matrix, is_exact=True, known=known)
    shape = " x ".join(f"{len(L)} for {L.shape[1]}" for L in chosen)
    return Draft("kronecker", (part,), note=f"sums by attribute: {shape}")


def _factors(table: Table) -> list[np.ndarray]:
    """wᵢₐ for each attribute a: through the largest entry of each row, which one of them keeps."""
    queries = np.arange(len(table.rows))
    cells = np.abs(table.rows).argmax(axis=1)
    largest = table.rows[queries, cells]
    scale = np.where(largest == 0, 1, largest)[:, None]
    where = np.array(np.unravel_index(cells, table.sizes))
    tensor = table.rows.reshape(len(table.rows), *table.sizes)
    factors = []
    for axis in range(len(table.sizes)):
        index = [position[:, None] for position in where]
        index[axis] = np.arange(table.sizes[axis])[None, :]
        through = tensor[(queries[:, None], *index)]
        factors.append(through if axis == 0 else through / scale)
    return factors


def _chosen(factors: list[np.ndarray], weights: np.ndarray, search: Search) -> list[np.ndarray]:
    """Whole-number Lₐ for each attribute, improved in turn."""
    random = np.random.default_rng(search.seed)
    errors = np.array([np.square(one).sum(axis=1) for one in factors])
    found: list[np.ndarray | None] = [None] * len(factors)
    for _ in range(_ROUNDS):
        for axis, one in enumerate(factors):
            others = weights * np.delete(errors, axis, axis=0).prod(axis=0)
            signs = _best(one, others, found[axis], random)
            found[axis] = signs
            errors[axis] = np.square(one @ linalg.pinv(_strategy(signs))).sum(axis=1)
    bits = _BITS // len(factors)
    return [_whole(signs, bits) for signs in found if signs is not None]


def _best(
    queries: np.ndarray, weights: np.ndarray, known: np.ndarray | None, random: np.random.Generator
) -> np.ndarray:
    """(P, N) of least weighted error for one attribute, from random starts and the last one."""
    columns = queries.shape[1]
    rows = np.sqrt(weights)[:, None] * queries
    objective = Objective(linalg.qr(rows, mode="r")[0][:columns] if len(rows) > columns else rows)
    starts = [random_start(p, columns, False, random).signs for p in _ROWS if p < columns]
    starts += [np.zeros((1, 1, columns))] if known is None else [known]
    descents = [_descended(objective, signs) for signs in starts]
    best = min(range(len(starts)), key=lambda i: descents[i].value)
    return descents[best].x.reshape(starts[best].shape)


def _descended(objective: Objective, signs: np.ndarray) -> Descent:
    def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective.total(flat.reshape(signs.shape))
        return value, gradient.ravel()

    descent = Descent(evaluate, signs.ravel(), LARGEST)
    descent.run(_TOLERANCE, _STEPS)
    return descent


def _strategy(signs: np.ndarray) -> np.ndarray:
    """[I; Θ]·diag(1/d) without rows of zeros."""
    theta = signs[0]
    theta = theta[theta.any(axis=1)]
    return np.vstack([np.eye(theta.shape[1]), theta]) / (1 + theta.sum(axis=0))


def _whole(signs: np.ndarray, bits: int) -> np.ndarray:
    """The strategy in whole numbers; no class loses its own entry."""
    strategy = _strategy(signs)
    columns = strategy.shape[1]
    whole = np.rint(2.0**bits * strategy / np.abs(strategy).max())
    np.fill_diagonal(whole[:columns], np.maximum(whole.diagonal(), 1))
    return whole[whole.any(axis=1)]


def _products(left: sparse.csr_array, right: sparse.csr_array) -> sparse.csr_array:
    """The Kronecker product, sparse."""
    return sparse.csr_array(sparse.kron(left, right))


def _row_products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Row by row the Kronecker product."""
    return np.asarray(np.einsum("ij,ik->ijk", left, right).reshape(len(left), -1))
