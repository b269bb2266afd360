"""The promise and its numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import InputError
from leastnoise.release.privacy import exact, promise, whole


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (5e-324, Fraction(5, 10**324)),
        ("1", Fraction(1)),
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(3), Fraction(3)),
        (np.uint8(3), Fraction(3)),
        (-2.5, Fraction(-5, 2)),
    ],
)
def test_exact_is_the_number_meant(value: object, meant: Fraction) -> None:
    result = exact(value, "epsilon")
    assert result == meant
    assert type(result) is Fraction
    assert type(result.numerator) is int


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.True_,
        None,
        "",
        "one",
        "1/0",
        "nan",
        "inf",
        "1e999999999",
        "1e-999999999",
        "9" * 101,
        float("nan"),
        float("-inf"),
        np.float32("inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1e999999"),
        1j,
        np.array(1.0),
        np.array([1.0]),
        [1],
        b"1",
    ],
    ids=repr,
)
def test_exact_refuses_what_is_no_number(value: object) -> None:
    with pytest.raises(InputError, match=r"^epsilon must be"):
        exact(value, "epsilon")


def test_promise_keeps_exact_fractions() -> None:
    privacy = promise(epsilon=0.1, delta="1e-6", max_rows=3)
    assert (privacy.epsilon, privacy.delta, privacy.rho) == (
        Fraction(1, 10),
        Fraction(1, 10**6),
        None,
    )
    assert (privacy.max_rows, privacy.neighbors, privacy.multiplier) == (3, "add_remove", 3)


def test_changing_a_record_counts_twice() -> None:
    assert promise(rho=1, max_rows=3, neighbors="change_one").multiplier == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of epsilon and rho"),
        ({"epsilon": 1, "rho": 1}, "exactly one of epsilon and rho"),
        ({"epsilon": 0}, "epsilon must be greater than 0"),
        ({"epsilon": -0.5}, "epsilon must be greater than 0"),
        ({"rho": "0"}, "rho must be greater than 0"),
        ({"epsilon": 1, "delta": 1}, "delta must be at least 0 and below 1"),
        ({"epsilon": 1, "delta": -1e-9}, "delta must be at least 0 and below 1"),
        ({"epsilon": 1, "delta": None}, "delta must be a number"),
        ({"rho": 1, "delta": 1e-6}, "delta belongs to epsilon"),
        ({"epsilon": 1, "max_rows": 0}, "max_rows must be at least 1"),
        ({"epsilon": 1, "max_rows": True}, "max_rows must be an integer"),
        ({"epsilon": 1, "max_rows": 1.0}, "max_rows must be an integer"),
        ({"epsilon": 1, "neighbors": "swap"}, "neighbors must be 'add_remove' or 'change_one'"),
        ({"epsilon": 1, "neighbors": ["swap"]}, "neighbors must be 'add_remove' or 'change_one'"),
        (
            {"epsilon": 1, "delta": 1e-4, "calibration": "exact"},
            "calibration must be 'analytic' or 'paper', not 'exact'",
        ),
        ({"epsilon": 1, "delta": 1e-4, "calibration": None}, "calibration must be 'analytic' or"),
        ({"epsilon": 1, "delta": 1e-4, "calibration": ["paper"]}, "calibration must be"),
        ({"epsilon": 1, "calibration": "paper"}, "for Gaussian noise; give epsilon and delta"),
        ({"rho": 1, "calibration": "paper"}, "for Gaussian noise; give epsilon and delta"),
    ],
)
def test_promise_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        promise(**arguments)  # type: ignore[arg-type]


def test_whole_takes_numpy_integers() -> None:
    assert type(whole(np.int32(4), "max_total")) is int
