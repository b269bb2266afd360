"""The one loop of the Gaussian solvers: multiplicative steps in probabilities, accelerated.

A probability grows by ratio^p, where the ratio says how far its cell or query is from optimal:
at the optimum it is 1 wherever the probability is positive and at most 1 elsewhere. In logarithms
this is a fixed-point map, whose slow tail Anderson acceleration cuts (Walker & Ni, SIAM J. Numer.
Anal. 2011): with ten remembered steps the marginal workload at 256 × 1024 needs 90 steps for a gap
of 1e-4, without them more than 1,500.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from leastnoise.errors import InputError

_MEMORY = 10  # remembered steps; 20 is no faster, 5 costs a third more steps
_LARGEST_MOVE = 3.0  # of one logarithm in one accelerated step
_SMALLEST = -60.0  # logarithm, relative to the largest


@dataclass(frozen=True)
class Progress:
    """Where a search stands: least error so far and proven bound, both at unit noise."""

    mechanism: str
    step: int
    achieved: float
    lower: float
    seconds: float

    @property
    def gap(self) -> float:
        """How far above the bound; infinite while none is proven."""
        return self.achieved / self.lower - 1 if self.lower > 0 else float("inf")


@dataclass(frozen=True)
class Search:
    """How close to come, how long to look, whom to tell, where arrays live, which random starts."""

    gap: float = 5e-5
    most_steps: int = 2_000
    stop_at: float = float("inf")
    callback: Callable[[Progress], object] | None = None
    place: Callable[[np.ndarray], Any] = lambda matrix: matrix
    seed: int = 0

    @property
    def has_deadline(self) -> bool:
        return self.stop_at < float("inf")

    def share(self, searches: int) -> "Search":
        """The first of so many searches that share what is left of the time."""
        now = monotonic()
        return replace(self, stop_at=now + max(0.0, self.stop_at - now) / searches)

    def report(self, progress: Progress) -> None:
        """Tell whoever wants to know."""
        if self.callback is not None:
            self.callback(progress)


@dataclass(frozen=True)
class Point:
    """A strategy (its `root`) of error `achieved`, and the bound t², at some probabilities."""

    probabilities: np.ndarray
    ratios: np.ndarray
    t: float
    achieved: float
    root: np.ndarray


@dataclass(frozen=True)
class Summit:
    """Where t was highest (the proof), where the error was least (the strategy), and the steps."""

    highest: Point
    lowest: Point
    steps: int


def checked_seed(seed: Any) -> int:
    """A seed for random starts, or one sentence of refusal."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, not {seed!r}")
    return int(seed)


def ascend(
    evaluate: Callable[[np.ndarray], Point], groups: Sequence[int], power: float, search: Search
) -> Summit:
    """Climb from uniform probabilities, each group of them summing to 1, until the gap closes."""
    started, accelerator = monotonic(), _Accelerator()
    point = highest = lowest = evaluate(_probabilities(np.zeros(sum(groups)), groups))
    logs, step = np.log(point.probabilities), 1
    while True:
        highest = max(highest, point, key=lambda seen: seen.t)
        lowest = min(lowest, point, key=lambda seen: seen.achieved)
        now = Progress("optimal", step, lowest.achieved, highest.t**2, monotonic() - started)
        search.report(now)
        is_late = step >= search.most_steps or monotonic() >= search.stop_at
        if now.gap <= search.gap or is_late:
            return Summit(highest, lowest, step)
        move = power * np.log(np.maximum(point.ratios, 1e-300))
        logs = accelerator.next(logs, move, point.t, _importance(point, groups))
        point = evaluate(_probabilities(logs, groups))
        step += 1


def _probabilities(logs: np.ndarray, groups: Sequence[int]) -> np.ndarray:
    """exp, normalised in each group."""
    parts = np.split(logs, np.cumsum(groups)[:-1])
    shares = [np.exp(np.maximum(part - part.max(), _SMALLEST)) for part in parts]
    return np.concatenate([share / share.sum() for share in shares])


def _importance(point: Point, groups: Sequence[int]) -> np.ndarray:
    """√q: the logarithm of a vanishing q means nothing, unless its ratio says it must regrow."""
    sizes = np.repeat(groups, groups)
    return np.sqrt(point.probabilities + (point.ratios > 1) / sizes)


class _Accelerator:
    """Anderson acceleration of the map x ← x + f(x), kept only while t keeps rising.

    The next x combines the last ones so that their combined f is least in a weighted norm. When
    t falls, memory is dropped and the last good x takes its plain step.
    """

    def __init__(self) -> None:
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
        self.points = [*self.points, x][-_MEMORY - 1 :]
        self.moves = [*self.moves, move][-_MEMORY - 1 :]
        step = move if len(self.moves) == 1 else move - self._correction(move, weight)
        return x + np.clip(step, -_LARGEST_MOVE, _LARGEST_MOVE)

    def _correction(self, move: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Σ γᵢ(Δxᵢ + Δfᵢ) with γ minimising ‖f − Σ γᵢΔfᵢ‖ in the weighted norm."""
        change = np.diff(self.moves, axis=0)
        weighted = change * weight
        normal = weighted @ weighted.T
        normal[np.diag_indices_from(normal)] += 1e-10 * np.trace(normal) + 1e-300
        shares = np.linalg.solve(normal, weighted @ (move * weight))
        return shares @ (np.diff(self.points, axis=0) + change)
