"""The path from queries and a promise to a plan: which noise, which mechanism, which figures."""

from fractions import Fraction
from time import monotonic

import array_api_strict
import numpy as np
import pytest
from workloads import (
    FAMILIES,
    STATES,
    WEIGHTED_STATES,
    all_marginals,
    nuclear,
    range_ends,
    ranges,
)

import leastnoise as ln
from leastnoise.errors import InputError, PrivacyError
from leastnoise.strategy import augmented, gaussian, optimal
from leastnoise.strategy.ascent import Progress
from leastnoise.strategy.choose import MECHANISMS

APPROXIMATE = {"epsilon": 1, "delta": 1e-6}


@pytest.mark.parametrize(
    ("arguments", "noise"),
    [
        ({"epsilon": 1}, "laplace"),
        ({"rho": 0.5}, "gaussian"),
        ({**APPROXIMATE, "noise": "laplace"}, "laplace"),
        ({**APPROXIMATE, "noise": "gaussian"}, "gaussian"),
    ],
)
def test_promises_choose_the_noise(arguments: dict[str, object], noise: str) -> None:
    assert ln.plan(STATES, **arguments).noise == noise


def test_promises_are_exact_numbers() -> None:
    pure = ln.plan(STATES, epsilon=0.1)
    assert (pure.epsilon, pure.delta, pure.rho) == (0.1, 0, None)
    assert pure.privacy.epsilon == Fraction(1, 10)
    both = ln.plan(STATES, epsilon="1/3", delta="1e-6")
    assert (both.privacy.epsilon, both.privacy.delta) == (Fraction(1, 3), Fraction(1, 10**6))
    concentrated = ln.plan(STATES, rho="1/8")
    assert (concentrated.epsilon, concentrated.rho, concentrated.delta) == (None, 0.125, 0)


@pytest.mark.parametrize("rho", ["1/2", "1/50"])
def test_zcdp_noise_has_variance_one_over_two_rho(rho: str) -> None:
    """The introduction's example at σ = 1: 15.6427."""
    plan = ln.plan(WEIGHTED_STATES, rho=rho)
    assert plan.expected_error == pytest.approx(15.6427 / (2 * float(Fraction(rho))), rel=1e-5)


def test_cells_one_by_one_take_laplace_even_with_delta() -> None:
    plan = ln.plan(np.eye(5), **APPROXIMATE)
    assert (plan.noise, plan.mechanism) == ("laplace", "nod")
    assert plan.expected_error == pytest.approx(10, rel=1e-9)
    assert plan.certificate.lower_bound <= plan.certificate.achieved
    assert plan.certificate.gap < 1e-8


def test_many_overlapping_queries_take_gaussian_noise_with_delta() -> None:
    W = FAMILIES["discrete"](30, 200)
    plan = ln.plan(W, epsilon=1, delta=1e-2)
    assert plan.noise == "gaussian"
    assert plan.expected_error < ln.plan(W, epsilon=1).expected_error


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("arguments", [{"epsilon": 1}, APPROXIMATE, {"rho": 0.1}])
def test_auto_is_never_worse_than_any_mechanism(family: str, arguments: dict[str, object]) -> None:
    W = FAMILIES[family](8, 32)
    chosen = ln.plan(W, **arguments)
    for mechanism in {one.mechanism for one in chosen.candidates}:
        alone = ln.plan(W, mechanism=mechanism, **arguments)
        assert chosen.expected_error <= alone.expected_error * (1 + 1e-6)


SMALL = {
    "marginals": all_marginals((4, 4, 4)),
    "prefixes": np.tri(32),
    "discrete": FAMILIES["discrete"](6, 20, 1),
    "ranges": FAMILIES["ranges"](12, 40, 1),
    "related": FAMILIES["related"](8, 20, 1),
}


@pytest.mark.parametrize("name", SMALL)
def test_auto_is_never_worse_than_any_mechanism_by_name(name: str) -> None:
    """Also those that it does not try, and that searches start from."""
    chosen = ln.plan(SMALL[name], epsilon=1)
    for mechanism, one in MECHANISMS.items():
        if "laplace" in one.noises and mechanism not in ("augmented", "esm"):
            alone = ln.plan(SMALL[name], epsilon=1, mechanism=mechanism)
            assert chosen.expected_error <= alone.expected_error * (1 + 1e-6), mechanism


def test_candidates_tell_where_the_search_started() -> None:
    """The chosen plan stands first, and its start is in its note alone."""
    plan = ln.plan(np.tri(16), epsilon=1)
    assert plan.mechanism == "augmented"
    best, *others = plan.candidates
    notes = [one.note for one in others if one.mechanism == "augmented"]
    assert best.note.startswith("from ")
    assert len(notes) > 8
    assert all(note.startswith("from ") and note != best.note for note in notes)


@pytest.mark.parametrize("arguments", [{"epsilon": 1}, {"rho": 0.5}, APPROXIMATE])
@pytest.mark.parametrize("mechanism", ["nod", "nor", "optimal"])
def test_more_rows_and_changed_records_scale_standard_errors(
    arguments: dict[str, object], mechanism: str
) -> None:
    one = ln.plan(WEIGHTED_STATES, mechanism=mechanism, **arguments)
    three = ln.plan(WEIGHTED_STATES, mechanism=mechanism, max_rows=3, **arguments)
    changed = ln.plan(WEIGHTED_STATES, mechanism=mechanism, neighbors="change_one", **arguments)
    assert three.std == pytest.approx(3 * one.std, rel=1e-9)
    assert changed.std == pytest.approx(2 * one.std, rel=1e-9)


@pytest.mark.parametrize(
    "arguments", [{"epsilon": 0.5}, {"rho": 0.5}, {"epsilon": 1, "max_rows": 2}]
)
def test_the_certificate_is_recomputed_from_q_alone(arguments: dict[str, object]) -> None:
    plan = ln.plan(WEIGHTED_STATES, **arguments)
    variance = {"rho": 1.0, "max_rows": 8.0}.get(list(arguments)[-1], 8.0)
    certificate = plan.certificate
    q = certificate.proof.q
    assert (q >= 0).all()
    bound = variance * nuclear(WEIGHTED_STATES, q) ** 2
    assert certificate.lower_bound == pytest.approx(bound, rel=1e-9)
    assert certificate.lower_bound <= bound
    assert certificate.achieved == pytest.approx(plan.expected_error, rel=1e-12)
    gap = plan.expected_error / certificate.lower_bound - 1
    assert certificate.gap == pytest.approx(gap, abs=1e-12)


def test_the_certificate_of_a_weighted_plan_is_of_weighted_rows() -> None:
    weights = np.array([4.0, 1, 0.25])
    plan = ln.plan(WEIGHTED_STATES, rho=0.5, weights=weights)
    rows = np.sqrt(weights)[:, None] * WEIGHTED_STATES
    bound = nuclear(rows, plan.certificate.proof.q) ** 2
    assert plan.certificate.lower_bound == pytest.approx(bound, rel=1e-6)
    assert plan.certificate.gap < 1e-3


def test_with_delta_the_bound_takes_the_cheaper_noise() -> None:
    """At ε = 1, δ = 1e-6 a unit of Laplace noise has variance 2, of Gaussian noise about 18."""
    plan = ln.plan(WEIGHTED_STATES, **APPROXIMATE, noise="gaussian")
    bound = 2 * nuclear(WEIGHTED_STATES, plan.certificate.proof.q) ** 2
    assert plan.certificate.lower_bound == pytest.approx(bound, rel=1e-9)


def test_the_bound_is_that_of_the_least_noise_whatever_is_used() -> None:
    """At δ = 1/10 the least is Gaussian: below Laplace's variance of 2, above which the paper's
    8·ln 20 lies."""
    options = {"epsilon": 1, "delta": 0.1, "noise": "gaussian", "mechanism": "optimal"}
    ours, theirs = (
        ln.plan(WEIGHTED_STATES, calibration=name, **options) for name in ("analytic", "paper")
    )
    assert ours.certificate.gap < 1e-3
    assert theirs.certificate.lower_bound == ours.certificate.lower_bound
    assert theirs.expected_error == pytest.approx(8 * np.log(20) * 15.6427, rel=1e-4)


def test_the_larger_noise_of_the_paper_is_told() -> None:
    options = {"epsilon": 1, "delta": 1e-4, "noise": "gaussian"}
    told = ", with the noise of the paper\n"
    assert told in ln.plan(STATES, calibration="paper", **options).summary()
    assert told not in ln.plan(STATES, **options).summary()


def test_laplace_noise_is_not_said_to_be_the_paper_s() -> None:
    plan = ln.plan(STATES, epsilon=1, delta=1e-4, calibration="paper")
    assert plan.noise == "laplace"
    assert "of the paper" not in plan.summary()


def test_a_fixed_mechanism_has_no_certificate() -> None:
    assert ln.plan(STATES, epsilon=1, mechanism="nod").certificate is None


def test_every_candidate_is_listed_best_first() -> None:
    plan = ln.plan(WEIGHTED_STATES, **APPROXIMATE)
    pairs = {(one.mechanism, one.noise) for one in plan.candidates}
    tried = {name: one for name, one in MECHANISMS.items() if one.auto}
    assert pairs == {
        (name, noise) for name, one in tried.items() for noise in {*one.noises} & {*one.auto}
    }
    errors = [one.expected_error for one in plan.candidates]
    assert errors == pytest.approx(sorted(errors))
    assert (plan.candidates[0].mechanism, plan.candidates[0].noise) == (plan.mechanism, plan.noise)
    assert plan.expected_error == pytest.approx(errors[0], rel=1e-6)


def test_out_of_time_still_plans_with_what_was_found() -> None:
    W = ranges(40, 64)
    hurried = ln.plan(W, rho=0.5, mechanism="optimal", deadline=1e-9)
    calm = ln.plan(W, rho=0.5, mechanism="optimal")
    assert calm.expected_error < hurried.expected_error
    assert hurried.certificate.lower_bound < calm.expected_error
    assert np.abs(W - hurried.strategy.B @ hurried.strategy.L).max() < 1e-9


@pytest.mark.parametrize("arguments", [{"epsilon": 1}, {"rho": 0.5}, APPROXIMATE])
@pytest.mark.parametrize("objective", ["total", "worst"])
def test_a_deadline_is_kept_and_the_best_so_far_is_a_plan(
    arguments: dict[str, object], objective: str
) -> None:
    """Searching to the end takes longer; what there is by then rebuilds W and has a bound."""
    W = ranges(80, 160)
    started = monotonic()
    plan = ln.plan(W, objective=objective, deadline=0.3, **arguments)
    assert monotonic() - started < 1.5
    assert plan.certificate.lower_bound <= plan.expected_error
    assert np.abs(W - plan.strategy.B @ plan.strategy.L).max() < 1e-9


def test_callbacks_hear_every_step_and_may_interrupt() -> None:
    heard: list[Progress] = []
    ln.plan(ranges(12, 40), epsilon=1, callback=heard.append)
    searches = {"optimal", "augmented", "lrm"}
    assert {one.mechanism for one in heard} == searches
    for mechanism in searches:
        steps = [one.step for one in heard if one.mechanism == mechanism]
        assert steps == list(range(1, len(steps) + 1))

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ln.plan(ranges(12, 40), epsilon=1, callback=interrupt)


@pytest.mark.parametrize(
    ("arguments", "promise"),
    [
        ({"epsilon": 1}, "ε = 1 for one record added or removed"),
        ({"epsilon": "1/3", "delta": 1e-6}, "ε = 1/3, δ = 1e-06 for one record"),
        ({"rho": 0.5, "max_rows": 2}, "ρ = 0.5 (zCDP) for 2 records of one person added"),
        ({"epsilon": 1, "neighbors": "change_one"}, "for one record changed"),
    ],
)
def test_summary_tells_promise_strategy_and_accuracy(
    arguments: dict[str, object], promise: str
) -> None:
    plan = ln.plan(STATES, **arguments)
    text = plan.summary()
    assert promise in text
    assert "3 queries over 4 cells (2 told apart)" in text
    assert f"{plan.mechanism}: {plan.measurable.integers.rows} numbers" in text
    assert f"{plan.noise} noise" in text
    assert f"{plan.expected_error:,.6g} expected in total" in text
    assert f"{plan.certificate.lower_bound:,.6g}" in text


def test_a_million_cells_plan_in_classes() -> None:
    plan = ln.plan(ln.ranges(10**6, range_ends(20, 10**6)), epsilon=1, delta=1e-6, max_total=2**32)
    assert plan.workload.classes < 40
    answers = plan.release(np.ones(10**6, dtype=int)).answers
    lengths = np.diff(range_ends(20, 10**6)).ravel() + 1
    assert (np.abs(answers - lengths) < 12 * plan.std).all()


def weighted_worst(plan: ln.Plan, weights: np.ndarray | float = 1.0) -> float:
    """maxᵢ wᵢ·varᵢ from L and B alone."""
    L, B = plan.strategy.L, plan.strategy.B
    order, variance = {"laplace": (1, 2), "gaussian": (2, 1)}[plan.noise]
    delta = np.linalg.norm(L, ord=order, axis=0).max()
    return float((weights * variance * delta**2 * np.square(B).sum(axis=1)).max())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("arguments", [{"epsilon": 1}, {"rho": 0.5}])
def test_the_worst_query_is_never_worse_off_than_by_the_fixed_strategies(
    family: str, arguments: dict[str, object]
) -> None:
    W, weights = FAMILIES[family](8, 16), np.random.default_rng(0).uniform(0.1, 4, 8)
    arguments = {**arguments, "objective": "worst", "weights": weights}
    plan = ln.plan(W, **arguments)
    assert plan.expected_error == pytest.approx(weighted_worst(plan, weights), rel=1e-9)
    assert plan.certificate.achieved == pytest.approx(plan.expected_error, rel=1e-12)
    assert plan.certificate.lower_bound <= plan.certificate.achieved * (1 + 1e-9)
    for mechanism in ("nod", "nor"):
        fixed = ln.plan(W, mechanism=mechanism, **arguments)
        assert plan.expected_error <= weighted_worst(fixed, weights) * (1 + 1e-6)


@pytest.mark.parametrize(("objective", "other"), [("total", "worst"), ("worst", "total")])
def test_each_objective_is_served_better_by_its_own_plan(objective: str, other: str) -> None:
    W = ranges(20, 40)
    ours, theirs = (ln.plan(W, rho=0.5, objective=aim) for aim in (objective, other))
    figure = {"total": np.sum, "worst": np.max}[objective]
    assert ours.expected_error == pytest.approx(figure(ours.std**2), rel=1e-12)
    assert ours.expected_error < 0.99 * figure(theirs.std**2)


def test_the_worst_certificate_is_recomputed_from_p_and_q_alone() -> None:
    weights = np.array([4.0, 1, 0.25])
    plan = ln.plan(WEIGHTED_STATES, rho=0.5, objective="worst", weights=weights)
    q, p = plan.certificate.proof
    rows = np.sqrt(weights * p / p.sum())[:, None] * WEIGHTED_STATES
    bound = nuclear(rows, q) ** 2
    assert plan.certificate.lower_bound == pytest.approx(bound, rel=1e-9)
    assert plan.certificate.lower_bound <= bound
    assert plan.certificate.gap < 1e-3


@pytest.mark.parametrize("objective", ["total", "worst"])
def test_running_totals_are_solved_to_a_thousandth(objective: str) -> None:
    """64 prefix sums. ‖row‖² averages what the worst case bounds, so total ≤ 64·worst."""
    plan = ln.plan(ln.prefixes(64), rho=0.5, objective=objective)
    assert 0 <= plan.certificate.gap <= 1e-3
    assert plan.mechanism == "optimal"
    total = ln.plan(ln.prefixes(64), rho=0.5).certificate.lower_bound
    assert total <= 64 * plan.expected_error


@pytest.mark.parametrize("objective", ["total", "worst"])
def test_the_identity_takes_laplace_noise_with_delta(objective: str) -> None:
    plan = ln.plan(ln.identity(16), objective=objective, **APPROXIMATE)
    assert (plan.noise, plan.mechanism) == ("laplace", "nod")
    assert plan.expected_error == pytest.approx(32 if objective == "total" else 2, rel=1e-9)
    assert plan.certificate.lower_bound <= plan.certificate.achieved * (1 + 1e-12)
    assert plan.certificate.gap < 1e-4


@pytest.mark.parametrize("objective", ["total", "worst"])
def test_a_query_of_weight_zero_is_answered_all_the_same(objective: str) -> None:
    plan = ln.plan(WEIGHTED_STATES, rho=0.5, objective=objective, weights=[1, 0, 1])
    assert np.abs(WEIGHTED_STATES - plan.strategy.B @ plan.strategy.L).max() < 1e-9
    assert np.isfinite(plan.std).all()
    without = ln.plan(WEIGHTED_STATES[[0, 2]], rho=0.5, objective=objective)
    assert plan.expected_error == pytest.approx(without.expected_error, rel=1e-3)


@pytest.mark.parametrize("mechanism", ["optimal", "augmented"])
@pytest.mark.parametrize("objective", ["total", "worst"])
def test_queries_of_another_array_library_give_the_same_plan(
    mechanism: str, objective: str
) -> None:
    W = ranges(5, 7).astype(float)
    ours, theirs = (
        ln.plan(queries, epsilon=1, mechanism=mechanism, objective=objective)
        for queries in (W, array_api_strict.asarray(W))
    )
    assert theirs.expected_error == pytest.approx(ours.expected_error, rel=1e-6)
    assert np.array_equal(theirs.workload.dense(), W)
    assert theirs.strategy.L == pytest.approx(ours.strategy.L, abs=1e-3)


def test_searches_run_where_the_queries_live(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[type] = []

    def watched(objective: type) -> type:
        class Watched(objective):  # type: ignore[misc]
            def __init__(self, matrix: object) -> None:
                places.append(type(matrix))
                super().__init__(matrix)

        return Watched

    monkeypatch.setattr(optimal, "Total", watched(gaussian.Total))
    monkeypatch.setattr(augmented, "Objective", watched(augmented.Objective))
    queries = array_api_strict.asarray(ranges(4, 6))
    ln.plan(queries, epsilon=1)
    assert len(places) == 2
    assert set(places) == {type(queries)}


def test_the_seed_is_of_the_search_and_repeats_it() -> None:
    first, again = (ln.plan(np.tri(12), epsilon=1, mechanism="augmented", seed=7) for _ in "ab")
    assert np.array_equal(first.strategy.L, again.strategy.L)
    assert not np.array_equal(
        first.release(np.zeros(12, int)).answers, again.release(np.zeros(12, int)).answers
    )


def test_plans_are_frozen_and_do_not_depend_on_chance() -> None:
    first, second = (ln.plan(ranges(12, 40), epsilon=1, delta=1e-6) for _ in range(2))
    assert np.array_equal(first.strategy.L, second.strategy.L)
    assert first.expected_error == second.expected_error
    with pytest.raises(AttributeError):
        first.mechanism = "nod"


def test_noise_that_cannot_keep_the_promise_is_refused() -> None:
    with pytest.raises(InputError, match="Gaussian noise needs delta"):
        ln.plan(STATES, epsilon=1, noise="gaussian")
    with pytest.raises(InputError, match="Laplace noise needs epsilon"):
        ln.plan(STATES, rho=1, noise="laplace")
    with pytest.raises(PrivacyError):
        ln.plan(STATES, epsilon=1e-30)
