"""The promise: ε and δ (or ρ), for whom, as exact numbers."""

import math
import numbers
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import index

import numpy as np

from leastnoise.errors import InputError

NEIGHBORS = ("add_remove", "change_one")
CALIBRATIONS = ("analytic", "paper")
_LONGEST_TEXT = 100
_LARGEST_EXPONENT = 400  # beyond every double; keeps "1e999999999" from filling the memory


@dataclass(frozen=True)
class Privacy:
    """What is promised to whom.

    (ε, δ)-DP where `epsilon` is given, ρ-zCDP where `rho` is; for tables that differ in all the
    records of one person: at most `max_rows` records added or removed, or changed. `calibration`
    "paper" asks for the Gaussian noise of the paper, which is never less than what is needed.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    max_rows: int
    neighbors: str
    calibration: str = "analytic"

    @property
    def multiplier(self) -> int:
        """c: the factor on every sensitivity; changing a record is removing one and adding one."""
        return self.max_rows * (2 if self.neighbors == "change_one" else 1)


def promise(
    epsilon: object = None,
    delta: object = 0,
    rho: object = None,
    max_rows: int = 1,
    neighbors: str = "add_remove",
    calibration: str = "analytic",
) -> Privacy:
    """A validated `Privacy`; exactly one of `epsilon` and `rho` is given."""
    if (epsilon is None) == (rho is None):
        raise InputError("give exactly one of epsilon and rho")
    exact_delta = exact(delta, "delta")
    if not 0 <= exact_delta < 1:
        raise InputError(f"delta must be at least 0 and below 1, not {delta}")
    if rho is not None and exact_delta:
        raise InputError("delta belongs to epsilon; with rho leave delta at 0")
    if neighbors not in NEIGHBORS:
        raise InputError(f"neighbors must be 'add_remove' or 'change_one', not {neighbors!r}")
    if calibration not in CALIBRATIONS:
        raise InputError(f"calibration must be 'analytic' or 'paper', not {calibration!r}")
    if calibration == "paper" and not exact_delta:
        raise InputError("calibration='paper' is for Gaussian noise; give epsilon and delta")
    return Privacy(
        epsilon=None if epsilon is None else _positive(epsilon, "epsilon"),
        delta=exact_delta,
        rho=None if rho is None else _positive(rho, "rho"),
        max_rows=whole(max_rows, "max_rows"),
        neighbors=neighbors,
        calibration=calibration,
    )


def exact(value: object, name: str) -> Fraction:
    """The number meant by `value`, exactly; a float means its shortest decimal: 0.1 is 1/10."""
    match value:
        case bool() | np.bool_():
            pass
        case str():
            return _from_text(value, name)
        case Decimal():
            return _from_text(str(value), name)
        case float() | np.floating():
            return _from_text(str(value), name)
        case numbers.Rational():
            return Fraction(int(value.numerator), int(value.denominator))
        case np.integer():
            return Fraction(int(value))
    raise InputError(
        f"{name} must be a number such as 0.5, '1/3' or Fraction(1, 3), not {type(value).__name__}"
    )


def whole(value: object, name: str) -> int:
    """`value` as a Python integer of at least 1; True is not 1 and 1.0 is not an integer."""
    if isinstance(value, numbers.Integral | np.integer) and not isinstance(value, bool):
        if index(value) >= 1:
            return index(value)
        raise InputError(f"{name} must be at least 1, not {value}")
    raise InputError(f"{name} must be an integer of at least 1, not {type(value).__name__}")


def _positive(value: object, name: str) -> Fraction:
    number = exact(value, name)
    if number <= 0:
        raise InputError(f"{name} must be greater than 0, not {value}")
    return number


def _from_text(text: str, name: str) -> Fraction:
    refusal = InputError(f"{name} must be a finite number such as '0.5', '1e-6' or '1/3'")
    exponent = re.search(r"e([+-]?\d+)\s*$", text, re.IGNORECASE)
    too_long = len(text) > _LONGEST_TEXT
    if too_long or (exponent and math.fabs(float(exponent[1])) > _LARGEST_EXPONENT):
        raise refusal
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise refusal from None
