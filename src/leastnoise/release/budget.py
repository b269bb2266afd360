"""How releases of one dataset add up, and whether one more still fits: exact, whatever was chosen.

A budget is a promise kept by all releases together, for one unit of protection. Analysts may choose
each release after seeing the answers of those before it, so the sum is over what was really asked,
and a release is admitted only if all of them together stay inside: a privacy filter (Rogers, Roth,
Ullman & Vadhan 2016). docs/privacy.md proves each rule. A Laplace release costs its ε, a Gaussian
one its ρ, or by its own promise (ε, δ).

    budget ε       Σε ≤ ε, Laplace noise only
    budget ρ       Σρ + Σε²/2 ≤ ρ
    budget (ε, δ)  while all noise is Laplace, Σε ≤ ε. At the first Gaussian release ε' is left;
                   from there on one of five rules must hold, each of which has a share of δ:

        promises   Σε ≤ ε' and Σδ ≤ δ/2, over the promises of all
        j = 0…3    Σε ≤ j/4·ε' over Laplace, Σρ ≤ R((1 − j/4)·ε', δ/8) over Gaussian noise

R(ε, δ) is the ρ of the Gaussian noise that is (ε, δ)-DP. A first Gaussian release that fits no rule
may be the last one, where its own promise does not exceed ε' and δ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.errors import PrivacyError
from leastnoise.release.calibrate import Noise
from leastnoise.release.gaussian import analytic_sigma, lattice_cost, lattice_distance
from leastnoise.release.integers import IntegerStrategy
from leastnoise.release.privacy import Privacy
from leastnoise.release.rounding import round_up

PROMISES_SHARE = Fraction(1, 2)  # of δ, for releases that each take some of it
WAYS = 4  # to divide ε between Laplace and Gaussian noise; the other half of δ is theirs
LATTICE_SHARE = Fraction(1, 1000)  # of the δ of each way, for what all lattices together cost


@dataclass(frozen=True)
class Charge:
    """What one release costs: its promise, and ρ and the distance τ from continuous noise if that
    is Gaussian. A promise of ρ has no `epsilon`."""

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
    """Spent and left, of ε on Laplace and of ρ on Gaussian noise; left is None where such noise is
    not for this budget. With both, the one or the other is left. In a budget of ρ all is in ρ."""

    epsilon_spent: Fraction
    rho_spent: Fraction
    epsilon_left: Fraction | None
    rho_left: Fraction | None


@dataclass(frozen=True)
class _Way:
    """A part of ε for Laplace noise, the rest for Gaussian noise at a part of δ."""

    laplace: Fraction
    gaussian: Fraction
    delta: Fraction

    @property
    def room(self) -> Fraction:
        """R = 1/2σ², with the least σ that is (ε, δ)-DP at sensitivity 1; lattices aside."""
        if not self.gaussian:
            return Fraction(0)
        kept = self.delta * (1 - LATTICE_SHARE)
        return 1 / (2 * Fraction(analytic_sigma(self.gaussian, kept)) ** 2)

    def holds(self, charges: Sequence[Charge]) -> bool:
        """Whether all of them fit this way."""
        distance = sum((one.lattice for one in charges), Fraction(0))
        return (
            _pure(charges) <= self.laplace
            and _rho(charges) <= self.room
            and lattice_cost(self.gaussian, distance) <= self.delta * LATTICE_SHARE
        )


def charge(strategy: IntegerStrategy, noise: Noise, privacy: Privacy) -> Charge:
    """What `measure` will spend: the limits that it checks, and τ = r/(20σ²)."""
    if noise.kind == "laplace":
        return Charge(noise.limit, Fraction(0), None, Fraction(0))
    rho = noise.limit if privacy.rho is not None else Fraction(round_up(noise.limit))
    distance = lattice_distance(strategy.rows, Fraction(noise.scale) ** 2)
    return Charge(privacy.epsilon, privacy.delta, rho, Fraction(round_up(distance)))


def require_room(budget: Privacy, spent: Sequence[Charge], new: Charge) -> None:
    """Refuse a release that does not fit beside those before it."""
    if not new.is_pure and budget.rho is None and not budget.delta:
        raise PrivacyError(
            "a budget of pure ε has no room for Gaussian noise; plan with noise='laplace'"
        )
    if not fits(budget, spent, new):
        raise PrivacyError(
            f"the release needs {_cost(budget, new)} and the budget has "
            f"{_left(balance(budget, spent))} left; plan with less, or stop here"
        )


def fits(budget: Privacy, spent: Sequence[Charge], new: Charge) -> bool:
    """Whether all together keep the promise of the budget, whatever led to their choice."""
    charges = [*spent, new]
    if budget.rho is not None:
        return _concentrated(charges) <= budget.rho
    before, later = _phases(charges)
    left = _given(budget.epsilon) - _pure(before)
    if not later:
        return left >= 0
    return _follows_a_rule(left, budget.delta, later) or (
        len(later) == 1 and _is_promised(left, budget.delta, new)
    )


def balance(budget: Privacy, charges: Sequence[Charge]) -> Balance:
    """Where a budget stands after these charges, in order."""
    pure, rho = _pure(charges), _rho(charges)
    if budget.rho is not None:
        spent = _concentrated(charges)
        return Balance(Fraction(0), spent, None, budget.rho - spent)
    before, later = _phases(charges)
    left = _given(budget.epsilon) - _pure(before)
    if not budget.delta:
        return Balance(pure, rho, left, None)
    ways = [one for one in _ways(left, budget.delta) if one.holds(later)]
    more = [one.laplace - _pure(later) for one in ways]
    if not later:
        more = [left]
    elif _keeps_promises(left, budget.delta, later):
        more += [left - _promised(later)]
    room = [one.room - _rho(later) for one in ways]
    return Balance(pure, rho, max(more, default=Fraction(0)), max(room, default=Fraction(0)))


def _follows_a_rule(epsilon: Fraction, delta: Fraction, charges: Sequence[Charge]) -> bool:
    """One of the five rules for releases from the first Gaussian one on."""
    return _keeps_promises(epsilon, delta, charges) or any(
        way.holds(charges) for way in _ways(epsilon, delta)
    )


def _keeps_promises(epsilon: Fraction, delta: Fraction, charges: Sequence[Charge]) -> bool:
    """Σε and Σδ of their own promises; one of ρ makes none of these."""
    return (
        all(one.epsilon is not None for one in charges)
        and _promised(charges) <= epsilon
        and sum((one.delta for one in charges), Fraction(0)) <= delta * PROMISES_SHARE
    )


def _ways(epsilon: Fraction, delta: Fraction) -> Iterator[_Way]:
    share = (1 - PROMISES_SHARE) / WAYS
    for j in range(WAYS):
        laplace = max(epsilon, Fraction(0)) * j / WAYS
        yield _Way(laplace, max(epsilon, Fraction(0)) - laplace, delta * share)


def _is_promised(epsilon: Fraction, delta: Fraction, one: Charge) -> bool:
    return one.epsilon is not None and one.epsilon <= epsilon and one.delta <= delta


def _phases(charges: Sequence[Charge]) -> tuple[Sequence[Charge], Sequence[Charge]]:
    """The pure releases before the first Gaussian one, and the rest."""
    first = next((i for i, one in enumerate(charges) if not one.is_pure), len(charges))
    return charges[:first], charges[first:]


def _pure(charges: Sequence[Charge]) -> Fraction:
    """Σε of Laplace noise."""
    return sum((_given(one.epsilon) for one in charges if one.is_pure), Fraction(0))


def _promised(charges: Sequence[Charge]) -> Fraction:
    """Σε of all promises."""
    return sum((_given(one.epsilon) for one in charges), Fraction(0))


def _rho(charges: Sequence[Charge]) -> Fraction:
    """Σρ of Gaussian noise."""
    return sum((one.rho for one in charges if one.rho is not None), Fraction(0))


def _concentrated(charges: Sequence[Charge]) -> Fraction:
    """Σρ, where ε-DP is ε²/2-zCDP (Bun & Steinke 2016, Proposition 1.4)."""
    squares = [_given(one.epsilon) ** 2 for one in charges if one.is_pure]
    return _rho(charges) + sum(squares, Fraction(0)) / 2


def _cost(budget: Privacy, one: Charge) -> str:
    if budget.rho is None and one.is_pure:
        return f"ε = {float(_given(one.epsilon)):.6g}"
    return f"ρ = {float(_concentrated([one])):.6g}"


def _left(now: Balance) -> str:
    named = (("ε", now.epsilon_left), ("ρ", now.rho_left))
    return " or ".join(f"{unit} = {float(left):.6g}" for unit, left in named if left is not None)


def _given(value: Fraction | None) -> Fraction:
    if value is None:
        raise PrivacyError("this charge or budget has no epsilon")
    return value
