"""Exponential smoothing: the matrix mechanism's largest column norm made smooth, then descended.

    min over X ≻ 0 of  f_μ(diag X)·tr(M·X⁻¹·Mᵀ),   f_μ(v) = max v + μ·log Σ exp((vᵢ − max v)/μ)

and A = X^½ is measured. f_μ is above the largest entry by at most μ·log n, which is 1, then 0.1
and 0.01, each search starting where the last one ended: with 0.01 at once it stops 15 to 50% above
the optimum. The gradient is diag(∂f)·tr(M·X⁻¹·Mᵀ) − f·X⁻¹MᵀMX⁻¹ with ∂f = softmax(v/μ). The method
is the non-monotone spectral projected gradient of Birgin, Martínez & Raydan (SIAM J. Optim. 2000);
the projection clips eigenvalues. Everything is n × n: a step takes n³ operations. (Yuan, Zhang,
Winslett, Xiao, Yang & Hao, *Low-rank mechanism*, PVLDB 2012; TODS 2015, appendix A.1.)
"""

from time import monotonic
from typing import NamedTuple

import numpy as np
import scipy.linalg as linalg

from leastnoise.memory import require
from leastnoise.strategy.ascent import Progress, Search
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part

_SMOOTHINGS = (1.0, 0.1, 0.01)  # what the smoothed largest entry may add
# Least eigenvalue of X at a largest entry of 1. The optimum of a low-rank workload has zeros, where
# the gradient explodes: 1e-6 stops 4 to 13% above the optimum, 1e-2 within 4%, and adds 1%.
_LEAST = 1e-2
_MEMORY = 10  # values that a step may exceed, the largest of them
_DECREASE = 1e-4  # of what the gradient promises: Armijo's condition
_STEPS = 200  # for each smoothing
_ENOUGH = 1e-5  # relative decrease over _MEMORY steps at which the descent ends
_SMALLEST = 1e-200  # a gradient that is nothing
_WORK = 15.0  # n³ operations a step, most of them in the projection: 19 s at n = 512


def exponential_smoothing(problem: Problem, search: Search) -> Draft:
    """X by descent from the identity, at the scale where its largest diagonal entry is 1."""
    workload = problem.workload
    classes = workload.classes
    require(8 * 8 * classes**2, f"smoothing over {classes} classes", "ask queries of fewer cells")
    best, steps = np.eye(classes), 0
    for smoothing in _SMOOTHINGS:
        objective = Smoothed(problem.reduced.matrix, smoothing)
        best, taken = _descend(objective, _projected(best / np.diag(best).max()), search)
        steps += taken
    values, vectors = linalg.eigh(best)
    measured = (vectors * np.sqrt(values)) @ vectors.T
    part = Part(workload.cells, measured, None, workload.matrix, is_exact=True)
    return Draft("esm", (part,), steps=steps)


def smoothing_work(problem: Problem) -> float:
    """Operations: some steps of a few n³ each."""
    return smoothing_operations(problem.workload.classes)


def smoothing_operations(classes: int) -> float:
    """The same for so many classes."""
    return len(_SMOOTHINGS) * _STEPS * _WORK * classes**3


class Seen(NamedTuple):
    """The objective, its gradient, and the error that the largest diagonal entry really gives."""

    value: float
    gradient: np.ndarray
    error: float


class Smoothed:
    """The objective as a function of a positive definite X."""

    def __init__(self, matrix: np.ndarray, smoothing: float) -> None:
        self.matrix = matrix
        self.size = matrix.shape[1]
        self.mu = smoothing / np.log(max(self.size, 2))

    def seen(self, x: np.ndarray) -> Seen:
        factor = linalg.cho_factor(x, check_finite=False)
        solved = linalg.cho_solve(factor, self.matrix.T, check_finite=False).T
        trace = float(np.vdot(solved, self.matrix))
        diagonal = np.diag(x)
        weights = np.exp((diagonal - diagonal.max()) / self.mu)
        smooth = float(diagonal.max() + self.mu * np.log(weights.sum()))
        gradient = -smooth * (solved.T @ solved)
        gradient[np.diag_indices(self.size)] += weights / weights.sum() * trace
        return Seen(smooth * trace, gradient, float(diagonal.max()) * trace)


def _descend(objective: Smoothed, x: np.ndarray, search: Search) -> tuple[np.ndarray, int]:
    """The X of least error seen, and how many steps were taken."""
    started = monotonic()
    seen = objective.seen(x)
    best, least, values = x, seen.error, [seen.value]
    length = 1 / max(float(np.abs(seen.gradient).max()), _SMALLEST)
    for step in range(1, _STEPS + 1):
        direction = _projected(x - length * seen.gradient) - x
        slope = float(np.vdot(seen.gradient, direction))
        share = 1.0
        while True:
            there = objective.seen(x + share * direction)
            is_lower = there.value <= max(values[-_MEMORY:]) + _DECREASE * share * slope
            if is_lower or share < 1e-10:
                break
            share *= _shorter(values[-1], there.value, share, slope)
        change = share * direction
        curvature = float(np.vdot(change, there.gradient - seen.gradient))
        longest = 1e10 / max(float(np.abs(there.gradient).max()), _SMALLEST)
        length = min(float(np.vdot(change, change)) / max(curvature, _SMALLEST), longest)
        x, seen = x + change, there
        values.append(seen.value)
        if seen.error < least:
            best, least = x, seen.error
        search.report(Progress("esm", step, least, 0.0, monotonic() - started))
        if _has_settled(values) or monotonic() >= search.stop_at:
            break
    return best, len(values) - 1


def _shorter(value: float, there: float, share: float, slope: float) -> float:
    """Where the parabola through both values and the slope is least, between a tenth and a half."""
    least = -slope * share / (2 * (there - value - share * slope))
    return min(max(least, 0.1), 0.5)


def _has_settled(values: list[float]) -> bool:
    recent = values[-_MEMORY:]
    return len(values) > 2 * _MEMORY and min(values[:-_MEMORY]) - min(recent) < _ENOUGH * recent[-1]


def _projected(x: np.ndarray) -> np.ndarray:
    """The nearest matrix whose eigenvalues are not below the least."""
    x = (x + x.T) / 2
    shifted = x.copy()
    shifted[np.diag_indices_from(shifted)] -= _LEAST
    try:
        linalg.cholesky(shifted, check_finite=False)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(x, check_finite=False)
        return np.asarray((vectors * np.maximum(values, _LEAST)) @ vectors.T)
    return x
