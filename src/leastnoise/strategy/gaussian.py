"""The strategy of least Gaussian error, with a proof that none is better.

    min { ‖B‖²_F Δ₂² : M = BL }  =  max over probability vectors q of t(q)²

    K = M·diag(q)·Mᵀ    t = tr K^(1/2)    L = K^(-1/4)·M    B = K^(1/4)    gⱼ = ‖Lⱼ‖²

Any q gives the lower bound t² and a strategy of error t·maxⱼ gⱼ; Σ qⱼgⱼ = t, and they meet where
gⱼ = t wherever qⱼ > 0. Each step multiplies qⱼ by (gⱼ/t)^p, a fixed-point map in log q whose
slow tail is cut by Anderson acceleration (Walker & Ni 2011): with 10 remembered steps the
marginal workload at 256 × 1024 needs 90 steps for a gap of 1e-4, without it more than 1,500.

Duality: Li & Miklau, *Optimal error of query sets under the differentially-private matrix
mechanism* (ICDT 2013), and DESIGN of this project in docs/strategies.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np
import scipy.linalg as linalg

_FLOOR = 1e-13  # of the largest eigenvalue: below it K^(-1/4) would amplify rounding
_POWER = 2.5  # p = 2 is exact for disjoint queries; above 3 the plain map can oscillate
_MEMORY = 10  # remembered steps; 20 is no faster, 5 costs a third more steps
_LARGEST_MOVE = 3.0  # of one log q in one accelerated step
_SMALLEST = -60.0  # log q, relative to the largest
_BLOCK = 2**19  # matrix entries handled at a time, to stay in cache and bound memory


@dataclass(frozen=True)
class Progress:
    """Where a solve stands: error is between `lower` and `achieved`, both for unit noise."""

    step: int
    lower: float
    achieved: float
    seconds: float

    @property
    def gap(self) -> float:
        return self.achieved / self.lower - 1


@dataclass(frozen=True)
class Solution:
    """L = root·M has error `achieved` at unit noise; q proves that none has less than `lower`."""

    root: np.ndarray
    achieved: float
    q: np.ndarray
    lower: float
    steps: int

    @property
    def gap(self) -> float:
        return self.achieved / self.lower - 1


@dataclass(frozen=True)
class _Point:
    """K^(1/2)'s trace t, K^(-1/4) and g at one q."""

    q: np.ndarray
    t: float
    g: np.ndarray
    root: np.ndarray

    @property
    def achieved(self) -> float:
        return self.t * float(self.g.max())


def solve(
    matrix: np.ndarray,
    *,
    gap: float = 5e-5,
    most_steps: int = 2_000,
    stop_at: float = np.inf,
    callback: Callable[[Progress], object] | None = None,
) -> Solution:
    """The best strategy found until the gap closes, `most_steps`, or the clock `stop_at`."""
    started = monotonic()
    log_q = np.zeros(matrix.shape[1])
    accelerator = _Accelerator(_MEMORY)
    highest = lowest = point = _evaluate(matrix, _probabilities(log_q))
    for step in range(1, most_steps + 1):
        highest = max(highest, point, key=lambda seen: seen.t)
        lowest = min(lowest, point, key=lambda seen: seen.achieved)
        progress = Progress(step, highest.t**2, lowest.achieved, monotonic() - started)
        if callback is not None:
            callback(progress)
        if progress.gap <= gap or monotonic() >= stop_at or step == most_steps:
            break
        move = _POWER * np.log(np.maximum(point.g / point.t, 1e-300))
        # √q, because log q of a vanishing cell means nothing; but g > t says it must grow again.
        weight = np.sqrt(point.q + (point.g > point.t) / len(point.q))
        log_q = accelerator.next(log_q, move, point.t, weight)
        point = _evaluate(matrix, _probabilities(log_q))
    lower = lower_bound(matrix, highest.q)
    return Solution(lowest.root, lowest.achieved, highest.q, lower, step)


def lower_bound(matrix: np.ndarray, q: np.ndarray) -> float:
    """(‖M·diag(√q)‖_*)² for Σq = 1, rounded down: no strategy has less error at unit noise.

    Singular values come from the triangle of a backward-stable QR, taken block by block, so each
    is off by rounding of the largest at most; 1e-12 per singular value covers that and more.
    """
    roots = np.sqrt(q / q.sum())
    triangle = np.zeros((0, len(matrix)))
    for block in _blocks(matrix.shape, len(matrix)):
        rows = np.vstack([triangle, (matrix[:, block] * roots[block]).T])
        triangle = linalg.qr(rows, mode="r", overwrite_a=True, check_finite=False)[0]
        triangle = triangle[: len(matrix)]
    nuclear = float(linalg.svdvals(triangle, check_finite=False).sum())
    return nuclear**2 * (1 - 1e-12 * min(matrix.shape))


def _probabilities(log_q: np.ndarray) -> np.ndarray:
    q = np.exp(log_q - log_q.max())
    return q / q.sum()


def _evaluate(matrix: np.ndarray, q: np.ndarray) -> _Point:
    """One eigendecomposition and two products with M, in blocks of its columns."""
    blocks = _blocks(matrix.shape, _BLOCK // len(matrix))
    kernel = np.zeros((len(matrix), len(matrix)))
    for block in blocks:
        scaled = matrix[:, block] * np.sqrt(q[block])
        kernel += scaled @ scaled.T
    values, vectors = np.linalg.eigh(kernel)
    values = np.maximum(values, _FLOOR * values[-1])
    root = (vectors * values**-0.25) @ vectors.T
    g = np.empty(matrix.shape[1])
    for block in blocks:
        measured = root @ matrix[:, block]
        g[block] = np.einsum("ij,ij->j", measured, measured)
    return _Point(q, float(np.sqrt(values).sum()), g, root)


def _blocks(shape: tuple[int, ...], width: int) -> list[slice]:
    """Ranges of columns, `width` at a time."""
    step = max(1, width)
    return [slice(start, start + step) for start in range(0, shape[1], step)]


class _Accelerator:
    """Anderson acceleration of the map x ← x + f(x), kept only while t keeps rising.

    The next x combines the last ones so that their combined f is least in a weighted norm. When
    t falls, memory is dropped and the last good x takes its plain step.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.good: tuple[np.ndarray, np.ndarray] | None = None
        self.best_t = 0.0
        self.points: list[np.ndarray] = []
        self.moves: list[np.ndarray] = []

    def next(self, x: np.ndarray, move: np.ndarray, t: float, weight: np.ndarray) -> np.ndarray:
        has_fallen = t < self.best_t * (1 - 1e-9) and len(self.points) > 1
        if has_fallen and self.good is not None:
            self.points, self.moves, self.best_t = [], [], 0.0
            return self.good[0] + self.good[1]
        self.best_t, self.good = t, (x, move)
        self.points = [*self.points, x][-self.memory - 1 :]
        self.moves = [*self.moves, move][-self.memory - 1 :]
        step = move if len(self.moves) == 1 else move - self._correction(move, weight)
        ahead = x + np.clip(step, -_LARGEST_MOVE, _LARGEST_MOVE)
        return np.maximum(ahead - ahead.max(), _SMALLEST)

    def _correction(self, move: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Σ γᵢ(Δxᵢ + Δfᵢ) with γ minimising ‖f − Σ γᵢΔfᵢ‖ in the weighted norm."""
        change = np.diff(self.moves, axis=0)
        weighted = change * weight
        normal = weighted @ weighted.T
        normal[np.diag_indices_from(normal)] += 1e-10 * np.trace(normal)
        shares = np.linalg.solve(normal, weighted @ (move * weight))
        return shares @ (np.diff(self.points, axis=0) + change)
