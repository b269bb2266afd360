"""What is spent and left of a budget, for people to read."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from leastnoise.release.budget import Charge
from leastnoise.release.gaussian import least_epsilon
from leastnoise.release.privacy import Privacy
from leastnoise.show.table import Table
from leastnoise.show.text import number, promise_text

if TYPE_CHECKING:
    from leastnoise.records.ledger import Spending, Statement

_READING_DELTA = Fraction(1, 10**6)  # where a budget has no δ of its own
_MOST_READ = 50  # ε beyond which nobody wants a sharper figure


def budget_text(dataset: str, promise: str) -> str:
    """What a dataset may be asked for in all."""
    return f"{dataset}: at most {promise}, in all"


def statement_table(statement: "Statement") -> Table:
    """Every charge and what came of it, then what is spent and left, and what to do."""
    rows = [
        (
            one.id,
            _cost(one.charge),
            one.time,
            "unfinished" if one.answered is None else "answered",
        )
        for one in statement.spendings
    ]
    headings = ("release", "spent", "when", "state")
    title = budget_text(statement.dataset, promise_text(statement.budget, "laplace"))
    return Table(headings, rows, headings, [*_standing(statement), *_to_do(statement)], title=title)


def _cost(charge: Charge) -> str:
    return f"ε = {number(charge.epsilon)}" if charge.rho is None else f"ρ = {_short(charge.rho)}"


def _standing(statement: "Statement") -> list[str]:
    """What is spent of ε and ρ, and what is left: the one or the other where both are for it."""
    now, budget = statement.balance, statement.budget
    spent = [f"ε = {_short(now.epsilon_spent)}"] if now.epsilon_left is not None else []
    if now.rho_left is not None:
        spent.append(f"ρ = {_short(now.rho_spent)}{_converted(now.rho_spent, budget)}")
    left = [
        f"{unit} = {_short(most)}{noise if len(spent) > 1 else ''}"
        for unit, most, noise in (
            ("ε", now.epsilon_left, " for Laplace noise"),
            ("ρ", now.rho_left, " for Gaussian noise"),
        )
        if most is not None
    ]
    lines = [f"spent {' and '.join(spent)}; left {' or '.join(left)}"]
    charges = [one.charge for one in statement.spendings]
    return [*lines, *(_pld(charges, budget) if charges else [])]


def _converted(rho: Fraction, budget: Privacy) -> str:
    """What ρ of Gaussian noise is worth at the δ of a budget."""
    if not (rho and budget.delta):
        return ""
    return f" (ε = {least_epsilon(rho, budget.delta):.4g} at δ = {number(budget.delta)})"


def _pld(charges: Sequence[Charge], budget: Privacy) -> list[str]:
    """Google's accountant on the same releases: a sharper figure, for reading only."""
    if sum(one.epsilon or 0 for one in charges if one.is_pure) > _MOST_READ:
        return []
    delta = budget.delta or _READING_DELTA
    return [
        f"for reading: had all been chosen beforehand, ε = {pld_epsilon(charges, delta):.4g} "
        f"at δ = {number(delta)} (privacy loss distributions)"
    ]


def pld_epsilon(charges: Sequence[Charge], delta: Fraction) -> float:
    """ε at δ of all charges together, by their privacy loss distributions: of randomised response
    for pure ε, which no ε-DP release exceeds, and of continuous Gaussian noise."""
    import dp_accounting.pld.common as common  # type: ignore[import-untyped, unused-ignore]
    import dp_accounting.pld.privacy_loss_distribution as pld  # type: ignore[import-untyped, unused-ignore]

    losses = [
        pld.from_privacy_parameters(common.DifferentialPrivacyParameters(float(one.epsilon or 0)))
        if one.rho is None
        else pld.from_gaussian_mechanism(float(1 / (2 * one.rho)) ** 0.5)
        for one in charges
    ]
    return float(reduce(lambda one, other: one.compose(other), losses).get_epsilon_for_delta(delta))


def _to_do(statement: "Statement") -> list[str]:
    lines = [
        f"{one.id}: charged and not answered. If no process is at it now, it was stopped; it stays "
        f"spent, because data may have been read. Ask again under a new id."
        for one in statement.spendings
        if one.answered is None
    ]
    if _was_set_back(statement.spendings):
        lines.append("the clock was set back in between; lines stand in the order of their charges")
    return lines


def _was_set_back(spendings: Sequence["Spending"]) -> bool:
    times = [one.time for one in spendings]
    return times != sorted(times)


def _short(value: Fraction) -> str:
    """Six digits."""
    return f"{float(value):.6g}"
