"""Exponential smoothing: value and gradient by hand and by differences, and what it reaches."""

from time import monotonic

import numpy as np
import pytest
from workloads import FAMILIES, WEIGHTED_STATES, ranges

from leastnoise.strategy.ascent import Progress, Search
from leastnoise.strategy.goal import goal
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.smoothing import Smoothed, exponential_smoothing
from leastnoise.strategy.strategy import Draft
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

SMOOTHINGS = pytest.mark.parametrize("smoothing", [1.0, 0.1, 0.01])


def problem(W: np.ndarray) -> Problem:
    return Problem(Workload(W), goal("total", None, len(W)))


def price(draft: Draft) -> float:
    return draft.row_squares.sum() * draft.sensitivities[1] ** 2


def instance(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Four queries over six classes, a positive definite X, and a symmetric direction."""
    rng = np.random.default_rng(seed)
    root, way = rng.standard_normal((2, 6, 6))
    return rng.standard_normal((4, 6)), root @ root.T + 0.5 * np.eye(6), (way + way.T) / 2


@SMOOTHINGS
def test_the_value_at_the_identity_by_hand(smoothing: float) -> None:
    """All n diagonal entries are 1: f = 1 + μ·log n = 1 + smoothing, times ‖M‖²."""
    M = np.arange(12.0).reshape(3, 4)
    seen = Smoothed(M, smoothing).seen(np.eye(4))
    assert seen.value == pytest.approx((1 + smoothing) * np.square(M).sum())
    assert seen.error == pytest.approx(np.square(M).sum())


@SMOOTHINGS
@pytest.mark.parametrize("seed", range(5))
def test_the_error_is_what_numpy_says_and_the_value_above_it_by_no_more_than_the_smoothing(
    smoothing: float, seed: int
) -> None:
    M, X, _ = instance(seed)
    seen = Smoothed(M, smoothing).seen(X)
    trace = np.trace(M @ np.linalg.inv(X) @ M.T)
    assert seen.error == pytest.approx(np.diag(X).max() * trace)
    assert seen.error <= seen.value <= seen.error + smoothing * trace


@SMOOTHINGS
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_finite_differences(smoothing: float, seed: int) -> None:
    M, X, way = instance(seed)
    objective = Smoothed(M, smoothing)
    up, down = (objective.seen(X + sign * 1e-6 * way).value for sign in (1, -1))
    along = np.vdot(objective.seen(X).gradient, way)
    assert along == pytest.approx((up - down) / 2e-6, rel=1e-5)


@pytest.mark.parametrize(("family", "m", "n"), [("marginals", 16, 32), ("ranges", 12, 24)])
def test_what_is_found_is_near_the_least_possible_error(family: str, m: int, n: int) -> None:
    asked = problem(FAMILIES[family](m, n))
    lower = optimal(asked, Search()).bound.lower
    assert lower <= price(exponential_smoothing(asked, Search())) <= 1.05 * lower


def test_the_strategy_is_a_symmetric_root() -> None:
    (part,) = exponential_smoothing(problem(WEIGHTED_STATES), Search()).parts
    A = dense(part.coefficients)
    assert A == pytest.approx(A.T)
    assert np.linalg.eigvalsh(A).min() > 0.05


def test_a_search_that_is_late_takes_one_step_at_each_smoothing() -> None:
    asked = problem(ranges(12, 24))
    started = monotonic()
    draft = exponential_smoothing(asked, Search(stop_at=started))
    assert draft.steps == 3
    assert np.isfinite(price(draft))


def test_the_callback_never_hears_of_a_worse_strategy_at_one_smoothing() -> None:
    heard: list[Progress] = []
    exponential_smoothing(problem(ranges(6, 12)), Search(callback=heard.append))
    starts = [i for i, one in enumerate(heard) if one.step == 1]
    assert len(starts) == 3
    for start, end in zip(starts, [*starts[1:], len(heard)], strict=True):
        achieved = [one.achieved for one in heard[start:end]]
        assert achieved == sorted(achieved, reverse=True)
