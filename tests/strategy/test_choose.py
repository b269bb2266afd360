"""The table of mechanisms: what a row is given, and what is made of its refusals."""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np
import pytest
from workloads import STATES

from leastnoise.errors import InputError, TooLargeError
from leastnoise.strategy import choose
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.choose import Attempt, Mechanism, attempts
from leastnoise.strategy.fixed import noise_on_data
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft
from leastnoise.workload.workload import Workload

PROBLEM = Problem(Workload(STATES), goal("total", None, 3))
BOTH = ("laplace", "gaussian")


def table(monkeypatch: pytest.MonkeyPatch, **rows: Mechanism) -> None:
    monkeypatch.setattr(choose, "MECHANISMS", rows)


def names(made: list[Attempt]) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.mechanism, one.noises) for one in made]


def recorder(seen: list[dict[str, object]]) -> Callable[..., Draft]:
    """A mechanism that takes a setting and writes down what it was given."""

    def draft(problem: Problem, search: Search, *, branching: int = 2) -> Draft:
        seen.append({"search": search, "branching": branching, "at": monotonic()})
        return noise_on_data(problem, search)

    return draft


def tuned(problem: Problem, search: Search, *, noise: str, depth: int = 1) -> Draft:
    return Draft(f"tuned for {noise}", noise_on_data(problem, search).parts)


def huge(problem: Problem, search: Search) -> Draft:
    raise TooLargeError("huge needs 9 GiB")


def test_auto_tries_the_rows_marked_so_for_the_noises_they_are_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table(
        monkeypatch,
        a=Mechanism(noise_on_data),
        b=Mechanism(noise_on_data, noises=("laplace",)),
        c=Mechanism(noise_on_data, auto=()),
    )
    assert names(attempts("auto", PROBLEM, Search(), BOTH, {})) == [("a", BOTH), ("b", BOTH[:1])]
    assert names(attempts("auto", PROBLEM, Search(), BOTH[1:], {})) == [("a", BOTH[1:])]
    assert names(attempts("c", PROBLEM, Search(), BOTH, {})) == [("c", BOTH)]


def test_a_tuned_mechanism_is_drafted_for_each_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, a=Mechanism(tuned))
    made = attempts("a", PROBLEM, Search(), BOTH, {"depth": 3})
    assert names(made) == [("a", ("laplace",)), ("a", ("gaussian",))]
    assert [one.draft.mechanism for one in made] == ["tuned for laplace", "tuned for gaussian"]
    with pytest.raises(InputError, match="noise is no argument of plan; mechanism='a' takes depth"):
        attempts("a", PROBLEM, Search(), BOTH, {"noise": "laplace"})


def test_settings_reach_the_mechanism_and_misspelt_ones_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[dict[str, object]] = []
    table(monkeypatch, a=Mechanism(recorder(seen)), b=Mechanism(noise_on_data))
    attempts("a", PROBLEM, Search(seed=5), BOTH, {"branching": 7})
    assert (seen[0]["branching"], seen[0]["search"].seed) == (7, 5)
    with pytest.raises(InputError, match=r"brunching is no argument of plan; .* takes branching"):
        attempts("a", PROBLEM, Search(), BOTH, {"brunching": 7})
    for mechanism in ("b", "auto"):
        with pytest.raises(InputError, match=r"branching is no argument of plan; .* no settings"):
            attempts(mechanism, PROBLEM, Search(), BOTH, {"branching": 7})
    assert len(seen) == 1


def test_time_left_over_by_one_search_goes_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 90 seconds a third for the first of three; it takes none, so half for the second."""
    seen: list[dict[str, object]] = []
    draft = recorder(seen)
    table(monkeypatch, a=Mechanism(draft), b=Mechanism(draft), c=Mechanism(draft))
    attempts("auto", PROBLEM, Search(stop_at=monotonic() + 90), BOTH, {})
    left = [one["search"].stop_at - one["at"] for one in seen]
    assert left == pytest.approx([30, 45, 90], abs=1)


def test_what_does_not_fit_is_noted_unless_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table(monkeypatch, a=Mechanism(huge), b=Mechanism(noise_on_data))
    failed, made = attempts("auto", PROBLEM, Search(), BOTH, {})
    assert (failed.draft, failed.note) == (None, "huge needs 9 GiB")
    assert made.draft is not None
    assert min(failed.seconds, made.seconds) >= 0
    with pytest.raises(TooLargeError, match="huge needs 9 GiB"):
        attempts("a", PROBLEM, Search(), BOTH, {})


def test_a_mechanism_for_another_noise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table(monkeypatch, b=Mechanism(noise_on_data, noises=("laplace",)))
    with pytest.raises(InputError, match="mechanism 'b' is for laplace noise"):
        attempts("b", PROBLEM, Search(), ("gaussian",), {})


def test_the_reduction_is_worked_out_once_for_all_mechanisms() -> None:
    problem = Problem(Workload(STATES), goal("total", [1, 4, 9], 3))
    assert problem.reduced is problem.reduced
    rows = np.array([1, 2, 3])[:, None] * STATES
    lengths = np.linalg.norm(problem.reduced.matrix, axis=0)
    assert lengths == pytest.approx(np.linalg.norm(rows[:, [0, 2]], axis=0))


def starter(seen: list[list[str]]) -> Callable[..., Draft]:
    """A mechanism that starts from drafts and writes down whose."""

    def draft(problem: Problem, search: Search, *, drafts: Sequence[Draft] = ()) -> Draft:
        seen.append([one.mechanism for one in drafts])
        return noise_on_data(problem, search)

    return draft


def test_a_mechanism_is_given_the_drafts_of_those_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not of those after it, nor of those that made none; alone it has none."""
    seen: list[list[str]] = []
    table(
        monkeypatch,
        a=Mechanism(noise_on_data),
        b=Mechanism(huge),
        c=Mechanism(tuned),
        d=Mechanism(starter(seen)),
        e=Mechanism(noise_on_data),
    )
    attempts("auto", PROBLEM, Search(), BOTH, {})
    attempts("d", PROBLEM, Search(), BOTH, {})
    assert seen == [["nod", "tuned for laplace", "tuned for gaussian"], []]
    with pytest.raises(InputError, match="drafts is no argument of plan"):
        attempts("d", PROBLEM, Search(), BOTH, {"drafts": []})


def test_auto_leaves_out_what_would_take_long_but_a_name_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = choose._MOST_WORK
    table(
        monkeypatch,
        a=Mechanism(noise_on_data, work=lambda problem: most),
        b=Mechanism(noise_on_data, work=lambda problem: 1.01 * most),
    )
    assert names(attempts("auto", PROBLEM, Search(), BOTH, {})) == [("a", BOTH)]
    (alone,) = attempts("b", PROBLEM, Search(), BOTH, {})
    assert alone.draft is not None


@pytest.mark.parametrize(("budget", "is_run"), [(1.9, False), (2.1, True), (np.inf, True)])
def test_what_is_predicted_to_exceed_the_budget_is_not_begun(
    budget: float, is_run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred operations at a hundred a second."""
    monkeypatch.setattr(choose, "speed", lambda: 100.0)
    table(
        monkeypatch,
        a=Mechanism(noise_on_data),
        b=Mechanism(noise_on_data, work=lambda problem: 200.0),
    )
    quick, slow = attempts("all", PROBLEM, Search(), BOTH, {}, budget)
    assert quick.draft is not None
    assert (slow.draft is not None) == is_run
    assert slow.note == ("" if is_run else "not run, predicted 2 s")
