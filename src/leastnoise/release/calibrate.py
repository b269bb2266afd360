"""How much noise keeps the promise: exact fractions, and doubles rounded against us."""

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release.gaussian import analytic_sigma, paper_sigma, rounding_slack
from leastnoise.release.integers import IntegerStrategy
from leastnoise.release.privacy import Privacy
from leastnoise.release.rounding import round_up, round_up_root

KINDS = ("laplace", "gaussian")

# OpenDP's map rounds at most five times, up, by 2⁻⁵² each. Of a scale larger by 2⁻⁴⁸ it says less
# than the promise, also where the promise (1/10, say) is no double.
MARGIN = 1 + Fraction(1, 2**48)


@dataclass(frozen=True)
class Noise:
    """Discrete Laplace or Gaussian noise of this scale, in lattice units.

    `limit` is what OpenDP's map at the sensitivity may not exceed: ε for Laplace, ρ for Gaussian.
    """

    kind: str
    scale: float
    limit: Fraction

    @property
    def variance(self) -> float:
        """2·scale² or scale², in squared lattice units; the discrete variance is not above it."""
        return self.scale**2 * (2 if self.kind == "laplace" else 1)


def calibrate(strategy: IntegerStrategy, privacy: Privacy, kind: str) -> Noise:
    """The least noise, to 1e-14, that keeps the promise when `strategy` is measured once.

    Laplace: scale ≥ c·Δ₁/ε. Gaussian: σ ≥ c·Δ₂·σ₁. Both exactly, as fractions.
    """
    check_kind(privacy, kind)
    if kind == "laplace":
        epsilon = _given(privacy.epsilon)
        exact_scale = privacy.multiplier * strategy.delta1 / epsilon
        return Noise(kind, round_up(MARGIN * exact_scale), epsilon)
    sigma = Fraction(unit_sigma(privacy, _slack(strategy, privacy)))
    variance = (privacy.multiplier * sigma) ** 2 * strategy.delta2_squared
    return Noise(kind, round_up_root(MARGIN**2 * variance), privacy.rho or 1 / (2 * sigma**2))


def unit_sigma(privacy: Privacy, slack: Fraction = Fraction(0)) -> float:
    """σ₁: the least double for which Gaussian noise at ℓ2 sensitivity 1 keeps the promise.

    ρ-zCDP: σ₁² ≥ 1/(2ρ) (Bun & Steinke 2016, Proposition 1.6). (ε, δ)-DP: `analytic_sigma` at
    δ − `slack`, or the larger `paper_sigma` where that is wished. Without c, the `multiplier`.
    """
    check_kind(privacy, "gaussian")
    if privacy.rho is not None:
        return round_up_root(1 / (2 * privacy.rho))
    needed = analytic_sigma(_given(privacy.epsilon), privacy.delta - slack)
    if privacy.calibration == "analytic":
        return needed
    stated = paper_sigma(_given(privacy.epsilon), privacy.delta)
    if stated < needed:
        raise PrivacyError(
            "the paper's Gaussian noise does not keep this promise; leave calibration at 'analytic'"
        )
    return stated


def unit_scale(privacy: Privacy, kind: str) -> float:
    """The noise scale of one measurement at sensitivity 1: c/ε for Laplace, c·σ₁ for Gaussian."""
    check_kind(privacy, kind)
    if kind == "laplace":
        return round_up(privacy.multiplier / _given(privacy.epsilon))
    return round_up(privacy.multiplier * Fraction(unit_sigma(privacy)))


def unit_variance(privacy: Privacy, kind: str) -> float:
    """The variance of one measurement at sensitivity 1: 2c²/ε² for Laplace, c²σ₁² for Gaussian."""
    return unit_scale(privacy, kind) ** 2 * (2 if kind == "laplace" else 1)


def check_kind(privacy: Privacy, kind: str) -> None:
    """Refuse noise that cannot keep this promise at any scale."""
    if kind not in KINDS:
        raise InputError(f"noise must be 'laplace' or 'gaussian', not {kind!r}")
    if kind == "laplace" and privacy.epsilon is None:
        raise InputError("Laplace noise needs epsilon; with rho use Gaussian noise")
    if kind == "gaussian" and privacy.rho is None and not privacy.delta:
        raise InputError("Gaussian noise needs delta > 0 or rho")


def _slack(strategy: IntegerStrategy, privacy: Privacy) -> Fraction:
    """The part of δ kept for the lattice: (1 + e^ε)·r/(20σ²), with the σ that the whole of δ
    would ask for. The final σ is not smaller, so its own slack is not larger."""
    if privacy.epsilon is None:
        return Fraction(0)  # the discrete Gaussian is ρ-zCDP exactly, on any lattice
    sigma = privacy.multiplier * Fraction(unit_sigma(privacy))
    slack = rounding_slack(privacy.epsilon, strategy.rows, sigma**2 * strategy.delta2_squared)
    if slack > privacy.delta / 1000:
        raise PrivacyError(
            "the lattice is too coarse for Gaussian noise at this delta; "
            "give a smaller max_total, or use Laplace noise or rho"
        )
    return Fraction(round_up(slack))


def _given(epsilon: Fraction | None) -> Fraction:
    if epsilon is None:
        raise InputError("this noise needs epsilon")
    return epsilon
