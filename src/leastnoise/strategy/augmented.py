"""Strategies for Laplace noise: every class by itself, and p queries more.

    L = [I; Θ]·diag(1/d),  d ≥ 1 + Σᵢ|Θᵢⱼ|      so Δ₁ ≤ 1, and W is answered exactly whatever Θ is
    ‖W·L⁺‖²_F = ‖N‖²_F − tr(N·Θᵀ·(I + ΘΘᵀ)⁻¹·Θ·Nᵀ),  N = W·diag(d)

Θ = 0 is noise on data; a large Θ leaves the classes next to no weight. Θ = P − N with P, N ≥ 0, and
d = 1 + Σᵢ(Pᵢⱼ + Nᵢⱼ), so that a column may stay below 1 where that helps: the best strategy for the
paper's second example has a column of 3/4. The problem is not convex,
so the search starts at several random Θ, some of them signed, and doubles p while that pays. Value
and gradient cost O(p·s·n), never n × n.

The parametrisation is that of McKenna, Miklau, Hay & Machanavajjhala, *Optimizing error of
high-dimensional statistical queries under differential privacy* (PVLDB 2018), with signs, on
merged classes and rotated rows.
"""

from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from array_api_compat import array_namespace, device

from leastnoise.memory import require
from leastnoise.strategy.ascent import Progress, Search
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part
from leastnoise.workload.arrays import as_numpy, like
from leastnoise.workload.matrices import dense, scale_rows

_FIRST_ROWS = 8
_WORK_FOR_STARTS = 5e6  # entries of p × s × n, summed over the starts
_FEWEST_STARTS, _MOST_STARTS = 4, 32
_LARGEST = 1e5  # of Θ: beyond it I + ΘΘᵀ loses its identity to rounding
_STRETCH = 10  # of a Θ that wants to grow: 38.04 becomes 38.001 on the paper's second example
_WORTH_DOUBLING = 0.02  # the gain of the last doubling of p that makes another worth its time
_ROUGH, _FINE = 1e-4, 1e-8  # relative decrease at which a descent ends
_EXPONENTS = (2, 4, 8, 16, 32, 64, 128)  # of the norm that grows into the worst query

Start = tuple[float, np.ndarray]
"""A value and the (P, N) it belongs to, Θ = P − N, shape (2, p, n)."""


def augmented(problem: Problem, search: Search) -> Draft:
    """The best Θ found, as a draft over the workload's classes."""
    workload = problem.workload
    queries, classes = workload.matrix.shape
    needed = 8 * (4 * min(queries, classes) * classes + queries * classes)
    require(needed, f"optimising {queries} queries over {classes} classes", "ask fewer queries")
    exponents: tuple[int, ...] = (1,)
    if problem.goal.objective == "total":
        matrix = problem.reduced.matrix
    else:
        matrix = dense(scale_rows(problem.goal.row_factors, workload.matrix))
        exponents += _EXPONENTS
    positive, negative = _Search(search.place(matrix), exponents, search).best()
    theta = positive - negative
    theta = sparse.csr_array(theta[theta.any(axis=1)])  # a zero row is measured for nothing
    scale = sparse.diags_array(1 / (1 + (positive + negative).sum(axis=0)))
    scaled = sparse.csr_array(sparse.vstack([sparse.eye_array(classes), theta]) @ scale)
    part = Part(workload.cells, scaled, None, workload.matrix, is_exact=True)
    return Draft("augmented", (part,))


class Loss(NamedTuple):
    """A norm of the variances, its gradient, and the largest variance."""

    value: float
    gradient: np.ndarray
    largest: float


class Objective:
    """A norm of the variances vᵢ = ‖row i of W·L⁺‖², as a function of (P, N), Θ = P − N."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.squares = matrix**2

    def loss(self, signs: np.ndarray, exponent: int = 1) -> Loss:
        """(Σᵢ vᵢ^e)^(1/e) and its gradient, from two products of W with p rows or columns.

        With d = 1 + Σ(P + N), Y = N·Θᵀ·(I + ΘΘᵀ)⁻¹ and uᵢ = (vᵢ/value)^(e−1):

            vᵢ = Σⱼ dⱼ²Wᵢⱼ² − (NΘᵀ·Yᵀ)ᵢᵢ
            ∂/∂Θ = −2·Yᵀ·diag(u)·(N − Y·Θ)
            ∂/∂dⱼ = 2·dⱼ·Σᵢ uᵢWᵢⱼ² − 2·(Θᵀ·Yᵀ·diag(u)·W)ⱼⱼ
        """
        matrix, xp = self.matrix, array_namespace(self.matrix)
        positive, negative = (like(part, matrix) for part in signs)
        theta, d = positive - negative, 1 + xp.sum(positive + negative, axis=0)
        across = (matrix @ (d * theta).T).T
        one = xp.eye(theta.shape[0], dtype=matrix.dtype, device=device(matrix))
        y = xp.linalg.solve(one + theta @ theta.T, across)
        values = xp.clip(self.squares @ d**2 - xp.sum(across * y, axis=0), min=0.0)
        largest = float(xp.max(values))
        value = largest * float(xp.sum((values / largest) ** exponent)) ** (1 / exponent)
        shares = (values / value) ** (exponent - 1)
        shared = y * shares
        along = shared @ matrix
        by_theta = 2 * ((shared @ y.T) @ theta - along * d)
        by_scale = 2 * (d * (shares @ self.squares) - xp.sum(theta * along, axis=0))
        gradient = xp.stack([by_scale + by_theta, by_scale - by_theta])
        return Loss(value, as_numpy(gradient), largest)


class _Late(Exception):
    """The deadline has passed; the best so far is kept."""


class _Search:
    """Several starts, doubling of p, a finer descent at the end; within the search's deadline."""

    def __init__(self, matrix: Any, exponents: tuple[int, ...], search: Search) -> None:
        self.objective = Objective(matrix)
        self.rows, self.columns = matrix.shape
        self.exponents = exponents
        self.search = search
        self.random = np.random.default_rng(search.seed)
        self.started, self.steps = monotonic(), 0
        self.figure, self.found = np.inf, np.zeros((2, 1, self.columns))
        with suppress(_Late):
            self._keep(self.objective.loss(self.found), self.found)

    def best(self) -> np.ndarray:
        """(P, N) of the least figure found; never worse than Θ = 0."""
        with suppress(_Late):
            for start in self._starts():
                self._descend(self._grow(start), 1, _FINE)
            for exponent in self.exponents:
                self._descend(self.found, exponent, _FINE)
                self._stretch(exponent)
        return self.found

    def _stretch(self, exponent: int) -> None:
        """Go on from a larger Θ where that is better already: the way there is flat and slow."""
        larger = np.minimum(_STRETCH * self.found, _LARGEST)
        values = [self.objective.loss(signs, exponent).value for signs in (larger, self.found)]
        if values[0] < values[1]:
            self._descend(larger, exponent, _FINE)

    def _starts(self) -> list[Start]:
        """The best of several rough descents from random Θ, every other one signed."""
        size = min(_FIRST_ROWS, self.columns)
        count = int(
            np.clip(
                _WORK_FOR_STARTS / (size * self.rows * self.columns), _FEWEST_STARTS, _MOST_STARTS
            )
        )
        starts = [self._random(size, is_signed=bool(i % 2)) for i in range(count)]
        ends = [self._descend(one, 1, _ROUGH) for one in starts]
        return sorted(ends, key=lambda end: end[0])[: -(-(count**2) // 64)]

    def _grow(self, start: Start) -> np.ndarray:
        """Double the rows of Θ with random ones while the last doubling paid."""
        gain = 1.0
        while gain > _WORTH_DOUBLING and start[1].shape[1] < self.columns:
            is_signed = bool(start[1][1].any())
            more = self._random(start[1].shape[1], is_signed)
            larger = self._descend(np.concatenate([start[1], more], axis=1), 1, _ROUGH)
            gain = 1 - larger[0] / start[0]
            start = min(start, larger, key=lambda one: one[0])
        return start[1]

    def _random(self, size: int, is_signed: bool) -> np.ndarray:
        signs = self.random.random((2, size, self.columns))
        signs[1] *= is_signed
        return signs

    def _descend(self, signs: np.ndarray, exponent: int, tolerance: float) -> Start:
        """L-BFGS-B on (P, N) ≥ 0, in units of the starting value."""
        from scipy.optimize import Bounds, minimize  # a third of the time of `import leastnoise`

        unit = self.objective.loss(signs, exponent).value

        def scaled(flat: Any) -> tuple[float, Any]:
            there = flat.reshape(signs.shape)
            seen = self.objective.loss(there, exponent)
            self._keep(seen, there)
            return seen.value / unit, seen.gradient.ravel() / unit

        bounds = Bounds(np.zeros(signs.size), np.full(signs.size, _LARGEST))
        options: Any = {"maxiter": 500, "ftol": tolerance, "gtol": 1e-10}
        start: Any = signs.ravel()
        done = minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return float(done.fun) * unit, done.x.reshape(signs.shape)

    def _keep(self, seen: Loss, signs: np.ndarray) -> None:
        """Remember the best, tell how it goes, and watch the clock."""
        figure = seen.value if self.exponents == (1,) else seen.largest
        if figure < self.figure:
            self.figure, self.found = figure, signs.copy()
        self.steps += 1
        now = monotonic()
        self.search.report(Progress("augmented", self.steps, self.figure, 0.0, now - self.started))
        if now >= self.search.stop_at:
            raise _Late
