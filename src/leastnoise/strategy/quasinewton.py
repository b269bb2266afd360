"""Least value over x ≥ 0, by a projected quasi-Newton method of little memory and overhead.

SciPy's L-BFGS-B spends five to twenty times longer on its own bookkeeping than on evaluating our
objective, because it sorts all bounds in every step (measured: 100 ms against 5 at 400,000
variables). This one fixes the variables that are 0 and want to be less, takes a limited-memory
BFGS direction in the others (Nocedal & Wright, *Numerical optimization*, algorithm 7.4), and
searches along its projection (Bertsekas, SIAM J. Control Optim. 1982).
"""

from collections.abc import Callable

import numpy as np

_MEMORY = 8  # pairs of steps and gradient changes
_DECREASE = 1e-4  # of what the gradient promises: Armijo's condition
_FLAT = 5  # steps over which a decrease is judged
_MOST_HALVINGS = 30
_ALMOST_NONE = 1e-12
_FIRST = 0.1  # of the largest variable, or of 1: how far the first step moves one
_NOTHING = 1e-300

Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


class Descent:
    """A descent from x ≥ 0 that can be gone on with: it remembers where it is and how it bends."""

    def __init__(self, evaluate: Evaluate, x: np.ndarray, largest: float) -> None:
        self.evaluate, self.largest = evaluate, largest
        self.x = x
        self.value, self.gradient = evaluate(x)
        self.memory = _Memory()
        self.values = [self.value]
        self.has_settled = False

    def run(self, tolerance: float, steps: int) -> None:
        """So many steps, or until five of them gain less than 5·`tolerance` of the value."""
        self.has_settled = False
        for _ in range(steps):
            self.has_settled = not self._step() or self._is_flat(tolerance)
            if self.has_settled:
                return

    def forget(self) -> None:
        """How it bends: sixteen vectors less to hold, a few steps more to learn it again."""
        self.memory = _Memory()

    def _step(self) -> bool:
        """One step down; False where there is none."""
        free = (self.x > 0) | (self.gradient < 0)
        slope = np.where(free, self.gradient, 0.0)
        found = self._searched(self.memory.direction(slope) * free) if self.memory.pairs else None
        if found is None:
            self.memory = _Memory()
            size = _FIRST * max(1.0, float(self.x.max()))
            found = self._searched(-slope * (size / max(float(np.abs(slope).max()), _NOTHING)))
        if found is None:
            return False
        there, self.value, gradient = found
        self.memory.keep(there - self.x, gradient - self.gradient)
        self.x, self.gradient = there, gradient
        self.values = [*self.values, self.value][-_FLAT - 1 :]
        return True

    def _is_flat(self, tolerance: float) -> bool:
        gain = self.values[0] - self.value
        return len(self.values) > _FLAT and gain <= _FLAT * tolerance * self.value

    def _searched(self, direction: np.ndarray) -> tuple[np.ndarray, float, np.ndarray] | None:
        """The first point along the projected direction that is low enough; None if none is."""
        share = 1.0
        for _ in range(_MOST_HALVINGS):
            there = np.clip(self.x + share * direction, 0.0, self.largest)
            promised = float(np.vdot(self.gradient, there - self.x))
            if promised >= 0:
                return None
            value, gradient = self.evaluate(there)
            if value <= self.value + _DECREASE * promised:
                return there, value, gradient
            share *= min(0.5, max(0.1, -promised / (2 * (value - self.value - promised))))
        return None


class _Memory:
    """The last steps s and gradient changes y, and the direction −H·g they give."""

    def __init__(self) -> None:
        self.pairs: list[tuple[np.ndarray, np.ndarray, float]] = []

    def keep(self, step: np.ndarray, change: np.ndarray) -> None:
        """Only where the curvature is positive."""
        curvature = float(np.vdot(step, change))
        if curvature > _ALMOST_NONE * float(np.vdot(change, change)):
            self.pairs = [*self.pairs, (step, change, curvature)][-_MEMORY:]

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        found, shares = -gradient, []
        for step, change, curvature in reversed(self.pairs):
            shares.append(float(np.vdot(step, found)) / curvature)
            found -= shares[-1] * change
        if self.pairs:
            _, change, curvature = self.pairs[-1]
            found *= curvature / float(np.vdot(change, change))
        for (step, change, curvature), share in zip(self.pairs, reversed(shares), strict=True):
            found += (share - float(np.vdot(change, found)) / curvature) * step
        return found
