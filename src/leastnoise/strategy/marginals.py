"""Weighted marginals: tables over some attributes each, and how much weight each of them gets.

Over a table of attributes a the strategy is θ_S times the marginal over S, for every set S of
attributes. All of LᵀL = Σ θ_S²·(I on S, ones elsewhere) have the same eigenspaces: functions that
vary along exactly the attributes T and sum to 0 along each of those. With c_T = ‖W·P_T‖² the
energy of the queries there,

    λ_T = Σ_{S⊇T} θ_S²·Π_{a∉S} n_a        ‖W·L⁺‖²_F = Σ_T c_T/λ_T        Δ₁ = Σ_S θ_S

so a choice of 2ᵃ weights is priced in microseconds, and the best of hundreds of random starts is
kept. (Eigenspaces: McKenna, Miklau, Hay & Machanavajjhala, PVLDB 2018, section 7.)
"""

from collections.abc import Iterator
from math import prod

import numpy as np
import scipy.sparse as sparse

from leastnoise.strategy.ascent import Search
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part
from leastnoise.workload.domain import Table
from leastnoise.workload.workload import Workload

_WORK = 2_000_000  # of starts × weights²
_FEWEST_STARTS, _MOST_STARTS = 10, 500
_GRAIN = 4096  # weights are whole multiples of the sum of weights over this
_NOTHING = 1e-12  # of the energy of all queries


def marginals(problem: Problem, search: Search) -> Draft:
    """The best weights found; where the cells form no table, those of every class and of all."""
    table = problem.table
    weighted = problem.goal.row_factors[:, None] * table.rows
    weights = whole(Weights(table.sizes, energies(weighted, table.sizes)).best(search))
    part = _part(problem.workload, table, weights)
    return Draft("marginals", (part,), note=_note(table.sizes, weights))


class Weights:
    """The error of weights θ, one for each set of attributes, a set being the bits of its index."""

    def __init__(self, sizes: tuple[int, ...], energy: np.ndarray) -> None:
        index = np.arange(2 ** len(sizes))
        copies = np.array([_copies(sizes, one) for one in index], dtype=float)
        holds = (index[None, :] & index[:, None]) == index[:, None]
        is_asked = energy > _NOTHING * energy.sum()
        self.asked = energy[is_asked]
        self.spread = (holds * copies)[is_asked]

    def loss(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """log of (Σθ)²·Σ c_T/λ_T, and its gradient."""
        values, total = self.spread @ weights**2, weights.sum()
        shares = self.asked / values
        error = shares.sum()
        slope = 2 / total - 2 * weights * (self.spread.T @ (shares / values)) / error
        return float(np.log(total**2 * error)), slope

    def best(self, search: Search) -> np.ndarray:
        """L-BFGS-B from random weights, every other start with most of them near 0."""
        from scipy.optimize import minimize

        count = self.spread.shape[1]
        starts = int(np.clip(_WORK / count**2, _FEWEST_STARTS, _MOST_STARTS))
        random, ends = np.random.default_rng(search.seed), []
        for start in range(starts):
            weights = random.random(count) ** 3
            if start % 2:
                weights *= random.random(count) < 0.3
            ends.append(
                minimize(
                    self.loss, weights + 1e-3, jac=True, method="L-BFGS-B",
                    bounds=[(1e-9, None)] * count, options={"maxiter": 300},
                )
            )  # fmt: skip
        return np.asarray(min(ends, key=lambda end: float(end.fun)).x)


def energies(rows: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """c_T = ‖rows·P_T‖² for every set T, splitting means from deviations attribute by attribute."""
    found = np.empty(2 ** len(sizes))
    for index, part in _split(rows.reshape(len(rows), *sizes), sizes, 0, 0):
        found[index] = np.square(part).sum() * _copies(sizes, index)
    return found


def _split(
    table: np.ndarray, sizes: tuple[int, ...], axis: int, index: int
) -> Iterator[tuple[int, np.ndarray]]:
    """The part of a table in each eigenspace; along attributes not in T it is held once."""
    if axis == len(sizes):
        yield index, table
        return
    mean = table.mean(axis=axis + 1, keepdims=True)
    yield from _split(mean, sizes, axis + 1, index)
    yield from _split(table - mean, sizes, axis + 1, index | 1 << axis)


def whole(weights: np.ndarray) -> np.ndarray:
    """Whole numbers in proportion; a weight below half a grain is dropped."""
    return np.rint(_GRAIN * weights / weights.sum())


def _part(workload: Workload, table: Table, weights: np.ndarray) -> Part:
    """L over the classes, each measured as its first cell would be, and B by the eigenspaces.

    Where B·L = W for all cells it holds for some; a row that sees none of them is not measured.
    """
    L = _tables(table.sizes, weights)
    measured, seen = table.over_classes(L)
    known = _reconstruction(table.rows, table.sizes, weights, L)[:, seen]
    return Part(workload.cells, measured, None, workload.matrix, is_exact=True, known=known)


def _tables(sizes: tuple[int, ...], weights: np.ndarray) -> sparse.csr_array:
    """θ_S times the indicator of each cell of each marginal that has a weight."""
    values = np.indices(sizes).reshape(len(sizes), -1)
    cells = values.shape[1]
    blocks = []
    for index in np.flatnonzero(weights).tolist():
        inside = [axis for axis in range(len(sizes)) if index >> axis & 1]
        shape = tuple(sizes[axis] for axis in inside)
        rows = (
            np.ravel_multi_index(tuple(values[inside]), shape) if inside else np.zeros(cells, int)
        )
        where = rows, np.arange(cells)
        entries = np.full(cells, weights[index])
        blocks.append(sparse.csr_array((entries, where), (prod(shape), cells)))
    return sparse.csr_array(sparse.vstack(blocks))


def _reconstruction(
    rows: np.ndarray, sizes: tuple[int, ...], weights: np.ndarray, L: sparse.csr_array
) -> np.ndarray:
    """B = W·(LᵀL)⁺·Lᵀ, the inverse one eigenspace at a time."""
    squares, solved = weights**2, np.zeros((len(rows), *sizes))
    for index, part in _split(rows.reshape(len(rows), *sizes), sizes, 0, 0):
        held = [one for one in range(len(weights)) if one & index == index]
        value = sum(squares[one] * _copies(sizes, one) for one in held)
        if value:
            solved += part / value
    return np.asarray((L @ solved.reshape(len(rows), -1).T).T)


def _copies(sizes: tuple[int, ...], index: int) -> int:
    """Π n_a over the attributes that are not in the set."""
    return prod(size for axis, size in enumerate(sizes) if not index >> axis & 1)


def _note(sizes: tuple[int, ...], weights: np.ndarray) -> str:
    shape = " x ".join(map(str, sizes))
    count = int(np.count_nonzero(weights))
    return f"{count} weighted marginal{'s' * (count > 1)} of a {shape} table"
