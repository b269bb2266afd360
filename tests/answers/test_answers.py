"""Answers follow from measurements; their errors are those announced, no more and no less.

Every statistical threshold is exceeded by chance with probability below 1e-6.
"""

from functools import cache

import numpy as np
import pytest
from workloads import STATES, ranges

import leastnoise as ln
from leastnoise.errors import InputError

RELEASES = 4_000
W = ranges(8, 12, seed=3)
COUNTS = np.arange(12) * 7
PROMISES = {"laplace": {"epsilon": 1}, "gaussian": {"rho": 0.5}}


@cache
def planned(noise: str, mechanism: str = "auto") -> ln.Plan:
    return ln.plan(W, mechanism=mechanism, **PROMISES[noise])


@cache
def errors(noise: str, mechanism: str) -> np.ndarray:
    """What 4,000 releases are off by: a row each."""
    plan = planned(noise, mechanism)
    return np.array([plan.release(COUNTS).answers for _ in range(RELEASES)]) - W @ COUNTS


def total_is_right(off: np.ndarray, plan: ln.Plan, fudge: float = 1.0) -> bool:
    """Mean Σ errorᵢ² within six of its standard deviations of Σ stdᵢ².

    error = B·z, z independent: Var Σ errorᵢ² = σ⁴·(2‖G‖²_F + κ·Σ Gⱼⱼ²) with G = BᵀB and excess
    kurtosis κ = 3 (Laplace) or 0.
    """
    gram = plan.strategy.B.T @ plan.strategy.B
    kappa = 3 if plan.noise == "laplace" else 0
    spread = np.sqrt(2 * np.square(gram).sum() + kappa * np.square(np.diag(gram)).sum())
    relative = spread / np.trace(gram) / np.sqrt(len(off))
    ratio = np.square(off).sum(axis=1).mean() / (fudge**2 * plan.expected_error)
    return bool(abs(ratio - 1) < 6 * relative)


@pytest.mark.parametrize("noise", PROMISES)
@pytest.mark.parametrize("mechanism", ["nod", "nor", "optimal"])
def test_many_releases_have_the_announced_errors(noise: str, mechanism: str) -> None:
    plan, off = planned(noise, mechanism), errors(noise, mechanism)
    assert plan.noise == noise
    assert total_is_right(off, plan)
    assert not total_is_right(off, plan, fudge=1.1)
    assert not total_is_right(off, plan, fudge=0.9)
    worst_kurtosis = 6 if noise == "laplace" else 3
    allowed = 6 * np.sqrt((worst_kurtosis - 1) / RELEASES)
    assert np.abs(np.square(off).mean(axis=0) / plan.std**2 - 1).max() < allowed


@pytest.mark.parametrize("noise", PROMISES)
@pytest.mark.parametrize("mechanism", ["nod", "nor", "optimal"])
def test_answers_are_unbiased(noise: str, mechanism: str) -> None:
    """A mean of 4,000 is normal; 5.5 standard deviations for each of 8 queries."""
    off = errors(noise, mechanism).mean(axis=0)
    assert np.abs(off / planned(noise, mechanism).std).max() * np.sqrt(RELEASES) < 5.5


@pytest.mark.parametrize("noise", PROMISES)
def test_expected_error_is_the_sum_of_squared_standard_errors(noise: str) -> None:
    plan = planned(noise)
    assert plan.expected_error == pytest.approx(np.square(plan.std).sum(), rel=1e-12)
    assert np.array_equal(plan.release(COUNTS).std, plan.std)


@pytest.mark.parametrize("noise", PROMISES)
def test_answers_are_B_times_what_was_measured(noise: str) -> None:
    plan = planned(noise)
    release = plan.release(COUNTS)
    (measured,) = release.measurements
    assert measured.dtype == np.int64
    by_hand = plan.strategy.B @ (measured / 2.0**plan.strategy.k)
    assert release.answers == pytest.approx(by_hand, rel=1e-9)
    assert not np.array_equal(release.answers, plan.release(COUNTS).answers)
    assert release.accounted is False


@pytest.mark.parametrize("mechanism", ["nod", "nor", "optimal"])
def test_without_noise_answers_would_be_exact(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise removed: W·x to nine digits, also for cells that are merged or not asked about."""
    monkeypatch.setattr("leastnoise.release.measure.add_noise", lambda sums, noise: sums)
    queries = np.array([[1, 1, 0, -2, 0], [0, 0, 0, 1 / 3, 0], [1, 1, 0, 0, 0.1]])
    counts = [5, 7, 1000, 9, 11]
    answers = ln.plan(queries, epsilon=1, mechanism=mechanism).release(counts).answers
    assert answers == pytest.approx([-6, 3, 13.1], rel=1e-9)


@pytest.mark.parametrize("counts", [[1, 2, 3, 4], np.array([1, 2, 3, 4.0]), (1, 2, 3, 4)])
def test_counts_may_be_any_whole_numbers(counts: object) -> None:
    release = ln.plan(STATES, epsilon=100).release(counts)
    assert release.answers == pytest.approx([10, 3, 7], abs=1)


def test_gaussian_intervals_by_hand() -> None:
    release = planned("gaussian").release(COUNTS)
    low, high = release.interval(0.95)
    assert high - release.answers == pytest.approx(1.959964 * release.std, rel=1e-6)
    assert release.answers - low == pytest.approx(1.959964 * release.std, rel=1e-6)
    assert release.interval(0.95).low.tolist() == low.tolist()


def test_wider_for_all_at_once_and_for_more_confidence() -> None:
    release = planned("gaussian").release(COUNTS)
    width = {
        (confidence, together): np.subtract(*release.interval(confidence, together)[::-1])
        for confidence in (0.5, 0.95)
        for together in (False, True)
    }
    assert (width[0.95, False] > width[0.5, False]).all()
    assert (width[0.95, True] > width[0.95, False]).all()


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("noise", PROMISES)
def test_intervals_hold_the_truth_as_often_as_they_say(noise: str, together: bool) -> None:
    """Of 4,000 releases; one at a time not much more often either. Coverage moves by six of its
    standard deviations, √(0.9·0.1/2000), with probability below 1e-8."""
    release = planned(noise).release(COUNTS)
    half = release.interval(0.9, simultaneous=together).high - release.answers
    inside = np.abs(errors(noise, "auto")) <= half
    slack = 6 * np.sqrt(0.9 * 0.1 / RELEASES)
    held = inside.all(axis=1).mean() if together else inside.mean(axis=0)
    assert np.all(held > 0.9 - slack)
    assert together or np.all(held < 0.9 + slack)


def test_a_bias_that_matters_widens_intervals_and_is_told() -> None:
    """Real coefficients, huge max_total, hardly any noise."""
    real = np.random.default_rng(0).standard_normal((3, 6))
    plan = ln.plan(real, rho=10**6, mechanism="nor", max_total=2**40)
    assert (plan.measurable.bias > 0.01 * plan.std).all()
    assert "rounding may shift an answer" in plan.summary()
    release = plan.release([0] * 6)
    half = 1.959964 * release.std + plan.measurable.bias
    assert release.interval(0.95).high - release.answers == pytest.approx(half, rel=1e-6)
    assert "rounding may shift" not in ln.plan(STATES, epsilon=1).summary()


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, np.nan, "0.95", True, None])
def test_confidence_lies_between_0_and_1(confidence: object) -> None:
    release = planned("gaussian").release(COUNTS)
    with pytest.raises(InputError, match="confidence must") as caught:
        release.interval(confidence)
    assert "\n" not in str(caught.value)
