"""A plan in a few lines of plain text."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from leastnoise.answers.intervals import NEGLIGIBLE
from leastnoise.release.privacy import Privacy
from leastnoise.strategy.goal import Goal

if TYPE_CHECKING:
    from leastnoise.answers.measured import Part
    from leastnoise.plan import Plan


def plan_summary(plan: "Plan") -> str:
    """What is promised, what will be measured, how accurate it will be, and what is proven."""
    (_, title), *facts = plan_facts(plan)
    return "\n".join([title, *(f"  {label:<9}  {text}" for label, text in facts)])


def plan_facts(plan: "Plan") -> list[tuple[str, str]]:
    """A label and a sentence each; the first is the title."""
    queries, cells = plan.workload.shape
    measured = plan.measurable.integers.rows
    facts = [
        (
            "plan",
            f"{queries:,} queries over {cells:,} cells ({plan.workload.classes:,} told apart)",
        ),
        ("promise", promise_text(plan.privacy, plan.noise)),
        ("strategy", f"{plan.mechanism}: {measured:,} numbers measured with {plan.noise} noise"),
        *((("note", plan.note),) if plan.note else ()),
        *((("given", _given(plan)),) if plan.given else ()),
        ("accuracy", _accuracy(plan.std)),
        ("error", f"{plan.expected_error:,.6g} expected {_figure(plan.goal)}"),
        ("proof", _proof(plan)),
    ]
    if (plan.measurable.bias > NEGLIGIBLE * plan.std).any():
        facts.append(("bias", _bias(plan)))
    return facts


def promise_text(privacy: Privacy, noise: str) -> str:
    """The promise and whom it protects: ε = 1, δ = 1e-06 for one record added or removed."""
    if privacy.rho is not None:
        budget = f"ρ = {number(privacy.rho)} (zCDP)"
    else:
        budget = f"ε = {number(privacy.epsilon)}"
        if privacy.delta:
            budget += f", δ = {number(privacy.delta)}"
    is_papers = privacy.calibration == "paper" and noise == "gaussian"
    papers = ", with the noise of the paper" if is_papers else ""
    return f"{budget} for {unit_text(privacy)}{papers}"


def unit_text(privacy: Privacy) -> str:
    """Whom the promise protects: one record added or removed."""
    records = "one record" if privacy.max_rows == 1 else f"{privacy.max_rows} records of one person"
    return f"{records} {'added or removed' if privacy.neighbors == 'add_remove' else 'changed'}"


def spending_text(part: "Part") -> str:
    """What a measurement promised, and who keeps count of it."""
    return f"{promise_text(part.privacy, part.noise.kind)}; {account_text(part)}"


def account_text(part: "Part") -> str:
    """The charge that paid for a measurement, or that there is none."""
    if part.account is None:
        return "unaccounted: no ledger keeps count of it"
    return f"charged to dataset {part.account.dataset!r} as {part.account.id!r}"


def number(value: Fraction | None) -> str:
    """A fraction as a person would write it: 0.1, 1e-06, 1/3."""
    if value is None:
        return "none"
    is_decimal = Fraction(repr(float(value))) == value
    return f"{float(value):g}" if is_decimal else str(value)


def _given(plan: "Plan") -> str:
    numbers = sum(len(y) for part in plan.given for y in part.numbers)
    return f"combined with {numbers:,} numbers measured before"


def _figure(goal: Goal) -> str:
    what = "in total" if goal.objective == "total" else "of the worst answer"
    is_weighted = bool((goal.weights != 1).any())
    return f"{what} (squared{', weighted' if is_weighted else ''})"


def _accuracy(std: np.ndarray) -> str:
    low, middle, high = np.quantile(std, [0, 0.5, 1])
    if np.isclose(low, high):
        return f"standard error {middle:,.4g} for every answer"
    return f"standard errors {low:,.4g} to {high:,.4g}, median {middle:,.4g}"


def _proof(plan: "Plan") -> str:
    certificate = plan.certificate
    if plan.given:
        return "none: no bound is known for measurements that are combined"
    if certificate is None:
        return "none asked for: mechanism='auto' proves a lower bound"
    percent = 100 * max(certificate.gap, 0)
    above = f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"
    return (
        f"no unbiased linear strategy has less than {certificate.lower_bound:,.6g}; "
        f"this one is {above} above"
    )


def _bias(plan: "Plan") -> str:
    worst = float(plan.measurable.bias.max())
    return (
        f"{_cause(plan)} may shift an answer by up to {worst:,.3g}; intervals are that much wider "
        f"(a smaller max_total makes it less)"
    )


def _cause(plan: "Plan") -> str:
    return "W is not quite BL, which" if plan.is_relaxed else "rounding"
