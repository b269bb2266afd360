"""Strategies of more rows than the queries have rank, written so that rounding cannot bias them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from workloads import STATES, WEIGHTED_STATES, related

from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.spanning import closed, spanning
from leastnoise.strategy.strategy import Part, rebuild
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

INTEGERS = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.integers(-3, 3),
).filter(np.any)
SEEDS = st.integers(0, 2**32 - 1)


def problem(W: np.ndarray, weights: object = None) -> Problem:
    return Problem(Workload(W), goal("total", weights, len(W)))


def mixed(asked: Problem, more: int, seed: int) -> np.ndarray:
    """Rows that span the queries and `more` directions besides, well mixed."""
    rng, W = np.random.default_rng(seed), dense(asked.workload.matrix)
    _, values, right = np.linalg.svd(W)
    rank = int((values > 1e-9 * values[0]).sum())
    size = rank + min(more, W.shape[1] - rank)
    upright, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return (upright * rng.uniform(0.5, 2, size)) @ right[:size]


def measured(part: Part) -> np.ndarray:
    L = dense(part.coefficients)
    return L if part.basis is None else L @ dense(part.basis)


@given(W=INTEGERS, more=st.integers(0, 3), seed=SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_part_measures_what_it_was_given_and_rebuilds_the_queries(
    W: np.ndarray, more: int, seed: int
) -> None:
    """To rounding where L consists of queries, else to the 12 bits kept of other directions."""
    asked = problem(W)
    L, matrix = mixed(asked, more, seed), dense(asked.workload.matrix)
    part = spanning(asked, L)
    basis = np.eye(len(matrix.T)) if part.basis is None else dense(part.basis)
    is_of_queries = len(L) == np.linalg.matrix_rank(matrix) or part.basis is None
    assert np.allclose(measured(part), L, rtol=0, atol=1e-9 if is_of_queries else 2**-10)
    assert np.allclose(dense(part.combine) @ basis, matrix, rtol=0, atol=1e-9)
    assert np.allclose(dense(part.rebuild) @ measured(part), matrix, rtol=0, atol=1e-8)


@given(W=INTEGERS, more=st.integers(0, 3), seed=SEEDS)
@settings(deadline=None, max_examples=60)
def test_rounded_to_a_few_bits_it_still_rebuilds_the_queries_exactly(
    W: np.ndarray, more: int, seed: int
) -> None:
    """Entry by entry, L rounded as coarsely would be off by a hundredth."""
    asked = problem(W)
    part = spanning(asked, mixed(asked, more, seed))
    assert part.is_exact
    rough = np.rint(2.0**10 * dense(part.coefficients))
    basis = np.eye(asked.workload.classes) if part.basis is None else dense(part.basis)
    assert np.array_equal(basis, np.rint(basis))
    rebuilt = dense(rebuild(part.combine, rough)) @ (rough @ basis)
    assert np.allclose(rebuilt, dense(asked.workload.matrix), rtol=0, atol=1e-9)


def test_the_other_directions_are_rounded_to_whole_numbers_of_12_bits() -> None:
    """And no query depends on them."""
    asked = problem(np.array([[1, 1, 0, 2], [0, 1, 3, 0]]))
    part = spanning(asked, mixed(asked, 1, seed=0))
    extra = dense(part.basis)[2:]
    assert extra.shape == (1, 4)
    assert np.abs(extra).max() == 2**12
    assert dense(part.combine)[:, 2:].tolist() == [[0], [0]]


def test_a_strategy_of_the_queries_alone_needs_no_other_direction() -> None:
    asked = problem(WEIGHTED_STATES)
    part = spanning(asked, np.array([[1.0, 2, 0.5], [0, 1, 1], [1, 0, 1]]) @ WEIGHTED_STATES)
    assert np.array_equal(dense(part.basis), WEIGHTED_STATES)


def test_where_the_queries_span_every_class_l_is_measured_as_it_is() -> None:
    asked, L = problem(STATES), np.array([[0.3, 0.7], [1.0, -0.2]])
    part = spanning(asked, L)
    assert part.basis is None
    assert np.array_equal(part.coefficients, L)


def test_weights_and_real_queries_are_no_hindrance() -> None:
    W = related(6, 14)
    asked = problem(W, weights=[4, 1, 0, 2, 9, 1])
    part = spanning(asked, mixed(asked, 2, seed=1))
    assert measured(part) == pytest.approx(mixed(asked, 2, seed=1), abs=2**-10)
    assert dense(part.rebuild) @ measured(part) == pytest.approx(W, abs=1e-8)
    assert not part.is_exact


@pytest.mark.parametrize("seed", range(5))
def test_closing_moves_l_no_farther_than_it_must(seed: int) -> None:
    """To the nearest L′ with M = B·L′: what is moved lies in the rows of B."""
    rng = np.random.default_rng(seed)
    matrix, B, L = (rng.standard_normal(shape) for shape in ((3, 7), (3, 5), (5, 7)))
    moved = closed(matrix, B, L) - L
    assert B @ (L + moved) == pytest.approx(matrix)
    beside = np.eye(5) - np.linalg.pinv(B) @ B
    assert beside @ moved == pytest.approx(np.zeros((5, 7)), abs=1e-12)
