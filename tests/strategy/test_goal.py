"""What is minimised: both figures by hand, weights, and what is refused."""

import numpy as np
import pytest

from leastnoise.errors import InputError
from leastnoise.strategy.goal import goal

VARIANCES = np.array([4.0, 1.0, 9.0])


def test_figures_by_hand() -> None:
    assert goal("total", None, 3).of(VARIANCES) == 14
    assert goal("worst", None, 3).of(VARIANCES) == 9
    assert goal("total", [2, 0, 1], 3).of(VARIANCES) == 17
    assert goal("worst", [3, 0, 1], 3).of(VARIANCES) == 12


def test_row_factors_are_the_roots_of_the_weights_and_never_zero() -> None:
    """√w: a figure of W with weights is that of diag(√w)·W without."""
    assert goal("total", [4, 9, 1], 3).row_factors.tolist() == [2, 3, 1]
    factors = goal("total", [400, 0, 1], 3).row_factors
    assert factors.tolist() == pytest.approx([20, 20e-4, 1])


def test_weights_are_taken_in_and_not_followed() -> None:
    given = np.array([1.0, 2, 3])
    aim = goal("total", given, 3)
    given[0] = 7
    assert aim.weights.tolist() == [1, 2, 3]
    assert goal("total", (True, 0, 1), 3).weights.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, -1e-9, 1], "at least 0"),
        ([0, 0, 0], "not all 0"),
        ([1, 1], "one number per query, 3 in all"),
        ([[1], [1], [1]], "one number per query, 3 in all"),
        (1.0, "one number per query, 3 in all"),
        ([1, np.nan, 1], "finite"),
        ([1, np.inf, 1], "finite"),
        (["a", "b", "c"], "must be numbers"),
        ("abc", "must be numbers"),
        ({}, "must be numbers"),
    ],
)
def test_bad_weights_are_refused_in_a_sentence(weights: object, says: str) -> None:
    with pytest.raises(InputError, match=f"^weights .*{says}") as caught:
        goal("total", weights, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("objective", ["best", "Total", "", None, 1, ["total"]])
def test_unknown_objectives_are_refused_in_a_sentence(objective: object) -> None:
    with pytest.raises(InputError, match=r"^objective must be 'total' or 'worst', not "):
        goal(objective, None, 3)
