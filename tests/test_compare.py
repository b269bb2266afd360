"""Every mechanism side by side: none is dropped, the best stands first, machines can read it."""

import csv
import io
import json
import sys

import numpy as np
import pytest
from workloads import STATES, WEIGHTED_STATES, ranges

import leastnoise as ln
from leastnoise.errors import InputError
from leastnoise.strategy.choose import MECHANISMS
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.workload import Workload

APPROXIMATE = {"epsilon": 1, "delta": 1e-6}


def problem(W: np.ndarray) -> Problem:
    return Problem(Workload(W), goal("total", None, len(W)))


SLOW = {name for name, one in MECHANISMS.items() if one.work(problem(STATES)) > 0}
"""Those whose work is predicted before they are begun."""


@pytest.fixture(scope="module")
def compared() -> ln.Comparison:
    return ln.compare(WEIGHTED_STATES, counts=[9, 0, 4, 30], **APPROXIMATE)


@pytest.fixture(scope="module")
def hurried() -> ln.Comparison:
    """With a budget that no search with a prediction can keep."""
    return ln.compare(ranges(16, 48), budget=1e-9, counts=np.full(48, 5), **APPROXIMATE)


def test_every_mechanism_is_listed_with_every_noise_it_is_for(compared: ln.Comparison) -> None:
    pairs = [(one.mechanism, one.noise) for one in compared if one.mechanism != "mwem"]
    expected = [(name, noise) for name, one in MECHANISMS.items() for noise in one.noises]
    assert sorted(pairs) == sorted(expected)


def test_the_best_stands_first_and_none_beats_the_bound(compared: ln.Comparison) -> None:
    errors = [one.expected_error for one in compared]
    assert errors == pytest.approx(sorted(errors), rel=1e-8)
    ratios = {one.mechanism: compared.ratio(one) for one in compared}
    assert min(ratios[name] for name in MECHANISMS) >= 1
    assert compared.lower_bound == pytest.approx(2 * 15.6427, rel=1e-4)


def test_mwem_stands_where_its_error_says(compared: ln.Comparison, hurried: ln.Comparison) -> None:
    """The best where records are spread evenly, as it guesses at first."""
    assert hurried.candidates[0].mechanism == "mwem" != compared.candidates[0].mechanism
    errors = [one.expected_error for one in hurried]
    assert errors == sorted(errors)


def test_each_error_is_that_of_its_plan(compared: ln.Comparison) -> None:
    """But for the search that may start from what the others found."""
    for one in compared:
        if one.mechanism in ("augmented", "mwem"):
            continue
        alone = ln.plan(WEIGHTED_STATES, mechanism=one.mechanism, noise=one.noise, **APPROXIMATE)
        assert one.expected_error == pytest.approx(alone.expected_error, rel=1e-4)


def test_over_budget_is_listed_as_not_run_and_never_dropped(hurried: ln.Comparison) -> None:
    assert {one.mechanism for one in hurried} == {*MECHANISMS, "mwem"}
    not_run = {one.mechanism for one in hurried if one.note.startswith("not run, predicted ")}
    assert not_run == SLOW >= {"esm", "lrm"}
    for one in hurried:
        assert np.isinf(one.expected_error) == (one.mechanism in not_run)
    assert "not run, predicted" in str(hurried)
    is_last = [one.mechanism in SLOW for one in hurried]
    assert is_last == sorted(is_last)


@pytest.mark.parametrize(("mechanism", "times"), [("esm", 8), ("lrm", 8)])
def test_the_prediction_grows_with_the_cube_of_the_size(mechanism: str, times: float) -> None:
    """Prefix sums, twice as many over twice as many cells."""
    small, large = (MECHANISMS[mechanism].work(problem(np.tri(n))) for n in (100, 200))
    assert large / small == pytest.approx(times, rel=0.15)


def test_with_counts_mwem_is_rehearsed_and_says_so(compared: ln.Comparison) -> None:
    (mwem,) = (one for one in compared if one.mechanism == "mwem")
    assert mwem.note == "rehearsed on the counts given, 10 rounds; not a release"
    plan = ln.plan(WEIGHTED_STATES, mechanism="mwem", **APPROXIMATE)
    counts = np.array([9, 0, 4, 30])
    off = ln.rehearse(plan, counts, runs=200) - WEIGHTED_STATES @ counts
    assert mwem.expected_error == pytest.approx(np.square(off).sum(axis=1).mean())


def test_its_error_is_the_figure_of_the_goal() -> None:
    counts, weights = np.array([9, 0, 4, 30]), np.array([1, 0, 5])
    options = {"epsilon": 1, "objective": "worst", "weights": weights}
    result = ln.compare(WEIGHTED_STATES, counts=counts, **options)
    (mwem,) = (one for one in result if one.mechanism == "mwem")
    plan = ln.plan(WEIGHTED_STATES, mechanism="mwem", **options)
    off = ln.rehearse(plan, counts, runs=200) - WEIGHTED_STATES @ counts
    assert mwem.expected_error == pytest.approx((weights * np.square(off).mean(axis=0)).max())


def test_without_epsilon_mwem_is_listed_and_not_run() -> None:
    result = ln.compare(STATES, rho=1, counts=[1, 2, 3, 4])
    (mwem,) = (one for one in result if one.mechanism == "mwem")
    assert (mwem.expected_error, mwem.note) == (np.inf, "needs epsilon")


@pytest.mark.parametrize("which", ["compared", "hurried"])
def test_json_and_csv_hold_what_is_shown(which: str, request: pytest.FixtureRequest) -> None:
    result: ln.Comparison = request.getfixturevalue(which)
    facts = json.loads(result.to_json())
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert facts["lower_bound"] == result.lower_bound
    assert len(facts["candidates"]) == len(rows) == len(result.candidates)
    for one, fact, row in zip(result, facts["candidates"], rows, strict=True):
        names = {"mechanism": one.mechanism, "noise": one.noise, "note": one.note}
        assert {name: fact[name] for name in names} == names
        assert {name: row[name] for name in names} == names
        assert float(row["seconds"]) == fact["seconds"] == one.seconds
        figures = (fact["expected_error"], fact["ratio_to_bound"])
        if np.isfinite(one.expected_error):
            assert figures == (one.expected_error, one.expected_error / result.lower_bound)
            assert (float(row["expected_error"]), float(row["ratio_to_bound"])) == figures
        else:
            assert figures == (None, None)
            assert (row["expected_error"], row["ratio_to_bound"]) == ("", "")


@pytest.mark.parametrize("budget", [0, -1, np.nan, "60", True, None])
def test_bad_budgets_are_refused(budget: object) -> None:
    with pytest.raises(InputError, match="budget must be a positive number of seconds, not "):
        ln.compare(STATES, epsilon=1, budget=budget)


@pytest.mark.parametrize(
    ("counts", "says"),
    [([1, 2], "counts must have length 4"), ([1, 2, 3, -4], "counts must not be negative")],
)
def test_bad_counts_are_refused(counts: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.compare(STATES, epsilon=1, counts=counts)


def test_noise_narrows_what_is_compared() -> None:
    result = ln.compare(STATES, noise="gaussian", **APPROXIMATE)
    assert {one.noise for one in result} == {"gaussian"}
    suitable = {name for name, one in MECHANISMS.items() if "gaussian" in one.noises}
    assert {one.mechanism for one in result} == suitable


@pytest.mark.parametrize("deadline", [1e-9, 0.02, 0.1])
def test_no_strategy_that_does_not_answer_is_priced(deadline: float) -> None:
    """However little time there is, lrm is not below what it converges to, 56."""
    result = ln.compare(ranges(8, 24), epsilon=1, deadline=deadline)
    (lrm,) = (one for one in result if one.mechanism == "lrm")
    assert lrm.expected_error > 55


@pytest.mark.parametrize("options", [{"mechanism": "nod"}, {"branching": 3}])
def test_what_it_does_not_take_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(options))} is no argument of compare"):
        ln.compare(STATES, epsilon=1, **options)


@pytest.mark.parametrize("budget", [np.int64(3), np.float32(3)])
def test_numbers_of_any_type_are_budgets(budget: object) -> None:
    assert ln.compare(STATES, epsilon=1, budget=budget).candidates


def test_each_line_of_what_is_not_run_says_how_long_and_for_which_noise(
    hurried: ln.Comparison,
) -> None:
    rows = [(one.mechanism, one.noise, one.note) for one in hurried]
    assert len(set(rows)) == len(rows)
    assert not any(note.endswith("predicted 0 s") for _, _, note in rows)


def test_the_budget_holds_for_the_matrix_mechanism_too() -> None:
    result = ln.compare(np.tri(36), rho=1, budget=0.05)
    (matrix,) = (one for one in result if one.mechanism == "matrix")
    assert matrix.seconds < 1 or matrix.note.startswith("not run")


def test_counts_are_checked_before_anything_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("searched first")

    monkeypatch.setattr(sys.modules["leastnoise.compare"], "attempts", searched)
    with pytest.raises(InputError, match="counts"):
        ln.compare(STATES, epsilon=1, counts=[1, 2])
