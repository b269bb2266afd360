"""τ = 1/(20σ²) bounds the total variation between discrete and rounded continuous Gaussians."""

from fractions import Fraction

import mpmath
import pytest
from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss

from leastnoise.release.calibrate import unit_sigma
from leastnoise.release.gaussian import rounding_slack
from leastnoise.release.privacy import promise


def total_variation(sigma: float) -> float:
    """½ Σ_z |P[discrete = z] − P[round(continuous) = z]|, over 14σ either side, at 30 digits."""
    with mpmath.workdps(30):
        points = range(-int(14 * sigma) - 2, int(14 * sigma) + 3)
        weights = [mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for z in points]
        cuts = [mpmath.ncdf((z - mpmath.mpf(1) / 2) / sigma) for z in [*points, points[-1] + 1]]
        total = sum(weights)
        gaps = [abs(w / total - (b - a)) for w, a, b in zip(weights, cuts, cuts[1:], strict=False)]
        return float(sum(gaps) / 2)


@pytest.mark.parametrize("sigma", [0.7, 1.0, 1.5, 2.0, 2.3, 5.0, 10.0, 31.7])
def test_tau_holds_with_room(sigma: float) -> None:
    """The proof gives 0.0202/σ² + 0.0315/σ³; the truth approaches 0.0202/σ² from below."""
    variation = total_variation(sigma)
    assert variation < 1 / (20 * sigma**2)
    assert variation < 0.0202 / sigma**2 + 0.0315 / sigma**3


def test_tau_is_of_the_right_order() -> None:
    assert total_variation(20.0) > 1 / (51 * 20.0**2)


def test_proven_bound_is_below_tau_from_two_on() -> None:
    for sigma in (2.0, 3.0, 100.0):
        assert 0.0202 / sigma**2 + 0.0315 / sigma**3 < 1 / (20 * sigma**2)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.3, 1e-5), (3.0, 1e-8)])
def test_discrete_delta_stays_within_the_slack(epsilon: float, delta: float) -> None:
    """Google's exact δ of the one-dimensional discrete Gaussian, on lattices of several widths."""
    privacy = promise(epsilon, delta)
    for sensitivity in (1, 2, 5, 20):
        sigma = sensitivity * unit_sigma(privacy)
        if sigma < 2:
            continue
        loss = DiscreteGaussianPrivacyLoss(sigma, sensitivity, truncation_bound=int(40 * sigma))
        slack = float(rounding_slack(privacy.epsilon, 1, Fraction(sigma) ** 2))
        assert loss.get_delta_for_epsilon(epsilon) <= delta + slack


def test_the_analytic_sigma_alone_is_not_safe_on_a_coarse_lattice() -> None:
    """ε = 3, δ = 1e-3 at sensitivity 1: the discrete Gaussian spends 1.47 times δ."""
    sigma = unit_sigma(promise(3, 1e-3))
    loss = DiscreteGaussianPrivacyLoss(sigma, 1, truncation_bound=100)
    assert loss.get_delta_for_epsilon(3) > 1.4e-3
