"""The adaptive mechanism: its weights against cvxpy, its completed columns, its error."""

import cvxpy as cp
import numpy as np
import pytest
from workloads import FAMILIES, STATES, WEIGHTED_STATES, ranges, related

from leastnoise.strategy.adaptive import Eigenqueries, adaptive, completion
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.goal import goal
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

NOISES = {"laplace": 1, "gaussian": 2}
TINY = {
    "states": STATES,
    "weighted states": WEIGHTED_STATES,
    "prefixes": np.tri(6),
    "ranges": ranges(5, 9),
    "real": related(6, 7),
    "dependent": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2]]),
}


def problem(W: np.ndarray, weights: object = None) -> Problem:
    return Problem(Workload(W), goal("total", weights, len(W)))


def strategy(draft: Draft) -> np.ndarray:
    return dense(draft.parts[0].coefficients)


@pytest.mark.parametrize("name", TINY)
def test_weights_cost_as_little_as_a_convex_solver_finds(name: str) -> None:
    """min Σ λ²/u  s.t.  (V∘V)ᵀu ≤ 1. Row i of what is measured is √uᵢ·Vᵢ, below the completion."""
    asked = problem(TINY[name])
    measured = strategy(adaptive(asked, Search(), noise="gaussian"))[asked.workload.classes :]
    _, values, V = np.linalg.svd(dense(asked.workload.matrix))
    values = values[values > 1e-9 * values[0]]
    u, squares = np.square(measured).sum(axis=1), V[: len(values)] ** 2
    assert np.abs(measured) == pytest.approx(np.sqrt(u)[:, None] * np.sqrt(squares), abs=1e-9)
    ours = (values**2 / u).sum() * (squares.T @ u).max()
    free = cp.Variable(len(values), pos=True)
    program = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(values**2, cp.inv_pos(free)))), [squares.T @ free <= 1]
    )
    theirs = program.solve(solver=cp.CLARABEL)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_the_dual_of_one_eigen_query_by_hand() -> None:
    """λ = 2, V = [0.6 0.8], all of q on the second cell: a = 0.64, t = 2·0.8, u = 2/0.8."""
    seen = Eigenqueries(np.array([2.0]), np.array([[0.6, 0.8]])).evaluate(np.array([0.0, 1.0]))
    assert (seen.t, seen.root[0]) == pytest.approx((1.6, 2.5))
    assert seen.achieved == pytest.approx(4 / 2.5 * (2.5 * 0.64))
    assert seen.ratios == pytest.approx([2.5 * 0.36 / 1.6, 1])


@pytest.mark.parametrize("seed", range(3))
def test_any_q_proves_a_bound_and_its_weights_are_above_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, values, V = np.linalg.svd(rng.standard_normal((4, 7)), full_matrices=False)
    eigen = Eigenqueries(values, V)
    points = [eigen.evaluate(rng.dirichlet(np.ones(7))) for _ in range(20)]
    assert max(point.t**2 for point in points) <= min(point.achieved for point in points)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("noise", NOISES)
def test_all_columns_are_as_long_as_the_longest_in_the_norm_of_the_noise(
    noise: str, family: str
) -> None:
    L = strategy(adaptive(problem(FAMILIES[family](8, 24)), Search(), noise=noise))
    lengths = np.linalg.norm(L, ord=NOISES[noise], axis=0)
    assert lengths == pytest.approx(np.full(L.shape[1], lengths.max()), rel=1e-3)


@pytest.mark.parametrize(("norm", "missing"), [(1, [1, 5]), (2, [np.sqrt(15), 5])])
def test_completion_by_hand(norm: int, missing: list[float]) -> None:
    """Columns (3, −1), of length 4 or √10, (0, 0), and (5, 0), the longest: it gets next to
    nothing, but something to divide by."""
    *shorter, longest = completion(np.array([[3.0, 0, 5], [-1, 0, 0]]), norm)
    assert shorter == pytest.approx(missing)
    assert 0 < longest <= 5e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_the_error_is_not_far_from_the_least_possible(family: str) -> None:
    """Of the four families 1% to 19% above; completing the columns is part of that."""
    asked = problem(FAMILIES[family](16, 64))
    draft = adaptive(asked, Search(), noise="gaussian")
    achieved = draft.row_squares.sum() * draft.sensitivities[1] ** 2
    lower = optimal(asked, Search()).bound.lower
    assert lower <= achieved <= 1.25 * lower


def test_weights_of_queries_weigh_eigen_queries() -> None:
    weights = [9, 1, 0.25]
    weighted = adaptive(problem(WEIGHTED_STATES, weights), Search(), noise="gaussian")
    rows = np.sqrt(weights)[:, None] * WEIGHTED_STATES
    by_hand = adaptive(problem(rows), Search(), noise="gaussian")
    assert np.abs(strategy(weighted)) == pytest.approx(np.abs(strategy(by_hand)), rel=1e-6)
