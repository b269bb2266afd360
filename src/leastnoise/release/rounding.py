"""From exact fractions to doubles, upwards."""

import math
from fractions import Fraction

from leastnoise.errors import PrivacyError

_LARGEST = Fraction(2) ** 256  # squares, and sums of squares, stay far inside the doubles


def round_up(number: Fraction) -> float:
    """The least double ≥ `number`, for numbers that doubles reach with full precision."""
    _check_range(number)
    guess = float(number)
    return guess if guess >= number else math.nextafter(guess, math.inf)


def round_up_root(square: Fraction) -> float:
    """The least double whose exact square is ≥ `square`.

    Rounding the square to a double moves its root by at most ¼ ulp, and math.sqrt rounds correctly,
    so the guess is within ¾ ulp of the root: one step up is enough, and none down is needed.
    """
    _check_range(square)
    guess = math.sqrt(square)
    return guess if Fraction(guess) ** 2 >= square else math.nextafter(guess, math.inf)


def _check_range(number: Fraction) -> None:
    if not 1 / _LARGEST < number < _LARGEST:
        raise PrivacyError("the noise scale is out of range; check epsilon, delta and rho")
