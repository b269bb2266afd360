"""A row of the report: what was asked, what was measured, whether it is met."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    figure: str
    target: str
    measured: str
    met: bool


def at_most(figure: str, limit: float, value: float, unit: str = "") -> Row:
    """A row that is met when the value does not exceed the limit; NaN does not."""
    return Row(figure, f"<= {limit:,.6g}{unit}", f"{value:,.6g}{unit}", value <= limit)


def at_least(figure: str, limit: float, value: float, unit: str = "") -> Row:
    """A row that is met when the value reaches the limit; NaN does not."""
    return Row(figure, f">= {limit:,.6g}{unit}", f"{value:,.6g}{unit}", value >= limit)


def gap_at_most(figure: str, limit: float, value: float) -> Row:
    """A row for a gap, which beyond rounding cannot be negative: nobody beats a bound."""
    return Row(figure, f"<= {limit:,.6g}", f"{value:,.6g}", -1e-9 <= value <= limit)


def close_to(figure: str, expected: float, value: float, relative: float = 1e-6) -> Row:
    """A row that is met when the value is the expected one, up to a relative error."""
    met = abs(value - expected) <= relative * abs(expected)
    return Row(figure, f"= {expected:,.8g}", f"{value:,.8g}", met)


def within(figure: str, expected: float, slack: float, value: float) -> Row:
    """A row that is met when the value is no farther than `slack` from the expected one."""
    met = abs(value - expected) <= slack
    return Row(figure, f"{expected:,.6g} ± {slack:,.2g}", f"{value:,.6g}", met)


Section = Callable[[int], Iterator[Row]]
"""seed → rows, each as soon as it is measured."""
