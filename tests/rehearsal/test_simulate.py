"""Rehearsals: as accurate as the plan says, repeatable, and for counts that fit."""

from functools import cache

import numpy as np
import pytest
from workloads import WEIGHTED_STATES

import leastnoise as ln
from leastnoise.errors import InputError
from leastnoise.strategy.choose import MECHANISMS

COUNTS = np.array([130, 7, 0, 52])
RUNS = 2_000

PROMISES = {"laplace": {"epsilon": 1}, "gaussian": {"rho": "1/2"}}

each_linear = pytest.mark.parametrize(
    ("mechanism", "noise"),
    [(name, noise) for name, one in MECHANISMS.items() for noise in one.noises],
)


@cache
def plan(mechanism: str, noise: str = "laplace") -> ln.Plan:
    return ln.plan(WEIGHTED_STATES, mechanism=mechanism, **PROMISES[noise])


def off(mechanism: str, noise: str) -> np.ndarray:
    """How far off each answer of each rehearsal is."""
    return ln.rehearse(plan(mechanism, noise), COUNTS, RUNS) - WEIGHTED_STATES @ COUNTS


@each_linear
def test_errors_are_as_large_as_expected(mechanism: str, noise: str) -> None:
    """To five standard deviations of the simulation, which are some 15%."""
    squares = np.square(off(mechanism, noise)).sum(axis=1)
    doubt = squares.std() / np.sqrt(RUNS)
    expected = plan(mechanism, noise).expected_error
    assert 5 * doubt < 0.25 * expected
    assert squares.mean() == pytest.approx(expected, abs=5 * doubt)


@each_linear
def test_answers_are_right_on_average(mechanism: str, noise: str) -> None:
    doubt = plan(mechanism, noise).std / np.sqrt(RUNS)
    assert (np.abs(off(mechanism, noise).mean(axis=0)) <= 5 * doubt).all()


def test_a_relaxed_plan_is_off_on_average_by_its_misfit() -> None:
    """B·L·x, not W·x, is what is answered: here a thousand records make the difference visible."""
    options = {"relaxed": True, "gamma": 0.3, "fallback": False}
    relaxed = ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="lrm", max_total=1000, **options)
    counts = np.array([1000, 0, 0, 1000])
    shift = (relaxed.strategy.B @ relaxed.strategy.L - WEIGHTED_STATES) @ counts
    answers = ln.rehearse(relaxed, counts, RUNS) - WEIGHTED_STATES @ counts
    assert np.abs(shift).max() > 50 * relaxed.std.max() / np.sqrt(RUNS)
    assert answers.mean(axis=0) == pytest.approx(shift, abs=5 * relaxed.std.max() / np.sqrt(RUNS))


def test_runs_are_rehearsed_all_the_same_when_their_noise_is_drawn_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leastnoise.rehearsal.simulate._TOGETHER", 16)
    answers = ln.rehearse(plan("nod"), COUNTS, 101)
    assert answers.shape == (101, 3)
    assert len(np.unique(answers, axis=0)) == 101


@pytest.mark.parametrize("mechanism", ["nod", "mwem"])
def test_a_seed_repeats_a_rehearsal_and_another_seed_does_not(mechanism: str) -> None:
    first, again, other = (ln.rehearse(plan(mechanism), COUNTS, 3, seed) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    assert len(np.unique(first, axis=0)) == 3


@pytest.mark.parametrize("mechanism", ["nod", "mwem"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"runs": 0}, "runs must be at least 1, not 0"),
        ({"runs": 1.5}, "runs must be an integer of at least 1, not float"),
        ({"runs": True}, "runs must be an integer of at least 1, not bool"),
        ({"runs": "many"}, "runs must be an integer of at least 1, not str"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"seed": 1.0}, "seed must be a whole number of at least 0, not 1.0"),
        ({"seed": True}, "seed must be a whole number of at least 0, not True"),
        ({"seed": None}, "seed must be a whole number of at least 0, not None"),
        ({"counts": [1, 2]}, "counts must have length 4"),
        ({"counts": [1, 2, 3, -4]}, "counts must not be negative"),
        ({"counts": [1, 2, 3, 0.5]}, "counts must be whole numbers"),
        ({"counts": [1, 2, 3, 2**40]}, "counts must not exceed max_total"),
        ({"counts": None}, "counts"),
    ],
)
def test_bad_arguments_are_refused(mechanism: str, arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.rehearse(plan(mechanism), **{"counts": COUNTS, **arguments})


def test_what_is_no_plan_is_refused() -> None:
    with pytest.raises(InputError, match="plan"):
        ln.rehearse("plan", COUNTS)
