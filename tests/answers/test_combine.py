"""New questions from old noise: what is spanned is answered, what is not is named.

Every statistical threshold is exceeded by chance with probability below 1e-6.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from workloads import STATES, ranges, related

import leastnoise as ln
from leastnoise.answers.combine import COVERED, Estimate
from leastnoise.answers.laplace import half_widths
from leastnoise.errors import InputError, LeastnoiseError, PlanError

RUNS = 1_500
COUNTS = np.array([100, 50, 30, 20])
OTHERS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]])
PROMISES: dict[str, dict[str, Any]] = {
    "laplace": {"epsilon": 1},
    "gaussian": {"rho": "1/4"},
}


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def measured(release: ln.Release) -> tuple[np.ndarray, np.ndarray]:
    """Every L over the cells, in lattice units, and the variance of each row's noise."""
    rows, variances = [], []
    for part in release.parts:
        for block in part.strategy.blocks:
            L = np.zeros((block.L.shape[0], len(block.cells)))
            used = block.cells >= 0
            L[:, used] = dense(block.L)[:, block.cells[used]]
            rows.append(L)
            variances.append(np.full(len(L), part.noise.variance))
    return np.vstack(rows), np.concatenate(variances)


def least_variance(release: ln.Release, W: np.ndarray) -> np.ndarray:
    """wᵀ·(LᵀV⁻¹L)⁺·w, the variance of the best linear unbiased estimate (Aitken)."""
    L, variances = measured(release)
    information = np.linalg.pinv(L.T @ (L / variances[:, None]))
    return np.einsum("ij,jk,ik->i", W, information, W)


def test_sums_of_what_was_measured_are_answered_at_no_charge() -> None:
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    answered = release.answer([[2, 2, 1, 1], [1, 1, 1, 1]])
    ny_nj, ca_wa = release.answers[1:]
    assert answered.answers == pytest.approx([2 * ny_nj + ca_wa, ny_nj + ca_wa], rel=1e-12)
    assert answered.std**2 == pytest.approx([10, 4])
    assert answered.measurements[0] is release.measurements[0]
    assert answered.names == ("q1", "q2")
    low, high = answered.interval(0.9)
    assert (low < answered.answers).all()
    assert (answered.answers < high).all()
    assert "unaccounted" in str(answered)


@pytest.mark.parametrize("make", [ranges, related])
@pytest.mark.parametrize("noise", PROMISES)
def test_the_same_queries_get_the_same_answers(make: Any, noise: str) -> None:
    W = make(12, 20)
    release = ln.plan(W, mechanism="optimal", **PROMISES[noise]).release(range(20))
    again = release.answer(W)
    assert again.answers == pytest.approx(release.answers, rel=1e-6)
    assert again.std == pytest.approx(release.std, rel=1e-6)
    assert (again.bias <= 1.2 * release.bias + 1e-3 * release.std).all()


def test_no_other_estimate_is_better() -> None:
    W = np.tril(np.ones((10, 10)))
    release = ln.plan(W, epsilon=1, mechanism="hierarchical").release(range(10))
    other = ranges(9, 10, seed=1)
    assert release.answer(other).std ** 2 == pytest.approx(least_variance(release, other))


def test_queries_that_are_not_covered_are_named() -> None:
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    queries = ln.Workload(OTHERS, names=["NY", "NJ", "both", "all"])
    with pytest.raises(PlanError, match=r"2 of 4 queries are not covered .*: 'NY', 'NJ'; leave"):
        release.answer(queries)
    many = ln.identity(4) | ln.Workload(np.triu(np.ones((4, 4))))
    with pytest.raises(PlanError, match=r"and 1 more; leave them out, or plan them with ln.plan"):
        release.answer(many)


def test_a_query_is_covered_or_not_whatever_its_size() -> None:
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    assert release.answer([[1e-9, 1e-9, 0, 0]]).std == pytest.approx([1e-9 * release.std[1]])
    with pytest.raises(PlanError, match="1 of 2"):
        release.answer([[1e6, 1e6, 0, 0], [1e-9, 0, 0, 0]])


@pytest.mark.parametrize("more", [1e-2, 1e-5, 1e-7])
def test_a_query_that_is_hardly_off_is_off(more: float) -> None:
    """Not a sum of what was measured, by a little: with up to 2³² people that is not nothing."""
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    with pytest.raises(PlanError, match="1 of 1 queries are not covered"):
        release.answer([[1 + more, 1, 0, 0]])


def test_other_cells_are_another_domain() -> None:
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    with pytest.raises(InputError, match="over the 4 cells of the release, not 5"):
        release.answer(np.eye(5))


def test_cells_that_were_measured_and_are_not_asked_for() -> None:
    release = ln.plan(np.eye(4), epsilon=1, mechanism="nod").release(COUNTS)
    assert release.answer([[0, 1, 0, 0]]).std == pytest.approx([np.sqrt(2)])
    sums = ln.plan([[1, 1, 1, 1], [0, 0, 1, 1]], epsilon=1, mechanism="nor").release(COUNTS)
    assert sums.answer([[1, 1, 0, 0]]).std == pytest.approx([np.sqrt(2) * sums.std[0]])


def test_a_large_domain_is_not_made_dense() -> None:
    cells = 4_000
    release = ln.plan(ln.identity(cells), epsilon=1, mechanism="nod").release([1] * cells)
    answered = release.answer(ln.ranges(cells, [(0, 99), (5, 3_999)]))
    assert answered.std**2 == pytest.approx([200, 2 * (cells - 5)])


# Plans given a release


@cache
def given(old: str, new: str) -> ln.Plan:
    release = ln.plan(STATES, **PROMISES[old]).release(COUNTS)
    return ln.plan(OTHERS, given=release, **PROMISES[new])


@cache
def combined(old: str, new: str) -> list[ln.Release]:
    """Releases of both measurements, each anew."""
    plan, first = given(old, new), ln.plan(STATES, **PROMISES[old])
    made = []
    for _ in range(RUNS):
        numbers = first.release(COUNTS).measurements
        parts = tuple(replace(part, numbers=numbers) for part in plan.given)
        made.append(replace(plan, given=parts).release(COUNTS))
    return made


BOTH = [("laplace", "laplace"), ("laplace", "gaussian"), ("gaussian", "laplace")]


@pytest.mark.parametrize(("old", "new"), BOTH)
def test_combined_answers_reach_the_error_that_was_predicted(old: str, new: str) -> None:
    plan = given(old, new)
    off = np.array([one.answers for one in combined(old, new)]) - OTHERS @ COUNTS
    allowed = 6 * np.sqrt(5 / RUNS)  # kurtosis at most 6
    for fudge, is_right in ((1.0, True), (1.4, False)):
        ratios = np.square(off).mean(axis=0) / (fudge * plan.std) ** 2
        assert bool((np.abs(ratios - 1) < allowed).all()) == is_right
    assert (np.abs(off.mean(axis=0)) < 6 * plan.std / np.sqrt(RUNS)).all()


@pytest.mark.parametrize(("old", "new"), BOTH)
def test_combined_intervals_hold_as_often_as_they_say(old: str, new: str) -> None:
    truth = OTHERS @ COUNTS
    held = []
    for one in combined(old, new):
        low, high = one.interval(0.9)
        held.append((low <= truth) & (truth <= high))
    share = np.mean(held, axis=0)
    assert np.abs(share - 0.9).max() < 6 * np.sqrt(0.09 / RUNS)


@pytest.mark.parametrize(("old", "new"), BOTH)
def test_combined_answers_beat_both_parts(old: str, new: str) -> None:
    plan = given(old, new)
    release = combined(old, new)[0]
    first, second = (replace(release, parts=(part,)) for part in release.parts)
    beaten = 0
    for one in (first, second):
        covered = Estimate(ln.Workload(OTHERS), one.parts).is_covered
        alone = least_variance(one, OTHERS)[covered]
        assert (plan.std[covered] ** 2 <= alone * (1 + 1e-9)).all()
        beaten += int((plan.std[covered] ** 2 < 0.95 * alone).sum())
    assert beaten >= 2
    assert plan.std**2 == pytest.approx(least_variance(release, OTHERS))


def test_only_what_is_left_is_measured() -> None:
    """Given a + b, what is new in a and b is a − b."""
    first = ln.plan([[1, 1]], epsilon=1).release([3, 4])
    plan = ln.plan([[1, 0], [0, 1]], epsilon=1, given=first)
    assert plan.measurable.integers.rows == 1
    assert plan.std**2 == pytest.approx([1, 1])  # (2 + 2)/4
    assert "combined with 1 numbers measured before" in plan.summary()
    assert plan.certificate is None
    assert not plan.release([3, 4]).accounted
    assert len(plan.release([3, 4]).parts) == 2


def test_what_left_is_sharp_so_that_rounding_biases_nothing() -> None:
    first = ln.plan([[1, 1, 1, 0], [0, 0, 1, 1]], epsilon=1).release([1, 2, 3, 4])
    plan = ln.plan(np.eye(4), epsilon=1, given=first)
    assert (plan.bias < 1e-3 * plan.std).all()


def test_a_release_given_a_release_is_given_on() -> None:
    first = ln.plan([[1, 1, 1, 1]], epsilon=1).release(COUNTS)
    second = ln.plan(STATES, epsilon=1, given=first).release(COUNTS)
    third = ln.plan(np.eye(4), rho="1/2", given=second).release(COUNTS)
    assert len(third.parts) == 3
    assert third.std**2 == pytest.approx(least_variance(third, np.eye(4)))
    assert third.answer(STATES).std[0] < first.std[0]


def test_nothing_left_to_plan_is_said() -> None:
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    with pytest.raises(PlanError, match=r"answers all these queries already; release.answer\(quer"):
        ln.plan(STATES[1:], epsilon=1, given=release)


@pytest.mark.parametrize(
    ("queries", "options", "says"),
    [
        (OTHERS, {"given": "out/"}, "given must be a release, such as ln.load gives"),
        (np.eye(5), {}, "over the 4 cells of the release, not 5"),
        (OTHERS, {"mechanism": "mwem"}, "'mwem' makes no use of a release"),
    ],
)
def test_bad_givens(queries: np.ndarray, options: dict[str, Any], says: str) -> None:
    release = ln.plan(STATES, epsilon=1).release(COUNTS)
    with pytest.raises(LeastnoiseError, match=says):
        ln.plan(queries, epsilon=1, **({"given": release} | options))


def test_a_plan_given_a_release_keeps_to_itself() -> None:
    plan = given("laplace", "laplace")
    with pytest.raises(PlanError, match="cannot be saved; save what it releases"):
        plan.save("nowhere")
    with pytest.raises(InputError, match="not combined with a release"):
        ln.usefulness(plan, 10)
    runs = ln.rehearse(plan, COUNTS, runs=2_000)
    old = sum(part.answers for part in plan.given)
    L, _ = measured(plan.release(COUNTS))
    new = plan.strategy.blocks[0]
    expected = old + dense(new.B) @ L[: new.L.shape[0]] @ COUNTS
    assert np.abs(runs.mean(axis=0) - expected).max() < 6 * plan.std.max() / np.sqrt(2_000)


@pytest.mark.parametrize("misses", [0.5, 0.05, 1e-6])
def test_quantiles_of_normal_and_laplace_noise_together(misses: float) -> None:
    """X + s·N by numerical integration: P(|X + sN| > q) = E[2·P(X > q − sN)] by symmetry."""
    weights, normal = np.array([[1.0], [1.0], [0.3]]), np.array([0.0, 1.0, 2.0])
    nodes = np.linspace(-12, 12, 200_001)
    density = np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi) * (nodes[1] - nodes[0])
    for q, a, s in zip(half_widths(weights, misses, normal), weights[:, 0], normal, strict=True):
        z = (q - s * nodes) / a
        tail = np.where(z > 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2)
        assert 2 * float((density * tail).sum()) == pytest.approx(misses, rel=1e-6)


def test_what_counts_as_covered_is_far_from_what_is_not() -> None:
    release = ln.plan(related(12, 20), epsilon=1, mechanism="optimal").release(range(20))
    inside = Estimate(ln.Workload(related(12, 20)), release.parts)
    outside = Estimate(ln.Workload(np.eye(20)), release.parts)
    assert inside.off.max() < 1e-2 * COVERED < 1e2 * COVERED < outside.off.min()
