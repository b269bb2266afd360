"""How much privacy a wanted accuracy costs: P(‖ŷ − W·x‖ ≥ ξ) ≤ η, by theorem and by simulation.

With Δ = 1 and r rows of L, the paper's theorems (corrected, docs/paper.md) ask for at least

    ε, ℓ1      2·|||B|||₁·(r·ln 2 − ln η)/ξ
    ε, ℓ∞      2·|||B|||_∞·(Σ_{i≤r} ln(i/(i − ½)) − ln η)/ξ
    ε, δ, ℓ2   |||B|||₂·√(6·ln(2/δ)·((r/2)·ln 3 − ln η))/ξ
    ε, δ, ℓ∞   |||B|||_∞·√((6·ln r + 3·ln 3)·ln(2/δ)/η)/ξ

with the induced norms of B; those for (ε, δ) take σ = √(2·ln(2/δ))/ε, which is private for ε up to
about 9 at δ = 1e-4. They hold for every B of these norms, so they are far from tight for
one that is known: there the (1 − η)-quantile of ‖B·noise‖ at unit scale is simulated, its upper
confidence limit taken, and the largest scale for which it stays below ξ gives the least ε.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from numbers import Real
from typing import Any

import numpy as np

from leastnoise.errors import InputError
from leastnoise.plan import Plan
from leastnoise.release.calibrate import unit_sigma
from leastnoise.release.privacy import promise, whole
from leastnoise.strategy.ascent import checked_seed
from leastnoise.workload.matrices import dense

NORMS = {"l1": 1, "l2": 2, "max": np.inf}
_DEVIATIONS = 3.1  # of the normal: the simulated limit is below the true quantile once in 1,000
_TOGETHER = 2**22  # noises drawn at a time


@dataclass(frozen=True)
class Usefulness:
    """The least ε for (ξ, η)-usefulness: by the paper's theorem, where it has one for this norm and
    noise, and the simulated one, which is tight."""

    norm: str
    xi: float
    eta: float
    theorem: float | None
    tight: float

    def __str__(self) -> str:
        paper = "has none" if self.theorem is None else f"asks for ε = {self.theorem:.4g}"
        return (
            f"all errors together ({self.norm}) below {self.xi:,.6g} but for {self.eta:.3g} of the "
            f"time: ε = {self.tight:.4g}; the paper's theorem {paper}"
        )


def usefulness(
    plan: Plan,
    xi: float,
    eta: float = 0.05,
    norm: str = "max",
    *,
    runs: int = 20_000,
    seed: int = 0,
) -> Usefulness:
    """The least ε with which this plan's strategy is (ξ, η)-useful in a norm: l1, l2 or max.

    The plan's noise and δ are kept; its own ε does not matter.
    """
    _check(plan, xi, eta, norm)
    runs = whole(runs, "runs")
    B = _at_unit_sensitivity(plan)
    quantile = _quantile(
        B, plan.noise, NORMS[norm], eta, runs, np.random.default_rng(checked_seed(seed))
    )
    scale = xi / quantile / plan.privacy.multiplier
    tight = 1 / scale if plan.noise == "laplace" else _epsilon(scale, plan.privacy.delta)
    paper = _theorem(B, plan, NORMS[norm], xi, eta)
    return Usefulness(norm, xi, eta, paper, tight)


def _check(plan: Plan, xi: Any, eta: Any, norm: Any) -> None:
    if not isinstance(plan, Plan):
        raise InputError("usefulness takes a plan; make one with ln.plan")
    if plan.given:
        raise InputError("usefulness is for plans by themselves, not combined with a release")
    if plan.is_relaxed:
        raise InputError("usefulness is for plans that answer exactly; this one is relaxed")
    if not isinstance(norm, str) or norm not in NORMS:
        raise InputError(f"norm must be 'l1', 'l2' or 'max', not {norm!r}")
    if isinstance(xi, bool) or not isinstance(xi, Real) or not 0 < float(xi) < np.inf:
        raise InputError(f"xi must be a positive number, not {xi!r}")
    if isinstance(eta, bool) or not isinstance(eta, Real) or not 0 < float(eta) < 1:
        raise InputError(f"eta must lie between 0 and 1, such as 0.05, not {eta!r}")
    if plan.privacy.rho is not None:
        raise InputError("usefulness is a matter of epsilon; plan with epsilon, not rho")


def _at_unit_sensitivity(plan: Plan) -> np.ndarray:
    """B·Δ: what a strategy scaled to Δ = 1 is rebuilt with."""
    integers = plan.measurable.integers
    delta = integers.delta1 if plan.noise == "laplace" else sqrt(integers.delta2_squared)
    return np.hstack([dense(block.B) for block in plan.strategy.blocks]) * delta


def _theorem(B: np.ndarray, plan: Plan, norm: float, xi: float, eta: float) -> float | None:
    rows, c = B.shape[1], plan.privacy.multiplier
    size = float(np.linalg.norm(B, norm))
    if plan.noise == "laplace" and norm == 1:
        return c * 2 * size * (rows * log(2) - log(eta)) / xi
    if plan.noise == "laplace" and norm == np.inf:
        i = np.arange(1, rows + 1)
        return c * 2 * size * (float(np.log(i / (i - 0.5)).sum()) - log(eta)) / xi
    if plan.noise == "gaussian":
        doubt = log(2 / plan.delta)
        if norm == 2:
            return c * size * sqrt(6 * doubt * (rows / 2 * log(3) - log(eta))) / xi
        if norm == np.inf:
            return c * size * sqrt((6 * log(rows) + 3 * log(3)) * doubt / eta) / xi
    return None


def _quantile(
    B: np.ndarray, noise: str, norm: float, eta: float, runs: int, random: np.random.Generator
) -> float:
    """An upper confidence limit of the (1 − η)-quantile of ‖B·z‖, z of scale 1.

    The number of draws above the true quantile is binomial with mean η·runs. The limit is the draw
    that so few are above that one in a thousand simulations has as few (normal approximation).
    """
    draw = random.laplace if noise == "laplace" else random.normal
    step = max(1, _TOGETHER // B.shape[1])
    sizes = np.concatenate(
        [
            np.linalg.norm(B @ draw(0.0, 1.0, (B.shape[1], min(step, runs - start))), norm, axis=0)
            for start in range(0, runs, step)
        ]
    )
    above = int(runs * eta - _DEVIATIONS * sqrt(runs * eta * (1 - eta)))
    if above < 1:
        raise InputError(f"{runs} runs are too few for eta = {eta}; give more with runs=")
    return float(np.sort(sizes)[runs - above])


def _epsilon(sigma: float, delta: Fraction) -> float:
    """The least ε for which noise of this σ at Δ₂ = 1 is (ε, δ)-DP, to 1e-6, by bisection."""
    low, high = 1e-12, 1e-12
    while unit_sigma(promise(high, delta)) > sigma:
        low, high = high, high * 2
        if high > 1_000:
            raise InputError("no epsilon up to 1,000 gives this accuracy; ask for a larger xi")
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if unit_sigma(promise(middle, delta)) <= sigma else (middle, high)
    return high
