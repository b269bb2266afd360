"""Noise on data and noise on results: formulas by hand."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from workloads import STATES, WEIGHTED_STATES

import leastnoise as ln
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.fixed import noise_on_data, noise_on_results
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload


def problem(W: np.ndarray) -> Problem:
    return Problem(Workload(W), goal("total", None, len(W)))


INTEGERS = hnp.arrays(np.int64, (3, 5), elements=st.integers(-3, 3)).filter(np.any)


@pytest.mark.parametrize(
    ("mechanism", "W", "expected"),
    [
        ("nor", STATES, 24),  # 2·Δ²·m = 2·2²·3
        ("nod", STATES, 8),  # two classes: 2·‖[[1, 1], [1, 0], [0, 1]]‖²
        ("nor", WEIGHTED_STATES, 150),  # the WA column: 2·5²·3
        ("nod", WEIGHTED_STATES, 40),  # 2·(4+1+1 + 1+4 + 1+4+4)
    ],
)
@pytest.mark.parametrize("epsilon", [1, 0.1])
def test_worked_examples(mechanism: str, W: np.ndarray, expected: float, epsilon: float) -> None:
    plan = ln.plan(W, epsilon=epsilon, mechanism=mechanism)
    assert plan.expected_error == pytest.approx(expected / epsilon**2, rel=1e-9)


def test_merging_is_what_halves_noise_on_data() -> None:
    """Cell by cell the states cost 2·‖W‖²_F = 16/ε², by class 8/ε²."""
    told_apart = np.vstack([STATES, 1e-3 * np.eye(4)])
    assert 2 * np.square(STATES).sum() == 16
    plan = ln.plan(told_apart, epsilon=1, mechanism="nod")
    assert plan.workload.classes == 4
    assert plan.expected_error == pytest.approx(16 + 2 * 4e-6, rel=1e-9)


@given(INTEGERS)
@settings(deadline=None)
def test_formulas(W: np.ndarray) -> None:
    """Variances at unit noise: ‖Wᵢ‖² over classes, and 1 each with Δ the largest column norm."""
    classes = np.unique(W[:, W.any(axis=0)], axis=1)
    data, results = (draft(problem(W), Search()) for draft in (noise_on_data, noise_on_results))
    assert data.row_squares == pytest.approx(np.square(classes).sum(axis=1))
    assert data.sensitivities == (1, 1)
    assert results.row_squares == pytest.approx(np.ones(3))
    largest = (np.abs(W).sum(axis=0).max(), np.sqrt(np.square(W).sum(axis=0).max()))
    assert results.sensitivities == pytest.approx(largest)


def test_a_zero_query_costs_nothing_cell_by_cell_and_is_answered_exactly() -> None:
    plan = ln.plan([[0, 0], [1, 1]], epsilon=1, mechanism="nod")
    assert plan.std.tolist() == pytest.approx([0, np.sqrt(2)])
    assert plan.release([5, 6]).answers[0] == 0


def test_rational_rows_are_measured_as_integers() -> None:
    W = np.array([[1 / 3, 2 / 3], [0.1, 0.0]])
    part = noise_on_results(problem(W), Search()).parts[0]
    assert part.is_exact
    assert dense(part.basis).tolist() == [[1, 2], [1, 0]]
    assert dense(part.coefficients) @ dense(part.basis) == pytest.approx(W)


@pytest.mark.parametrize(("mechanism", "each"), [("nod", 8), ("nor", 24)])
def test_sparse_workloads_stay_sparse(mechanism: str, each: int) -> None:
    """500 copies of the states beside each other: errors add up, sensitivity stays."""
    copies = sparse.kron(sparse.eye_array(500), sparse.csr_array(STATES), format="csr")
    plan = ln.plan(copies, epsilon=1, mechanism=mechanism)
    matrices = [plan.workload.matrix, plan.strategy.blocks[0].L, plan.strategy.blocks[0].B]
    assert all(sparse.issparse(matrix) for matrix in matrices)
    assert plan.expected_error == pytest.approx(500 * each, rel=1e-9)
