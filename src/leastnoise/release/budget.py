"""How releases of one dataset add up, and whether one more still fits: exact, whatever was chosen.

A budget is a promise kept by all releases together, for one unit of protection. Analysts may choose
each release after seeing the answers of those before it, so the sum is over what was really
asked, and a release is admitted only if the sum with it stays inside (a privacy filter: Rogers,
Roth, Ullman & Vadhan 2016). docs/privacy.md proves each rule.

    budget      Laplace release of ε       Gaussian release of ρ       fits while
    ε           ε                          never                       Σ ≤ ε
    ρ           ε²/2                       ρ                           Σ ≤ ρ
    (ε, δ)      ε, before any Gaussian     ρ                           Σε ≤ ε, then Σ ≤ R(ε − Σε, δ)
                (π/4)·ε², after the first

R(ε, δ) is the ρ of the Gaussian noise that is (ε, δ)-DP. Beside that the first Gaussian release
fits where its own promise does: its ε with those before it, and its δ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.errors import PrivacyError
from leastnoise.release.calibrate import Noise
from leastnoise.release.gaussian import analytic_sigma, lattice_cost, lattice_distance
from leastnoise.release.integers import IntegerStrategy
from leastnoise.release.privacy import Privacy
from leastnoise.release.rounding import round_up

QUARTER_OF_PI = Fraction(3927, 5000)  # π/4 = 0.785398…, rounded up
LATTICE_SHARE = Fraction(1, 1000)  # of δ, kept for what all lattices together cost


@dataclass(frozen=True)
class Charge:
    """What one release costs: ε of pure privacy, or ρ and the distance τ from continuous noise.

    `epsilon` and `delta` of a Gaussian release are its own promise, if it is one of ε and δ.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    lattice: Fraction

    @property
    def is_pure(self) -> bool:
        """Laplace noise: ε-DP, whatever δ stood in the promise."""
        return self.rho is None


@dataclass(frozen=True)
class Balance:
    """Spent and room in one unit, "ε" or "ρ"; `before` is the ε spent before ρ was counted."""

    unit: str
    spent: Fraction
    room: Fraction
    before: Fraction = Fraction(0)

    @property
    def left(self) -> Fraction:
        return max(self.room - self.spent, Fraction(0))


def charge(strategy: IntegerStrategy, noise: Noise, privacy: Privacy) -> Charge:
    """What `measure` will spend: the limits that it checks, and τ = r/(20σ²)."""
    if noise.kind == "laplace":
        return Charge(noise.limit, Fraction(0), None, Fraction(0))
    rho = noise.limit if privacy.rho is not None else Fraction(round_up(noise.limit))
    distance = lattice_distance(strategy.rows, Fraction(noise.scale) ** 2)
    return Charge(privacy.epsilon, privacy.delta, rho, Fraction(round_up(distance)))


def require_room(budget: Privacy, spent: Sequence[Charge], new: Charge) -> None:
    """Refuse a release that does not fit beside what was spent."""
    if not new.is_pure and budget.rho is None and not budget.delta:
        raise PrivacyError(
            "a budget of pure ε has no room for Gaussian noise; plan with noise='laplace'"
        )
    if not (_fits(budget, [*spent, new]) or _is_promised(budget, spent, new)):
        left = balance(budget, spent)
        raise PrivacyError(
            f"the release needs {_needed(budget, spent, new)} and the budget has "
            f"{left.unit} = {float(left.left):.6g} left; plan with less, or stop here"
        )


def balance(budget: Privacy, charges: Sequence[Charge]) -> Balance:
    """Where a budget stands after these charges, in order."""
    if budget.rho is not None:
        return Balance("ρ", sum(map(_concentrated, charges), Fraction(0)), budget.rho)
    pure, later = _phases(charges)
    before = sum((_given(one.epsilon) for one in pure), Fraction(0))
    if not later:
        return Balance("ε", before, _given(budget.epsilon))
    spent = sum(map(_gaussian, later), Fraction(0))
    return Balance("ρ", spent, _room(_given(budget.epsilon) - before, budget.delta), before)


def _fits(budget: Privacy, charges: Sequence[Charge]) -> bool:
    """Whether the sum stays inside, and the lattices inside their share of δ."""
    now = balance(budget, charges)
    if now.spent > now.room:
        return False
    if now.unit == "ε" or budget.rho is not None:
        return True
    distance = sum((one.lattice for one in charges), Fraction(0))
    left = _given(budget.epsilon) - now.before
    return lattice_cost(left, distance) <= budget.delta * LATTICE_SHARE


def _is_promised(budget: Privacy, spent: Sequence[Charge], new: Charge) -> bool:
    """The first Gaussian release, by its own (ε, δ) beside the ε of those before it."""
    if budget.rho is not None or new.is_pure or new.epsilon is None:
        return False
    pure, later = _phases(spent)
    before = sum((_given(one.epsilon) for one in pure), Fraction(0))
    return (
        not later and before + new.epsilon <= _given(budget.epsilon) and (new.delta <= budget.delta)
    )


def _phases(charges: Sequence[Charge]) -> tuple[Sequence[Charge], Sequence[Charge]]:
    """The pure releases before the first Gaussian one, and the rest."""
    first = next((i for i, one in enumerate(charges) if not one.is_pure), len(charges))
    return charges[:first], charges[first:]


def _concentrated(one: Charge) -> Fraction:
    """ρ of ρ-zCDP: that of Gaussian noise, or ε²/2 (Bun & Steinke 2016, Proposition 1.4)."""
    return _given(one.epsilon) ** 2 / 2 if one.rho is None else one.rho


def _gaussian(one: Charge) -> Fraction:
    """μ²/2 of μ-GDP: ρ of Gaussian noise; for pure ε at most (π/4)·ε²."""
    return QUARTER_OF_PI * _given(one.epsilon) ** 2 if one.rho is None else one.rho


def _room(epsilon: Fraction, delta: Fraction) -> Fraction:
    """R(ε, δ) = 1/2σ² with the least σ that is (ε, δ)-DP at sensitivity 1, but for the lattices."""
    if epsilon <= 0:
        return Fraction(0)
    return 1 / (2 * Fraction(analytic_sigma(epsilon, delta * (1 - LATTICE_SHARE))) ** 2)


def _needed(budget: Privacy, spent: Sequence[Charge], new: Charge) -> str:
    counted = balance(budget, [*spent, new])
    before = balance(budget, spent)
    if counted.unit != before.unit:
        return f"ρ = {float(counted.spent):.6g} of at most {float(counted.room):.6g}"
    return f"{counted.unit} = {float(counted.spent - before.spent):.6g}"


def _given(value: Fraction | None) -> Fraction:
    if value is None:
        raise PrivacyError("a pure charge or budget needs epsilon")
    return value
