"""The least Gaussian σ at unit ℓ2 sensitivity, by the analytic condition, in high precision."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from leastnoise.errors import PrivacyError
from leastnoise.release.rounding import round_up_root

DIGITS = 60
MOST_EPSILON = 10_000  # past it σ < 1/100, and 60 digits take their time over e^ε


@lru_cache(maxsize=1024)
def analytic_sigma(epsilon: Fraction, delta: Fraction) -> float:
    """The least double σ with δ(σ) ≤ δ, where

        δ(σ) = Φ(1/2σ − εσ) − e^ε·Φ(−1/2σ − εσ)

    is the least δ for which Gaussian noise at sensitivity 1 is (ε, δ)-DP: Balle & Wang, ICML 2018,
    Theorem 8. δ(σ) falls as σ grows, so bisection over the doubles finds it.
    """
    if epsilon > MOST_EPSILON:
        raise PrivacyError(f"Gaussian noise needs epsilon of at most {MOST_EPSILON}")
    keeps = _condition(epsilon, delta)
    low, high = _bracket(keeps)
    while (middle := low + (high - low) / 2) not in (low, high):
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def paper_sigma(epsilon: Fraction, delta: Fraction) -> float:
    """1/h = √(8·ln(2/δ))/ε, the noise of Yuan et al. (TODS 2015) at sensitivity 1, rounded up.

    It is here to reproduce their figures. Whoever uses it must see that it is no less than
    `analytic_sigma`: above an ε of about 94 at δ = 1e-4 it is.
    """
    import mpmath  # type: ignore[import-untyped, unused-ignore]

    context: Any = mpmath.MPContext()
    context.dps = DIGITS
    doubt = context.log(context.mpf(2 * delta.denominator) / delta.numerator)
    sigma = context.sqrt(8 * doubt) * epsilon.denominator / epsilon.numerator
    return math.nextafter(float(sigma), math.inf)


def _bracket(keeps: Callable[[float], bool]) -> tuple[float, float]:
    """Neighbouring powers of two, the upper of which keeps the promise."""
    high = 1.0
    while not keeps(high):
        high *= 2
        if high > 2.0**200:
            raise PrivacyError("no Gaussian noise can be verified here; give a larger delta")
    while keeps(high / 2):
        high /= 2
    return high / 2, high


def _condition(epsilon: Fraction, delta: Fraction) -> Callable[[float], bool]:
    """σ ↦ whether δ(σ) ≤ δ, surely: the difference cancels at most Φ(a), computed to 60 digits,
    so 1e-50 of it covers every rounding."""
    import mpmath  # type: ignore[import-untyped, unused-ignore]

    context: Any = mpmath.MPContext()
    context.dps = DIGITS
    eps = context.mpf(epsilon.numerator) / epsilon.denominator
    most = context.mpf(delta.numerator) / delta.denominator
    factor, doubt = context.exp(eps), context.mpf(10) ** -50

    def keeps(sigma: float) -> bool:
        half, shift = 1 / (2 * context.mpf(sigma)), eps * sigma
        first, second = context.ncdf(half - shift), factor * context.ncdf(-half - shift)
        return bool(first - second + doubt * first <= most)

    return keeps


def rounding_slack(epsilon: Fraction, rows: int, variance: Fraction) -> Fraction:
    """(1 + e^ε)·τ: what r discrete draws of this σ² cost beyond continuous ones.

    It holds for σ ≥ 2 (docs/privacy.md), which follows where the result is below 1/100.
    """
    return lattice_cost(epsilon, lattice_distance(rows, variance))


def lattice_distance(rows: int, variance: Fraction) -> Fraction:
    """τ = r/(20σ²), which bounds the total variation between discrete and rounded continuous
    Gaussian noise where σ ≥ 2."""
    return rows / (20 * variance)


def lattice_cost(epsilon: Fraction, distance: Fraction) -> Fraction:
    """(1 + e^ε)·τ, rounded up. No lattice of 62 bits is fine enough beyond ε = 100."""
    if epsilon > 100:
        return Fraction(1)
    power = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 2**40))  # exp errs by 1e-14 at most
    return (1 + power) * distance


def least_epsilon(rho: Fraction, delta: Fraction) -> float:
    """The least ε, to a millionth and rounded up, at which Gaussian noise of this ρ is (ε, δ)-DP.

    The inverse of `analytic_sigma`, for people to read: σ = 1/√(2ρ), rounded down.
    """
    sigma = math.nextafter(1 / round_up_root(2 * rho), 0)
    low, high = 0.0, 1.0
    while not _condition(Fraction(high), delta)(sigma):
        low, high = high, 2 * high
        if high > MOST_EPSILON:
            raise PrivacyError("this much ρ is worth no ε that could be told")
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _condition(Fraction(middle), delta)(sigma) else (middle, high)
    return high
