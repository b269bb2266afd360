"""Weighted marginals: their error and its gradient, energies, and that the draft is exact."""

from math import prod

import numpy as np
import pytest
from workloads import all_marginals, error

import leastnoise as ln
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.fixed import noise_on_data
from leastnoise.strategy.goal import goal
from leastnoise.strategy.marginals import Weights, energies, marginals
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

each_size = pytest.mark.parametrize("sizes", [(6,), (2, 3), (2, 3, 2)])


def problem(W: np.ndarray) -> Problem:
    return Problem(Workload(W), goal("total", None, len(W)))


def price(asked: Problem, draft: Draft) -> float:
    return asked.goal.of(draft.row_squares) * draft.sensitivities[0] ** 2


def factors(draft: Draft) -> tuple[np.ndarray, np.ndarray]:
    (part,) = draft.parts
    return dense(part.rebuild), dense(part.measured)


def queries(sizes: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((4, prod(sizes)))


def tables(sizes: tuple[int, ...], weights: np.ndarray) -> np.ndarray:
    """θ_S times the marginal over S, for every set S of attributes: Kronecker products."""
    blocks = []
    for index, weight in enumerate(weights):
        block = np.full((1, 1), weight)
        for axis, size in enumerate(sizes):
            block = np.kron(block, np.eye(size) if index >> axis & 1 else np.ones((1, size)))
        blocks.append(block)
    return np.vstack(blocks)


def eigenspace(sizes: tuple[int, ...], index: int) -> np.ndarray:
    """The projection: deviations along the attributes of the set, means along the others."""
    found = np.ones((1, 1))
    for axis, size in enumerate(sizes):
        mean = np.full((size, size), 1 / size)
        found = np.kron(found, np.eye(size) - mean if index >> axis & 1 else mean)
    return found


@each_size
def test_energies_are_those_of_explicit_projections(sizes: tuple[int, ...]) -> None:
    W = queries(sizes)
    expected = [np.square(W @ eigenspace(sizes, one)).sum() for one in range(2 ** len(sizes))]
    assert energies(W, sizes) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)
    assert energies(W, sizes).sum() == pytest.approx(np.square(W).sum(), rel=1e-12)


@each_size
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_the_error_that_numpy_finds(sizes: tuple[int, ...], seed: int) -> None:
    """The logarithm of ‖W·L⁺‖²·Δ₁²."""
    W, weights = queries(sizes), np.random.default_rng(seed).random(2 ** len(sizes))
    value, _ = Weights(sizes, energies(W, sizes)).loss(weights)
    assert np.exp(value) == pytest.approx(error(W, tables(sizes, weights), 1), rel=1e-9)


@each_size
@pytest.mark.parametrize("seed", range(3))
def test_its_gradient_is_that_of_finite_differences(sizes: tuple[int, ...], seed: int) -> None:
    weights = 0.1 + np.random.default_rng(seed).random(2 ** len(sizes))
    priced = Weights(sizes, energies(queries(sizes), sizes))
    for where, slope in enumerate(priced.loss(weights)[1]):
        step = np.zeros_like(weights)
        step[where] = 1e-6
        up, down = (priced.loss(weights + sign * step)[0] for sign in (1, -1))
        assert slope == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (4, 4)])
def test_a_draft_is_exact_and_of_whole_weights(sizes: tuple[int, ...], ways: int) -> None:
    W = all_marginals(sizes, ways)
    asked = problem(W)
    draft = marginals(asked, Search())
    B, L = factors(draft)
    assert asked.workload.classes == prod(sizes)
    assert np.array_equal(L, np.rint(L))
    assert np.abs(B @ L - dense(asked.workload.matrix)).max() < 1e-10
    assert price(asked, draft) == pytest.approx(error(asked.workload.matrix, L, 1), rel=1e-9)


def test_one_way_marginals_cost_far_less_than_noise_on_data() -> None:
    """Each of three tables with a third of Δ₁: 12 variances of 9, against 3·64 of 1."""
    asked = problem(all_marginals((4, 4, 4), 1))
    assert price(asked, noise_on_data(asked, Search())) == 192
    assert price(asked, marginals(asked, Search())) <= 108


@pytest.mark.parametrize("more", [1, 3])
def test_merged_cells_are_answered_exactly(more: int) -> None:
    """Only the first values of an attribute are asked for: others are one class, or none."""
    W = np.vstack([np.kron(np.tri(5)[:3], np.ones(4)), np.kron(np.ones(5), np.tri(4)[:more])])
    asked = problem(W)
    assert asked.workload.classes < 20
    B, L = factors(marginals(asked, Search()))
    assert np.abs(B @ L - dense(asked.workload.matrix)).max() < 1e-10
    plan = ln.plan(W, epsilon=1, mechanism="marginals")
    assert np.abs(plan.strategy.B @ plan.strategy.L - W).max() < 1e-9


def test_cells_in_no_query_are_answered_exactly() -> None:
    W = np.kron(np.array([[1, 0, 0], [0, 1, 0]]), np.tri(4))
    B, L = factors(marginals(problem(W), Search()))
    assert np.abs(B @ L - dense(Workload(W).matrix)).max() < 1e-10
    assert np.abs(L).sum(axis=1).all()


@pytest.mark.parametrize(("attributes", "table"), [(10, "2 x 2 x 2 x "), (11, "2047 table")])
def test_more_than_ten_attributes_are_taken_for_one_of_classes(attributes: int, table: str) -> None:
    """One query of each; the cell in which all are 0 is in none."""
    bits = np.indices((2,) * attributes).reshape(attributes, -1)
    draft = marginals(problem(bits), Search())
    assert f" of a {table}" in draft.note
    B, L = factors(draft)
    assert np.abs(B @ L - dense(Workload(bits).matrix)).max() < 1e-9


def test_the_note_tells_the_table() -> None:
    draft = marginals(problem(all_marginals((4, 5, 6), 1)), Search())
    assert draft.note == "3 weighted marginals of a 4 x 5 x 6 table"
    assert marginals(problem(np.eye(5)), Search()).note == "1 weighted marginal of a 5 table"
