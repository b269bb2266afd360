"""The Gaussian optima: by hand, by finite differences, against semidefinite programmes."""

from collections.abc import Callable
from itertools import pairwise
from time import monotonic

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from workloads import FAMILIES, STATES, WEIGHTED_STATES, all_marginals, error, nuclear, ranges

from leastnoise.strategy.ascent import Progress, Search, Summit, ascend
from leastnoise.strategy.gaussian import Total, Worst, lower_bound
from leastnoise.strategy.goal import goal
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.matrices import dense
from leastnoise.workload.reduce import reduce
from leastnoise.workload.workload import Workload

TINY = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    elements=st.integers(-3, 3).map(float),
).filter(lambda W: np.any(W))

SEEDS = pytest.mark.parametrize("seed", range(6))


def total(W: np.ndarray, weights: np.ndarray | None = None) -> Total:
    return Total(reduce(Workload(W), _factors(W, weights)).matrix)


def worst(W: np.ndarray, weights: np.ndarray | None = None) -> Worst:
    """Over the classes of W, from independent rows of it."""
    factors, workload = _factors(W, weights), Workload(W)
    reduced = reduce(workload, factors)
    basis = np.eye(workload.classes) if reduced.basis is None else dense(reduced.basis)
    return Worst(factors[:, None] * dense(reduced.combine), basis)


def _factors(W: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return np.sqrt(np.ones(len(W)) if weights is None else weights)


def solve(objective: Total | Worst, **search: object) -> Summit:
    return ascend(objective.evaluate, objective.groups, objective.power, Search(**search))


def bound(found: Summit) -> float:
    return found.highest.t**2


def small_workload(seed: int) -> np.ndarray:
    """Integers for odd seeds, real numbers for even ones."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(3, 7)))
    return rng.integers(-2, 4, shape).astype(float) if seed % 2 else rng.standard_normal(shape)


def least_total(W: np.ndarray) -> float:
    """min tr(W·G⁻¹·Wᵀ) over G = LᵀL ≻ 0 with Gⱼⱼ = ‖Lⱼ‖² ≤ 1, over all cells, rank ignored."""
    gram = cp.Variable((W.shape[1],) * 2, PSD=True)
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(W.T, gram)), [cp.diag(gram) <= 1])
    return float(problem.solve(solver=cp.CLARABEL))


def least_worst(W: np.ndarray) -> float:
    """γ₂(W)²: W = B·L is a corner of the Gram matrix of the rows of B and the columns of L, which
    can share one largest squared length γ₂."""
    m, n = W.shape
    gram, largest = cp.Variable((m + n, m + n), PSD=True), cp.Variable()
    constraints = [gram[:m, m:] == W, cp.diag(gram) <= largest]
    cp.Problem(cp.Minimize(largest), constraints).solve(solver=cp.CLARABEL)
    return float(largest.value) ** 2


def worst_error(W: np.ndarray, L: np.ndarray, order: int = 2) -> float:
    """maxᵢ‖row i of W·L⁺‖²·Δ² by NumPy alone."""
    delta = np.linalg.norm(L, ord=order, axis=0).max()
    return float(np.square(W @ np.linalg.pinv(L)).sum(axis=1).max() * delta**2)


@SEEDS
@pytest.mark.parametrize("is_weighted", [False, True])
def test_least_total_is_that_of_a_semidefinite_programme(seed: int, is_weighted: bool) -> None:
    W = small_workload(seed)
    weights = np.random.default_rng(seed).uniform(0.1, 4, len(W)) if is_weighted else None
    found = solve(total(W, weights), gap=1e-6)
    optimum = least_total(_factors(W, weights)[:, None] * W)
    assert found.lowest.achieved == pytest.approx(optimum, rel=1e-4)
    assert bound(found) == pytest.approx(optimum, rel=1e-4)


@SEEDS
@pytest.mark.parametrize("is_weighted", [False, True])
def test_least_worst_is_that_of_a_semidefinite_programme(seed: int, is_weighted: bool) -> None:
    W = small_workload(seed)
    weights = np.random.default_rng(seed).uniform(0.1, 4, len(W)) if is_weighted else None
    found = solve(worst(W, weights), gap=1e-6)
    optimum = least_worst(_factors(W, weights)[:, None] * W)
    assert found.lowest.achieved == pytest.approx(optimum, rel=1e-4)
    assert bound(found) == pytest.approx(optimum, rel=1e-4)


@SEEDS
@pytest.mark.parametrize("objective", ["total", "worst"])
def test_the_draft_reaches_the_optimum_and_its_bound_does_not_pass_it(
    objective: str, seed: int
) -> None:
    """From weights to B and L: what the draft says of itself, and NumPy of it."""
    W = small_workload(seed)
    weights = np.random.default_rng(seed).uniform(0.1, 4, len(W))
    rows = np.sqrt(weights)[:, None] * W
    optimum = (least_total if objective == "total" else least_worst)(rows)
    draft = optimal(Problem(Workload(W), goal(objective, weights, len(W))), Search())
    says = goal(objective, weights, len(W)).of(draft.row_squares) * draft.sensitivities[1] ** 2
    assert draft.bound.lower <= optimum * (1 + 1e-7)
    assert optimum * (1 - 1e-6) <= says <= optimum * (1 + 1e-4)
    (part,) = draft.parts
    L = part.coefficients if part.basis is None else part.coefficients @ dense(part.basis)
    used = part.cells >= 0
    price = error if objective == "total" else worst_error
    price = price(rows[:, used], L[:, part.cells[used]], 2)
    assert says == pytest.approx(price, rel=1e-6)


def test_weighted_states_of_the_paper() -> None:
    found = solve(total(WEIGHTED_STATES), gap=1e-7)
    assert found.lowest.achieved == pytest.approx(15.6427, abs=5e-5)
    assert bound(found) == pytest.approx(15.6427, abs=5e-5)


def test_states_by_hand() -> None:
    """The classes NY + NJ and CA + WA are alike, so q = (1/2, 1/2); WᵀW = [[2, 1], [1, 2]] has
    eigenvalues 1 and 3, hence t = √(1/2) + √(3/2)."""
    found = solve(total(STATES), gap=1e-9)
    assert found.highest.probabilities == pytest.approx([0.5, 0.5])
    assert bound(found) == pytest.approx((np.sqrt(0.5) + np.sqrt(1.5)) ** 2, rel=1e-9)


def test_disjoint_queries_by_hand() -> None:
    """M = diag(a): t = Σ aⱼ√qⱼ is largest at qⱼ ∝ aⱼ², where t² = Σ aⱼ²."""
    a = np.array([1.0, 2, 5])
    found = solve(Total(np.diag(a)), gap=1e-10)
    assert found.highest.probabilities == pytest.approx(a**2 / 30, rel=1e-4)
    assert (bound(found), found.lowest.achieved) == pytest.approx((30, 30), rel=1e-8)


@pytest.mark.parametrize(("n", "signs"), [(1, [[1]]), (2, [[1, 1], [1, -1]])])
def test_worst_of_a_hadamard_matrix_by_hand(n: int, signs: list[list[int]]) -> None:
    """H·Hᵀ = 4n·I: γ₂² = 4n, at uniform p and q, since t = ‖H‖_*/4n = √(4n)."""
    H = np.kron(np.array(signs), np.kron([[1, 1], [1, -1]], [[1, 1], [1, -1]])).astype(float)
    found = solve(worst(H), gap=1e-9)
    assert found.steps == 1
    assert (bound(found), found.lowest.achieved) == pytest.approx((4 * n, 4 * n), rel=1e-9)


def test_worst_of_disjoint_queries_by_hand() -> None:
    """W = diag(a): B = W, L = I, and the largest a² is the whole of it."""
    found = solve(worst(np.diag([1.0, 2, 5])), gap=1e-6)
    assert (bound(found), found.lowest.achieved) == pytest.approx((25, 25), rel=2e-6)


@pytest.mark.parametrize("sizes", [(3, 4), (4, 4, 2), (2, 2, 2, 2)])
@pytest.mark.parametrize("ways", [1, 2])
def test_all_marginals_are_solved_in_one_step(sizes: tuple[int, ...], ways: int) -> None:
    """Every cell is alike, so that q is uniform from the start."""
    W = all_marginals(sizes, ways)
    found = solve(total(W), gap=1e-9)
    q = found.highest.probabilities
    assert found.steps == 1
    assert found.lowest.achieved == pytest.approx(bound(found), rel=1e-9)
    assert q == pytest.approx(np.full(W.shape[1], 1 / W.shape[1]), rel=1e-12)
    assert bound(found) == pytest.approx(nuclear(W, q) ** 2, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_of_t_is_half_the_squared_columns_of_L(seed: int) -> None:
    """∂t/∂qⱼ = gⱼ/2 with t(q) = ‖M·diag(√q)‖_*, by central differences."""
    rng = np.random.default_rng(seed)
    M, q = rng.standard_normal((4, 7)), rng.dirichlet(np.full(7, 5.0))
    point = Total(M).evaluate(q)
    L = point.root @ M
    assert point.ratios * point.t == pytest.approx((L**2).sum(axis=0))
    assert point.achieved == pytest.approx(error(M, L, 2), rel=1e-9)
    for j in range(7):
        assert point.ratios[j] * point.t / 2 == pytest.approx(
            slope(lambda x: np.linalg.svd(M * np.sqrt(x), compute_uv=False).sum(), q, j), rel=1e-6
        )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "n"), [(4, 6), (6, 4)])
def test_gradient_of_the_worst_t_is_half_the_squared_rows_and_columns(
    m: int, n: int, seed: int
) -> None:
    """∂t/∂pᵢ = ‖Bᵢ‖²/2 and ∂t/∂qⱼ = ‖Lⱼ‖²/2 with t = ‖diag(√p)·W·diag(√q)‖_*."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((m, n))
    where = np.concatenate([rng.dirichlet(np.full(m, 5.0)), rng.dirichlet(np.full(n, 5.0))])
    objective = worst(W)
    point = objective.evaluate(where)
    L = point.root @ objective.basis
    assert point.ratios[m:] * point.t == pytest.approx((L**2).sum(axis=0))
    assert point.achieved == pytest.approx(worst_error(W, L), rel=1e-9)

    def t(x: np.ndarray) -> float:
        scaled = np.sqrt(x[:m])[:, None] * W * np.sqrt(x[m:])
        return float(np.linalg.svd(scaled, compute_uv=False).sum())

    assert point.t == pytest.approx(t(where), rel=1e-12)
    for j in range(m + n):
        assert point.ratios[j] * point.t / 2 == pytest.approx(slope(t, where, j), rel=1e-5)


def slope(function: Callable[[np.ndarray], float], where: np.ndarray, j: int) -> float:
    """∂/∂xⱼ by central differences."""
    step = 1e-5 * np.eye(len(where))[j]
    return (function(where + step) - function(where - step)) / 2e-5


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(24, 64), (40, 16)])
def test_families_close_the_gap_and_numpy_agrees(family: str, m: int, n: int) -> None:
    W = np.asarray(Workload(FAMILIES[family](m, n)).matrix)
    objective = total(W)
    found = solve(objective, gap=1e-4)
    assert found.lowest.achieved <= bound(found) * 1.0001001
    q = found.highest.probabilities
    lower = lower_bound(objective.matrix, q)
    assert lower == pytest.approx(nuclear(W, q) ** 2, rel=1e-9)
    assert lower <= nuclear(W, q) ** 2
    L = found.lowest.root @ objective.matrix
    assert error(W, L, 2) == pytest.approx(found.lowest.achieved, rel=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(24, 64), (40, 16)])
def test_families_close_the_worst_gap_and_numpy_agrees(family: str, m: int, n: int) -> None:
    W = np.asarray(Workload(FAMILIES[family](m, n)).matrix)
    objective = worst(W)
    found = solve(objective, gap=1e-3)
    assert found.lowest.achieved <= bound(found) * 1.001001
    p, q = np.split(found.highest.probabilities, [m])
    assert bound(found) == pytest.approx(nuclear(np.sqrt(p)[:, None] * W, q) ** 2, rel=1e-6)
    L = found.lowest.root @ objective.basis
    assert worst_error(W, L) == pytest.approx(found.lowest.achieved, rel=1e-6)


@given(TINY, st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_no_strategy_beats_the_bounds(W: np.ndarray, seed: int) -> None:
    """Random p and q give valid bounds; random strategies, under both norms, have at least that
    error, in total and for the worst query."""
    rng = np.random.default_rng(seed)
    summed, largest = total(W), worst(W)
    least, most = solve(summed, gap=1e-3), solve(largest, gap=1e-3, most_steps=200)
    q = rng.random(summed.groups[0]) + 1e-3
    assert lower_bound(summed.matrix, q) <= least.lowest.achieved
    assert bound(least) <= least.lowest.achieved * (1 + 1e-9)
    assert bound(most) <= most.lowest.achieved * (1 + 1e-9)
    cells = W.shape[1]
    for strategy in (
        np.eye(cells),
        np.vstack([np.eye(cells), rng.standard_normal((3, cells))]),
        rng.standard_normal((2 * cells, cells)),
    ):
        for order in (1, 2):
            assert bound(least) <= error(W, strategy, order) * (1 + 1e-9)
            assert bound(most) <= worst_error(W, strategy, order) * (1 + 1e-9)


def test_weights_scale_rows_by_their_roots() -> None:
    W, weights = ranges(6, 8), np.array([4.0, 1, 0.25, 9, 1, 2])
    scaled = solve(total(np.sqrt(weights)[:, None] * W), gap=1e-7)
    assert bound(solve(total(W, weights), gap=1e-7)) == pytest.approx(bound(scaled), rel=1e-6)


def test_merging_and_dropping_columns_leave_the_optimum() -> None:
    told_apart = np.array([[1.0, 2, 0], [0, 1, 1]])
    with_copies = np.hstack([told_apart, told_apart[:, [0, 2, 2]], np.zeros((2, 2))])
    merged, unmerged = (solve(Total(M), gap=1e-7) for M in (told_apart, with_copies))
    assert merged.lowest.achieved == pytest.approx(unmerged.lowest.achieved, rel=1e-6)
    assert bound(merged) == pytest.approx(bound(unmerged), rel=1e-6)


def test_bounds_are_the_same_in_blocks_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    W = FAMILIES["related"](12, 50)
    at_once, q = total(W), np.random.default_rng(0).random(50)
    whole = at_once.evaluate(q), lower_bound(at_once.matrix, q)
    monkeypatch.setattr("leastnoise.strategy.gaussian._BLOCK", 7 * 6)
    parts = at_once.evaluate(q), lower_bound(at_once.matrix, q)
    assert parts[1] == pytest.approx(whole[1], rel=1e-10)
    assert parts[0].ratios == pytest.approx(whole[0].ratios, rel=1e-8)
    assert parts[0].achieved == pytest.approx(whole[0].achieved, rel=1e-8)


OBJECTIVES = pytest.mark.parametrize("objective", [total, worst])


@OBJECTIVES
def test_out_of_time_gives_the_best_so_far_with_a_valid_bound(
    objective: Callable[[np.ndarray], Total | Worst],
) -> None:
    W = ranges(24, 64)
    stopped = solve(objective(W), stop_at=monotonic())
    assert stopped.steps == 1
    assert stopped.lowest.achieved / bound(stopped) > 1.01
    best = solve(objective(W))
    assert bound(stopped) < best.lowest.achieved < stopped.lowest.achieved
    assert solve(objective(W), most_steps=7).steps == 7


@OBJECTIVES
def test_callback_hears_of_every_step_and_never_of_a_worse_one(
    objective: Callable[[np.ndarray], Total | Worst],
) -> None:
    heard: list[Progress] = []
    found = solve(objective(ranges(24, 64)), callback=heard.append)
    assert [one.step for one in heard] == list(range(1, found.steps + 1))
    assert all(one.mechanism == "optimal" for one in heard)
    for earlier, later in pairwise(heard):
        assert earlier.lower <= later.lower
        assert earlier.achieved >= later.achieved
        assert earlier.seconds <= later.seconds
    assert heard[-1].gap <= 5e-5


def test_without_a_bound_the_gap_is_infinite() -> None:
    assert Progress("augmented", 1, 2.0, 0.0, 0.1).gap == np.inf
    assert Progress("optimal", 1, 3.0, 2.0, 0.1).gap == 0.5


def test_what_the_callback_raises_comes_through() -> None:
    def impatient(progress: Progress) -> None:
        if progress.step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(total(ranges(24, 64)), callback=impatient)
