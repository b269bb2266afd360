"""The low-rank mechanism: its projections and steps, what its settings mean, and what it proves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from workloads import FAMILIES, WEIGHTED_STATES, ranges

import leastnoise as ln
from leastnoise.errors import InputError, TooLargeError
from leastnoise.strategy.ascent import Progress, Search
from leastnoise.strategy.fixed import noise_on_data
from leastnoise.strategy.goal import goal
from leastnoise.strategy.low_rank import low_rank
from leastnoise.strategy.multipliers import descend, project_l1, project_l2, residuals
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

NOISES = {"laplace": (project_l1, 1, np.inf), "gaussian": (project_l2, 2, 2)}
"""The projection that goes with a noise, the norm of its ball, and the dual of that norm."""

each_noise = pytest.mark.parametrize("noise", NOISES)
each_family = pytest.mark.parametrize("family", FAMILIES)
MATRICES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.floats(-5, 5).map(lambda value: round(value, 6)),
)


def problem(W: np.ndarray, weights: object = None) -> Problem:
    return Problem(Workload(W), goal("total", weights, len(W)))


def price(asked: Problem, draft: Draft, noise: str) -> float:
    """‖B‖²_F·Δ², the expected error at unit noise."""
    return asked.goal.of(draft.row_squares) * draft.sensitivities[NOISES[noise][1] - 1] ** 2


def factors(draft: Draft) -> tuple[np.ndarray, np.ndarray]:
    """B and L over classes."""
    (part,) = draft.parts
    L = dense(part.coefficients)
    return dense(part.rebuild), L if part.basis is None else L @ dense(part.basis)


def strictly(asked: Problem, noise: str, **options: object) -> Draft:
    """What the search itself finds, also where noise on data would be better."""
    return low_rank(asked, Search(), noise=noise, fallback=False, **options)


def over_cells(asked: Problem, rebuilt: np.ndarray) -> float:
    """‖W − BL‖_F with a column for each cell that is asked for."""
    cells = asked.workload.cells
    off = dense(asked.workload.matrix) - rebuilt
    return float(np.linalg.norm(off[:, cells[cells >= 0]]))


def cell_misfit(plan: ln.Plan) -> float:
    return float(np.linalg.norm(plan.workload.dense() - plan.strategy.B @ plan.strategy.L))


def told(plan: ln.Plan) -> float:
    """|W - BL| as the note gives it."""
    return float(plan.note.split(" = ")[1].split(",")[0])


def over_classes(plan: ln.Plan) -> np.ndarray:
    """B·L with one column for each class."""
    _, example = np.unique(plan.workload.cells, return_index=True)
    return (plan.strategy.B @ plan.strategy.L)[:, example[-plan.workload.classes :]]


@pytest.mark.parametrize(
    ("noise", "column", "projected"),
    [
        ("laplace", [3, 1], [1, 0]),
        ("laplace", [1, -0.5], [0.75, -0.25]),
        ("laplace", [-2, -2], [-0.5, -0.5]),
        ("laplace", [1e17, 0], [1, 0]),
        ("gaussian", [3, -4], [0.6, -0.8]),
    ],
)
def test_projections_by_hand(noise: str, column: list[float], projected: list[float]) -> None:
    project = NOISES[noise][0]
    assert project(np.array([column], dtype=float).T)[:, 0] == pytest.approx(projected)


@each_noise
@given(L=MATRICES)
def test_a_projection_is_the_nearest_point_of_the_ball(noise: str, L: np.ndarray) -> None:
    """p is nearest to l exactly when ⟨l − p, z − p⟩ ≤ 0 for all z in the ball: in the dual norm,
    ‖l − p‖* ≤ ⟨l − p, p⟩."""
    project, order, dual = NOISES[noise]
    nearest = project(L)
    left = L - nearest
    assert (np.linalg.norm(nearest, ord=order, axis=0) <= 1 + 1e-12).all()
    along = (left * nearest).sum(axis=0)
    assert (np.linalg.norm(left, ord=dual, axis=0) <= along + 1e-9).all()


@given(L=MATRICES)
def test_the_projection_on_the_l1_ball_lowers_all_by_one_threshold(L: np.ndarray) -> None:
    """θ by bisection, a column at a time."""
    for column, nearest in zip(L.T, project_l1(L).T, strict=True):
        low, high = 0.0, max(5.0, np.abs(column).max())
        for _ in range(100):
            theta = (low + high) / 2
            is_outside = np.maximum(np.abs(column) - theta, 0).sum() > 1
            low, high = (theta, high) if is_outside else (low, theta)
        assert nearest == pytest.approx(np.sign(column) * np.maximum(np.abs(column) - high, 0))


@each_noise
@given(L=MATRICES)
def test_points_inside_the_ball_stay_where_they_are(noise: str, L: np.ndarray) -> None:
    project, order, _ = NOISES[noise]
    inside = L / np.maximum(1, np.linalg.norm(L, ord=order, axis=0) * (1 + 1e-12))
    before = inside.copy()
    assert np.array_equal(project(inside), before)
    assert np.array_equal(inside, before)


def instance(seed: int, noise: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """L in the ball, B, and a target that no L in the ball reaches."""
    rng = np.random.default_rng(seed)
    L = NOISES[noise][0](rng.standard_normal((4, 7)))
    return L, rng.standard_normal((5, 4)), 3 * rng.standard_normal((5, 7))


@each_noise
@pytest.mark.parametrize("seed", range(20))
def test_descending_lowers_the_misfit_inside_the_ball(noise: str, seed: int) -> None:
    (project, order, _), (L, B, target) = NOISES[noise], instance(seed, noise)
    lower = descend(L, B, target, project)
    assert np.linalg.norm(target - B @ lower) < np.linalg.norm(target - B @ L)
    assert (np.linalg.norm(lower, ord=order, axis=0) <= 1 + 1e-12).all()


@each_noise
@pytest.mark.parametrize("seed", range(3))
def test_descending_on_ends_where_no_direction_is_better(noise: str, seed: int) -> None:
    """At the least of a convex function the gradient G has ‖Gⱼ‖* = −⟨Gⱼ, Lⱼ⟩ in the dual norm."""
    (project, _, dual), (L, B, target) = NOISES[noise], instance(seed, noise)
    for _ in range(400):
        L = descend(L, B, target, project)
    gradient = B.T @ (B @ L - target)
    slack = np.linalg.norm(gradient, ord=dual, axis=0) + (gradient * L).sum(axis=0)
    assert slack == pytest.approx(np.zeros(7), abs=1e-6)


def test_a_search_survives_where_b_is_a_multiple_of_an_orthogonal_matrix() -> None:
    """LAPACK, asked for the largest eigenvalue of such a BᵀB alone, fails."""
    W = FAMILIES["marginals"](6, 16)
    options = {"epsilon": 1, "delta": 1e-4, "noise": "gaussian", "mechanism": "lrm"}
    plan = ln.plan(W, **options, relaxed=True, fallback=False)
    assert plan.certificate is None
    assert np.abs(plan.strategy.B @ plan.strategy.L - W).max() < 0.01


def test_where_b_is_zero_there_is_nowhere_to_descend() -> None:
    L = np.array([[0.5, 1.0]])
    assert np.array_equal(descend(L, np.zeros((3, 1)), np.ones((3, 2)), project_l1), L)


@pytest.mark.parametrize(
    ("point", "expected"),
    [((1, 1, 1), (0, 0, 0)), ((2, 0.5, 1), (0, 1.5, 0.5)), ((1, 0.5, 0), (0.5, 1, 0))],
)
@each_noise
def test_optimality_conditions_by_hand(
    noise: str, point: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    """The single query [[1]]: B = L = π = 1 is optimal, anything else is not."""
    B, L, pi = (np.array([[float(value)]]) for value in point)
    assert residuals(np.ones((1, 1)), B, L, pi, NOISES[noise][0]) == pytest.approx(expected)


@each_noise
def test_a_long_tight_search_ends_where_the_optimality_conditions_hold(noise: str) -> None:
    draft = strictly(problem(WEIGHTED_STATES), noise, gamma=1e-6)
    assert max(draft.history.residuals) < 1e-5


def test_the_paper_s_second_example_is_solved_as_well_as_anybody_did() -> None:
    """38/ε² is the strategy the paper prints, 15.6427 the Gaussian optimum."""
    asked = problem(WEIGHTED_STATES)
    laplace, gaussian = (
        price(asked, strictly(asked, noise, gamma=1e-6), noise) for noise in NOISES
    )
    assert 2 * laplace <= 38.01
    assert gaussian == pytest.approx(15.6427, rel=1e-5)


@each_family
@each_noise
def test_the_search_ends_within_gamma(noise: str, family: str) -> None:
    for gamma in (0.1, 1e-4):
        draft = strictly(problem(FAMILIES[family](8, 24)), noise, gamma=gamma)
        assert 0 < draft.history.misfits[-1] <= gamma


@each_family
@each_noise
def test_l_is_closed_so_that_queries_are_rebuilt(noise: str, family: str) -> None:
    """Whatever γ was: here one that leaves half of W unexplained if it were not closed."""
    asked = problem(FAMILIES[family](8, 24))
    for gamma in (0.01, 1.0):
        B, L = factors(strictly(asked, noise, gamma=gamma))
        assert np.abs(dense(asked.workload.matrix) - B @ L).max() < 1e-9


@each_family
def test_for_gaussian_noise_the_error_is_near_the_certified_bound(family: str) -> None:
    asked = problem(FAMILIES[family](8, 24))
    lower = optimal(asked, Search()).bound.lower
    assert lower <= price(asked, strictly(asked, "gaussian"), "gaussian") <= 1.02 * lower


@each_family
@each_noise
def test_falling_back_is_never_worse_than_noise_on_data(noise: str, family: str) -> None:
    asked = problem(FAMILIES[family](8, 24))
    draft = low_rank(asked, Search(), noise=noise)
    on_data = price(asked, noise_on_data(asked, Search()), noise)
    assert price(asked, draft, noise) <= on_data * (1 + 1e-12)
    assert price(asked, draft, noise) <= price(asked, strictly(asked, noise), noise) * (1 + 1e-12)


def test_falling_back_is_told() -> None:
    asked = problem(FAMILIES["discrete"](8, 24))
    fallen, own = low_rank(asked, Search(), noise="laplace"), strictly(asked, "laplace")
    assert (fallen.note, own.note) == ("fell back to noise on data", "")
    assert price(asked, fallen, "laplace") == 40 < price(asked, own, "laplace")
    assert np.array_equal(factors(fallen)[1], np.eye(5))
    assert fallen.history is not None


def test_the_default_rank_is_that_of_the_queries_and_a_fifth_more_for_laplace() -> None:
    asked = problem(FAMILIES["related"](10, 24))  # of rank 5
    assert factors(strictly(asked, "gaussian"))[1].shape[0] == 5
    assert factors(strictly(asked, "laplace"))[1].shape[0] == 6
    assert factors(strictly(asked, "laplace", rank=9))[1].shape[0] == 9


@each_family
@each_noise
def test_a_relaxed_strategy_is_within_gamma_and_feasible(noise: str, family: str) -> None:
    asked = problem(FAMILIES[family](8, 24))
    draft = strictly(asked, noise, gamma=0.2, relaxed=True)
    B, L = factors(draft)
    misfit = over_cells(asked, B @ L)
    assert 1e-6 < misfit <= 0.2
    assert misfit == pytest.approx(draft.history.misfits[-1], rel=1e-9)
    assert np.linalg.norm(L, ord=NOISES[noise][1], axis=0).max() <= 1 + 1e-12
    assert draft.is_relaxed


@pytest.fixture(scope="module")
def relaxed() -> ln.Plan:
    options = {"relaxed": True, "gamma": 0.5, "fallback": False}
    return ln.plan(ranges(8, 24), epsilon=1, mechanism="lrm", max_total=1000, **options)


def test_a_relaxed_plan_says_so_and_by_how_much_it_may_be_off(relaxed: ln.Plan) -> None:
    off = np.abs(relaxed.workload.matrix - over_classes(relaxed))
    assert relaxed.is_relaxed
    assert relaxed.bias == pytest.approx(1000 * off.max(axis=1), rel=1e-6)
    assert relaxed.note.startswith("relaxed: |W - BL| = ")
    assert told(relaxed) == pytest.approx(cell_misfit(relaxed), rel=5e-3)
    words = relaxed.summary()
    assert f"note       {relaxed.note}" in words
    assert f"W is not quite BL, which may shift an answer by up to {max(relaxed.bias):.3g}" in words


def test_intervals_of_a_relaxed_release_are_wider_by_its_bias(relaxed: ln.Plan) -> None:
    release = relaxed.release([3] * 24)
    ours, unbiased = (
        one.interval(0.9) for one in (release, replace(release, bias=0 * release.bias))
    )
    widened = (ours.high - ours.low) - (unbiased.high - unbiased.low)
    assert widened == pytest.approx(2 * relaxed.bias)
    assert "relaxing the strategy may shift" in str(release)


def test_no_answer_of_a_relaxed_plan_is_shifted_beyond_its_bias(relaxed: ln.Plan) -> None:
    """All the records in the one cell that shifts an answer the most: there the bias is met."""
    W, rebuilt = relaxed.workload.dense(), relaxed.strategy.B @ relaxed.strategy.L
    shifts = 1000 * (rebuilt - W)
    assert np.abs(shifts).max(axis=1) == pytest.approx(relaxed.bias, rel=1e-6)


def test_an_exact_plan_is_not_relaxed() -> None:
    plan = ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="lrm")
    assert (plan.is_relaxed, plan.note) == (False, "")
    assert (plan.bias < 1e-3).all()


def nearest(W: np.ndarray, rows: int) -> float:
    """The least ‖W − BL‖_F of so many rows."""
    return float(np.linalg.norm(np.linalg.svd(W, compute_uv=False)[rows:]))


@each_noise
def test_fewer_rows_than_the_rank_are_a_relaxation(noise: str) -> None:
    """No L of five rows comes nearer to W than its other singular values (Eckart & Young)."""
    W = ranges(8, 24)
    asked = problem(W)
    draft = strictly(asked, noise, rank=5)
    least = nearest(W, 5)
    B, L = factors(draft)
    assert L.shape[0] == 5
    assert least * (1 - 1e-9) <= over_cells(asked, B @ L) <= 1.011 * least
    assert draft.is_relaxed
    assert draft.note.startswith("relaxed: ")


@pytest.mark.parametrize("rank", [1, 5])
@pytest.mark.parametrize("share", [0.5, 1.1])
def test_a_gamma_within_reach_of_few_rows_is_reached(rank: int, share: float) -> None:
    """And one that is not ends next to the nearest."""
    W = ranges(16, 64)
    least = nearest(W, rank)
    options = {"rank": rank, "gamma": share * least, "fallback": False}
    plan = ln.plan(W, rho=1, mechanism="lrm", **options)
    assert plan.history.misfits[-1] <= max(share, 1.011) * least
    assert cell_misfit(plan) == pytest.approx(plan.history.misfits[-1], rel=1e-3)


def test_the_note_is_of_w_and_not_of_weighted_rows() -> None:
    options = {"relaxed": True, "fallback": False, "gamma": 0.5, "weights": [100] * 8}
    plan = ln.plan(ranges(8, 24), epsilon=1, mechanism="lrm", max_total=1000, **options)
    assert told(plan) == pytest.approx(cell_misfit(plan), rel=5e-3)
    assert plan.history.misfits[-1] == pytest.approx(10 * cell_misfit(plan), rel=1e-3)


def test_the_scale_of_the_queries_does_not_matter() -> None:
    one, other = (
        ln.plan(ranges(8, 24) * scale, epsilon=1, mechanism="lrm", fallback=False)
        for scale in (1, 10**9)
    )
    assert other.expected_error == pytest.approx(10**18 * one.expected_error, rel=0.05)


def test_no_slack_and_fewer_rows_than_the_rank_are_refused_with_what_is_possible() -> None:
    says = "rank 5 is below 8, .* give a rank of at least 8, or a gamma above 0"
    with pytest.raises(InputError, match=says):
        ln.plan(ranges(8, 24), epsilon=1, mechanism="lrm", rank=5, gamma=0)
    assert not ln.plan(ranges(8, 24), epsilon=1, mechanism="lrm", rank=8, gamma=0).is_relaxed


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"gamma": -0.1}, "gamma must be a number of at least 0 and finite, not -0.1"),
        ({"gamma": np.nan}, "gamma must be a number of at least 0 and finite, not nan"),
        ({"gamma": np.inf}, "gamma must be a number of at least 0 and finite, not inf"),
        ({"gamma": 10**400}, "gamma must be a number of at least 0 and finite, not 1"),
        ({"gamma": "0.1"}, "gamma must be a number of at least 0 and finite, not '0.1'"),
        ({"gamma": True}, "gamma must be a number of at least 0 and finite, not True"),
        ({"gamma": None}, "gamma must be a number of at least 0 and finite, not None"),
        ({"rank": 0}, "rank must be a whole number of at least 1, not 0"),
        ({"rank": -3}, "rank must be a whole number of at least 1, not -3"),
        ({"rank": 1.5}, "rank must be a whole number of at least 1, not 1.5"),
        ({"rank": True}, "rank must be a whole number of at least 1, not True"),
        ({"rank": "4"}, "rank must be a whole number of at least 1, not '4'"),
        ({"relaxed": "yes"}, "relaxed must be True or False, not 'yes'"),
        ({"relaxed": 1}, "relaxed must be True or False, not 1"),
        ({"fallback": "no"}, "fallback must be True or False, not 'no'"),
        ({"fallback": None}, "fallback must be True or False, not None"),
        ({"fallback": 0}, "fallback must be True or False, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="lrm", **options)


def test_a_rank_beyond_the_memory_is_refused_before_the_search() -> None:
    with pytest.raises(TooLargeError, match="give a lower rank"):
        ln.plan(WEIGHTED_STATES, epsilon=1, mechanism="lrm", rank=10**9)


@each_noise
def test_the_history_tells_every_outer_step(noise: str) -> None:
    heard: list[Progress] = []
    search = Search(callback=heard.append)
    draft = low_rank(problem(ranges(8, 24)), search, noise=noise, fallback=False, gamma=1e-3)
    history = draft.history
    assert len(history.penalties) == len(history.misfits) == len(history.traces) == draft.steps > 20
    assert (np.diff(history.penalties) >= 0).all()
    assert history.penalties[-1] > history.penalties[0] > 0
    assert history.misfits[-1] <= 1e-3 < history.misfits[0]
    assert [one.achieved for one in heard] == history.traces.tolist()
    assert 0 < history.residuals[0] <= history.misfits[-1]  # over classes, and over cells


def test_a_seed_repeats_a_search_and_another_seed_starts_elsewhere() -> None:
    asked = problem(ranges(8, 24))
    first, again, other = (
        factors(low_rank(asked, Search(seed=seed), noise="laplace", fallback=False))[1]
        for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.allclose(first, other, atol=1e-6)


@each_family
def test_out_of_time_queries_are_rebuilt_all_the_same(family: str) -> None:
    """After one outer step there is no L worth having yet: the one at the start takes its place.
    Real queries have no integer basis, and are off by what their plan says."""
    W = FAMILIES[family](8, 24)
    for promise in ({"rho": 1}, {"epsilon": 1}):
        plan = ln.plan(W, mechanism="lrm", deadline=1e-9, fallback=False, **promise)
        assert len(plan.history.misfits) == 1
        off = np.abs(W - plan.strategy.B @ plan.strategy.L).max(axis=1)
        assert (off <= plan.bias / plan.max_total + 1e-9).all()
        assert (plan.bias <= 1e-7 * plan.max_total).all()


@each_noise
@given(W=hnp.arrays(np.int64, (4, 5), elements=st.integers(-3, 3)).filter(np.any))
@settings(max_examples=15, deadline=None)
def test_whatever_the_queries_the_search_of_its_own_answers_them(noise: str, W: np.ndarray) -> None:
    """Of any rank; without the way out over noise on data."""
    promise = {"epsilon": 1} if noise == "laplace" else {"rho": 1}
    plan = ln.plan(W, mechanism="lrm", fallback=False, **promise)
    assert np.abs(W - plan.strategy.B @ plan.strategy.L).max() <= 1e-9 * np.abs(W).max()
