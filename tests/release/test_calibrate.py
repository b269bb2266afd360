"""Noise scales: on the safe side always, and no larger than they must be."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import accountant, common
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release.calibrate import (
    MARGIN,
    Noise,
    calibrate,
    unit_scale,
    unit_sigma,
    unit_variance,
)
from leastnoise.release.gaussian import paper_sigma
from leastnoise.release.integers import IntegerStrategy, integer_strategy
from leastnoise.release.noise import privacy_loss
from leastnoise.release.privacy import Privacy, promise
from leastnoise.release.rounding import round_up, round_up_root

PAIRS = [
    ("1", "1e-6"),
    ("0.01", "1e-4"),
    ("1/3", "1e-12"),
    ("10", "1e-9"),
    ("0.1", "0.5"),
    ("5", "1e-30"),
]


def identity(scale: int, n: int = 3) -> IntegerStrategy:
    return integer_strategy([scale * np.eye(n, dtype=np.int64)], 0, 1)


def spent(privacy: Privacy, sigma: float) -> mpmath.mpf:
    """The part of δ that N(·, σ²) spends at sensitivity 1: ∫ max(0, p − e^ε·q)/δ for p = N(1, σ²),
    q = N(0, σ²), positive where x > εσ² + 1/2.

    Divided by δ before it is integrated: quadrature stops at an absolute error. In a context of
    its own, whose precision nobody else sets.
    """
    context = mpmath.MPContext()
    context.dps = 50
    exact = [context.mpf(x.numerator) / x.denominator for x in (privacy.epsilon, privacy.delta)]
    epsilon, delta, s = *exact, context.mpf(sigma)
    start, factor = epsilon * s**2 + context.mpf(1) / 2, context.exp(epsilon)

    def excess(x: mpmath.mpf) -> mpmath.mpf:
        return (context.npdf(x, 1, s) - factor * context.npdf(x, 0, s)) / delta

    ends = [start + s * step for step in (0, 0.125, 0.5, 1, 2, 4, 8, 16, 24)]
    share, error = context.quad(excess, ends, error=True)
    assert error < 1e-30
    return share


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_sigma_meets_the_integrated_definition_and_hardly_more(epsilon: str, delta: str) -> None:
    privacy = promise(epsilon, delta)
    sigma = unit_sigma(privacy)
    assert spent(privacy, sigma) <= 1
    assert spent(privacy, sigma * (1 - 1e-12)) > 1


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.01", "1e-4"), ("10", "1e-9")])
def test_sigma_agrees_with_dp_accounting(epsilon: str, delta: str) -> None:
    """Google's accountant solves by bisection in doubles, to about 1e-7."""
    parameters = common.DifferentialPrivacyParameters(float(epsilon), float(delta))
    theirs = accountant.get_smallest_gaussian_noise(parameters, num_queries=1, sensitivity=1)
    assert unit_sigma(promise(epsilon, delta)) == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS[:5])
def test_delta_agrees_with_dp_accounting(epsilon: str, delta: str) -> None:
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    loss = GaussianPrivacyLoss(unit_sigma(promise(epsilon, delta)))
    spent = loss.get_delta_for_epsilon(float(Fraction(epsilon)))
    assert spent == pytest.approx(float(delta), rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-6", "1e-300"), ("100", "1e-6"), ("10000", "1e-6"), ("1", "0.999")]
)
def test_extremes_are_solved(epsilon: str, delta: str) -> None:
    assert 0 < unit_sigma(promise(epsilon, delta)) < 1e9


@pytest.mark.parametrize(("epsilon", "delta"), [("1e-300", "1e-300"), ("1e5", "1e-6")])
def test_what_cannot_be_verified_is_refused(epsilon: str, delta: str) -> None:
    with pytest.raises(PrivacyError):
        unit_sigma(promise(epsilon, delta))


def test_zcdp_sigma_is_the_least_double() -> None:
    sigma = unit_sigma(promise(rho="0.1"))
    assert Fraction(sigma) ** 2 >= 5
    assert Fraction(math.nextafter(sigma, 0)) ** 2 < 5


def test_hand_worked_prices() -> None:
    assert unit_variance(promise(epsilon="1/2"), "laplace") == 8
    assert unit_variance(promise(epsilon="1/2", neighbors="change_one"), "laplace") == 32
    assert unit_variance(promise(rho="1/8", max_rows=3), "gaussian") == 36
    assert unit_scale(promise(epsilon="1/2", max_rows=3), "laplace") == 6


def test_noise_that_cannot_keep_the_promise_is_refused() -> None:
    with pytest.raises(InputError, match="Gaussian noise needs delta > 0 or rho"):
        unit_variance(promise(epsilon=1), "gaussian")
    with pytest.raises(InputError, match="Laplace noise needs epsilon"):
        unit_variance(promise(rho=1), "laplace")
    with pytest.raises(InputError, match="noise must be"):
        unit_variance(promise(epsilon=1), "cauchy")


positive = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**12)


@given(positive)
def test_round_up_is_the_least_double(number: Fraction) -> None:
    double = round_up(number)
    assert Fraction(double) >= number
    assert Fraction(math.nextafter(double, 0)) < number


@given(positive)
def test_round_up_root_is_the_least_double(square: Fraction) -> None:
    root = round_up_root(square)
    assert Fraction(root) ** 2 >= square
    assert Fraction(math.nextafter(root, 0)) ** 2 < square


@pytest.mark.parametrize("steps", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("root", [1.0, 1.4142135623730951, 2.0, 3.0, 1.9999999999999998, 0.1, 7e8])
def test_round_up_root_next_to_exact_squares(root: float, steps: int) -> None:
    square = Fraction(root) ** 2 * (1 + steps * Fraction(1, 10**30))
    expected = root if steps <= 0 else math.nextafter(root, math.inf)
    assert round_up_root(square) == expected


@given(
    epsilon=st.fractions(Fraction(1, 10**6), 50, max_denominator=10**9),
    entry=st.integers(1, 2**60),
    rows=st.integers(1, 5),
)
@settings(deadline=None)
def test_laplace_scale_is_safe_tight_and_accepted_by_opendp(
    epsilon: Fraction, entry: int, rows: int
) -> None:
    privacy = promise(epsilon, max_rows=rows)
    noise = calibrate(identity(entry), privacy, "laplace")
    least = rows * entry / epsilon
    assert least < Fraction(noise.scale) <= least * MARGIN * (1 + Fraction(1, 2**52))
    assert privacy_loss(noise, rows * entry) <= noise.limit == epsilon


@given(
    rho=st.fractions(Fraction(1, 10**9), 50, max_denominator=10**9),
    entry=st.integers(1, 2**60),
    rows=st.integers(1, 5),
)
@settings(deadline=None)
def test_gaussian_scale_is_safe_tight_and_accepted_by_opendp(
    rho: Fraction, entry: int, rows: int
) -> None:
    noise = calibrate(identity(entry), promise(rho=rho, max_rows=rows), "gaussian")
    least = Fraction(rows * entry) ** 2 / (2 * rho)
    assert least < Fraction(noise.scale) ** 2 <= least * (MARGIN + Fraction(1, 2**51)) ** 2
    assert privacy_loss(noise, float(rows * entry)) <= noise.limit == rho


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS[:3])
def test_gaussian_under_epsilon_delta_pays_for_the_lattice(epsilon: str, delta: str) -> None:
    """δ(σ/Δ) + (1 + e^ε)·r/(20σ²) ≤ δ with the σ that is really used."""
    privacy, entry, r = promise(epsilon, delta), 2**30, 3
    noise = calibrate(identity(entry, r), privacy, "gaussian")
    lattice = (1 + math.exp(privacy.epsilon)) * r / (20 * noise.scale**2)
    assert 1 - 1e-3 < spent(privacy, noise.scale / entry) + lattice / float(privacy.delta) <= 1
    assert privacy_loss(noise, float(entry)) <= noise.limit


def test_a_coarse_lattice_is_refused() -> None:
    with pytest.raises(PrivacyError, match="lattice is too coarse"):
        calibrate(identity(16), promise(1, "1e-6"), "gaussian")
    assert calibrate(identity(16), promise(rho=1), "gaussian").scale > 0


def test_the_lattice_may_cost_a_thousandth_of_delta_and_no_more() -> None:
    """(1 + e)/(20·(4.2247·E)²) ≤ 1e-9 from E = 3228 on."""
    privacy = promise(1, "1e-6")
    with pytest.raises(PrivacyError, match="lattice is too coarse"):
        calibrate(identity(3227, 1), privacy, "gaussian")
    assert calibrate(identity(3229, 1), privacy, "gaussian").scale > 0


def test_delta_beside_laplace_changes_nothing() -> None:
    pure = calibrate(identity(16), promise(1), "laplace")
    assert calibrate(identity(16), promise(1, "1e-6"), "laplace") == pure


def test_variance_bounds_the_discrete_one() -> None:
    assert Noise("laplace", 3.0, Fraction(1)).variance == 18
    assert Noise("gaussian", 3.0, Fraction(1)).variance == 9


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_the_paper_s_sigma_is_rounded_up_and_hardly(epsilon: str, delta: str) -> None:
    """√(8·ln(2/δ))/ε to 50 digits, at most two doubles below."""
    context = mpmath.MPContext()
    context.dps = 50
    exact = [context.mpf(x.numerator) / x.denominator for x in map(Fraction, (epsilon, delta))]
    stated = context.sqrt(8 * context.log(2 / exact[1])) / exact[0]
    sigma = paper_sigma(Fraction(epsilon), Fraction(delta))
    assert sigma >= stated
    assert math.nextafter(math.nextafter(sigma, 0), 0) < stated


@pytest.mark.parametrize(("epsilon", "times"), [("1", 7.81), ("0.1", 13.19), ("0.01", 26.60)])
def test_the_paper_s_variance_is_so_many_times_what_is_needed(epsilon: str, times: float) -> None:
    ours, theirs = (
        unit_variance(promise(epsilon, "1e-4", calibration=name), "gaussian")
        for name in ("analytic", "paper")
    )
    assert theirs / ours == pytest.approx(times, abs=0.01)


@pytest.mark.parametrize("epsilon", ["1", "93"])
def test_the_paper_s_noise_is_what_it_states_where_that_is_enough(epsilon: str) -> None:
    privacy = promise(epsilon, "1e-4", calibration="paper")
    assert unit_sigma(privacy) == paper_sigma(privacy.epsilon, privacy.delta)
    assert spent(privacy, unit_sigma(privacy)) < 1


@pytest.mark.parametrize(("epsilon", "delta"), [("94", "1e-4"), ("200", "1e-4"), ("22", "0.9")])
def test_the_paper_s_noise_is_refused_where_it_is_not_private(epsilon: str, delta: str) -> None:
    stated = paper_sigma(Fraction(epsilon), Fraction(delta))
    assert spent(promise(epsilon, delta), stated) > 1
    with pytest.raises(PrivacyError, match="does not keep this promise; leave calibration at"):
        unit_sigma(promise(epsilon, delta, calibration="paper"))


def test_the_paper_s_noise_scales_with_the_strategy_and_its_limit_follows() -> None:
    """Twice the records of a person, 2³⁰ times the sensitivity."""
    privacy = promise(1, "1e-4", max_rows=2, calibration="paper")
    noise = calibrate(identity(2**30), privacy, "gaussian")
    sigma = paper_sigma(Fraction(1), Fraction(1, 10**4))
    assert noise.scale == pytest.approx(2 * 2**30 * sigma, rel=1e-12)
    assert privacy_loss(noise, 2.0 * 2**30) <= noise.limit == 1 / (2 * Fraction(sigma) ** 2)


def test_laplace_noise_is_the_same_in_either_calibration() -> None:
    analytic, paper = (promise(1, "1e-4", calibration=name) for name in ("analytic", "paper"))
    assert calibrate(identity(16), paper, "laplace") == calibrate(identity(16), analytic, "laplace")
