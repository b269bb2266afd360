"""Quantiles of Laplace sums against closed forms and simulation; what lattice and bias add."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import leastnoise as ln
from leastnoise.answers.laplace import half_widths

MISSES = [0.999, 0.5, 0.1, 0.05, 0.01, 1e-6, 1e-12]
SIZES = st.floats(1e-6, 1e6)


def tail_of_one(q: float, a: float) -> float:
    return np.exp(-q / a)


def tail_of_two(q: float, a: float, b: float) -> float:
    """P(|aX + bY| > q), by partial fractions of 1/((1 − a²θ²)(1 − b²θ²))."""
    if a == b:
        return np.exp(-q / a) * (1 + q / (2 * a))
    return (a**2 * np.exp(-q / a) - b**2 * np.exp(-q / b)) / (a**2 - b**2)


@pytest.mark.parametrize("misses", MISSES)
def test_one_term_by_hand(misses: float) -> None:
    widths = half_widths(np.array([[1.0], [7.0]]), misses)
    assert widths == pytest.approx(-np.log(misses) * np.array([1, 7]), rel=1e-9)


@pytest.mark.parametrize("misses", MISSES)
@pytest.mark.parametrize("ratio", [1, 0.999, 0.5, 0.1, 1e-3, 1e-9])
def test_two_terms_by_hand(ratio: float, misses: float) -> None:
    (q,) = half_widths(np.array([[3.0, 3.0 * ratio]]), misses)
    assert tail_of_two(q, 3, 3 * ratio) == pytest.approx(misses, rel=1e-8)
    assert tail_of_two(q * (1 + 1e-4), 3, 3 * ratio) != pytest.approx(misses, rel=1e-8, abs=0)


def test_many_equal_terms_are_nearly_normal() -> None:
    """Edgeworth: kurtosis 3/n shifts the quantile z by (z³ − 3z)·(3/n)/24, up to 1/n²."""
    n, z = 100_000, ndtri(0.975)
    (q,) = half_widths(np.ones((1, n)), 0.05)
    assert q / np.sqrt(2 * n) == pytest.approx(z + (z**3 - 3 * z) / (8 * n), rel=1e-9)


@given(st.lists(SIZES, min_size=1, max_size=40), st.sampled_from(MISSES))
def test_any_weights_lie_between_normal_and_laplace_tails(
    weights: list[float], misses: float
) -> None:
    """Order, scale and zeros do not matter, and the width grows with each weight."""
    row = np.array([weights])
    (q,) = half_widths(row, misses)
    assert np.isfinite(q)
    assert half_widths(np.hstack([row[:, ::-1], np.zeros((1, 3))]), misses) == pytest.approx(q)
    assert half_widths(5 * row, misses) == pytest.approx(5 * q)
    assert half_widths(row + row.max() / 100, misses) > q
    assert half_widths(row[:, :1], misses) <= q * (1 + 1e-9)


@pytest.mark.parametrize("weights", [[1.0], [1, 0.3], [2, 1, 1, 0.5, 0.1], [1] * 12])
def test_ten_million_simulated_sums(weights: list[float]) -> None:
    """Inside as often as said, to five of 10⁷'s standard deviations; 1% more width would fail."""
    rng = np.random.default_rng(1)
    confidences = np.array([0.9, 0.95, 0.99])
    widths = [half_widths(np.array([weights]), 1 - c)[0] for c in confidences]
    inside = np.zeros(3)
    for _ in range(10):
        sums = np.abs(sum(weight * rng.laplace(size=10**6) for weight in weights))
        inside += [(sums <= width).sum() for width in widths]
    off = inside / 10**7 - confidences
    assert (np.abs(off) < 5 * np.sqrt(confidences * (1 - confidences) / 10**7)).all()


def coverage(release: ln.Release, confidence: float, draws: int) -> np.ndarray:
    """How often B·z falls inside, for discrete Laplace or rounded normal z of the plan's scale."""
    rng = np.random.default_rng(2)
    shape = release.strategy.B.shape[1], draws
    scale = release.noise.scale
    if release.noise.kind == "laplace":
        stop = -np.expm1(-1 / scale)
        z = rng.geometric(stop, shape) - rng.geometric(stop, shape)
    else:
        z = np.rint(scale * rng.standard_normal(shape))
    low, high = release.interval(confidence)
    errors = np.abs(release.strategy.B @ z) / 2.0**release.strategy.k
    return np.mean(errors <= (high - low)[:, None] / 2 * (1 + 1e-12), axis=1)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("max_total", [2**60, 2**32])
def test_coarse_lattices_count(kind: str, max_total: int) -> None:
    """With 2⁶⁰ records noise of a few units is all of the lattice there is room for: a continuous
    quantile covers 88% then, not 95%."""
    promise = {"epsilon": 2} if kind == "laplace" else {"rho": "1/2"}
    queries = [[1, 0, 0], [1, 1, 1]]
    plan = ln.plan(queries, **promise, mechanism="nod", max_total=max_total)
    held = coverage(plan.release([0, 0, 0]), 0.95, 200_000)
    assert (held > 0.95 - 0.0025).all()
    if max_total == 2**32:
        assert plan.strategy.k > 20
        assert held == pytest.approx(0.95, abs=0.0025)


def test_sparse_and_dense_strategies_give_the_same_intervals() -> None:
    rng = np.random.default_rng(0)
    queries = np.where(rng.random((40, 30)) < 0.2, 1.0, 0.0)
    queries[7] = 0
    plan = ln.plan(np.vstack([queries, np.eye(30)]), epsilon=1, mechanism="augmented")
    release = plan.release([0] * 30)
    block = plan.strategy.blocks[0]

    blocks = (replace(block, B=sparse.csr_array(block.B)),)
    part = replace(release.parts[0], strategy=replace(release.strategy, blocks=blocks))
    other = replace(release, parts=(part,))
    for together in (False, True):
        here, there = (one.interval(0.9, simultaneous=together) for one in (release, other))
        assert here.low == pytest.approx(there.low, rel=1e-9)
        assert here.low[7] == here.high[7] == 0


def test_one_count_has_the_interval_of_one_laplace_noise() -> None:
    release = ln.plan(np.eye(3), epsilon="1/2").release([5, 6, 7])
    assert release.interval(0.95).high - release.answers == pytest.approx(2 * np.log(20), rel=1e-6)
    together = release.interval(0.95, simultaneous=True).high - release.answers
    assert together == pytest.approx(-2 * np.log(1 - 0.95 ** (1 / 3)), rel=1e-6)
