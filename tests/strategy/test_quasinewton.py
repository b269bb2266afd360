"""The descent over x ≥ 0: that it ends at the least, never rises, and can be gone on with."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import nnls

from leastnoise.strategy.quasinewton import Descent

Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


def instance(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A (12 × 8) and b for which some of the least x are 0."""
    random = np.random.default_rng(seed)
    return random.standard_normal((12, 8)), random.standard_normal(12)


def quadratic(A: np.ndarray, b: np.ndarray) -> Evaluate:
    """1 + ½‖A·x − b‖²: the 1 keeps a relative decrease meaningful."""

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        off = A @ x - b
        return 1 + float(off @ off) / 2, A.T @ off

    return evaluate


def recorded(evaluate: Evaluate, seen: list[np.ndarray]) -> Evaluate:
    def noted(x: np.ndarray) -> tuple[float, np.ndarray]:
        seen.append(x.copy())
        return evaluate(x)

    return noted


@pytest.mark.parametrize("seed", range(10))
def test_a_convex_quadratic_ends_where_scipy_does(seed: int) -> None:
    A, b = instance(seed)
    least, _ = nnls(A, b)
    assert (least == 0).any()
    descent = Descent(quadratic(A, b), np.ones(8), 1e5)
    descent.run(1e-14, 2_000)
    assert descent.has_settled
    assert descent.x == pytest.approx(least, abs=1e-5)
    assert descent.value == pytest.approx(quadratic(A, b)(least)[0], rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_values_never_rise(seed: int) -> None:
    descent = Descent(quadratic(*instance(seed)), np.ones(8), 1e5)
    values = [descent.value]
    for _ in range(30):
        descent.run(0.0, 1)
        values.append(descent.value)
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


@pytest.mark.parametrize("seed", range(5))
def test_no_point_outside_of_its_bounds_is_looked_at(seed: int) -> None:
    """The least of these lies outside in some coordinates, on either side."""
    A, b = instance(seed)
    free = np.linalg.lstsq(A, b, rcond=None)[0]
    largest = 0.5 * free.max()
    seen: list[np.ndarray] = []
    Descent(recorded(quadratic(A, b), seen), np.full(8, largest / 2), largest).run(1e-12, 100)
    assert np.min(seen) == 0
    assert np.max(seen) == largest


@pytest.mark.parametrize("seed", range(5))
def test_going_on_is_no_worse_than_ending_and_no_new_start(seed: int) -> None:
    """Twice four steps are eight: what was remembered is still there."""
    once, twice = (Descent(quadratic(*instance(seed)), np.ones(8), 1e5) for _ in "ab")
    once.run(0.0, 4)
    halfway = once.value
    once.run(0.0, 4)
    twice.run(0.0, 8)
    assert once.value <= halfway
    assert np.array_equal(once.x, twice.x)


def test_it_settles_at_an_optimum_and_stays() -> None:
    A, b = instance(0)
    least, _ = nnls(A, b)
    descent = Descent(quadratic(A, b), least, 1e5)
    descent.run(1e-9, 50)
    assert descent.has_settled
    assert descent.x == pytest.approx(least, abs=1e-6)


def test_it_has_not_settled_while_it_still_gains() -> None:
    descent = Descent(quadratic(*instance(0)), np.ones(8), 1e5)
    descent.run(1e-12, 2)
    assert not descent.has_settled


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_where_nothing_is_to_be_gained_it_settles_at_once(slope: float) -> None:
    """No slope at all, or one that points out of the bounds."""
    calls: list[np.ndarray] = []
    evaluate = recorded(lambda x: (1 + slope * float(x.sum()), np.full(3, slope)), calls)
    descent = Descent(evaluate, np.zeros(3), 1e5)
    descent.run(1e-9, 50)
    assert descent.has_settled
    assert len(calls) == 1
    assert not descent.x.any()
