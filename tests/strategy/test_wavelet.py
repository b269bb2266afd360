"""Haar wavelets over any number of cells: H, its inverse, and the classical case."""

import numpy as np
import pytest
import scipy.sparse as sparse
from workloads import STATES, error, ranges

import leastnoise as ln
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.wavelet import haar, wavelet
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

SIZES = (1, 2, 3, 5, 7, 8, 13, 16, 100)

each_size = pytest.mark.parametrize("n", SIZES)


def test_the_classical_wavelets_of_eight_cells() -> None:
    """The total, halves, quarters, neighbours: [1 1], [1 −1] and Kronecker products."""
    total, difference = np.array([[1.0, 1]]), np.array([[1.0, -1]])
    rows = [np.kron(total, np.kron(total, total)), np.kron(difference, np.ones((1, 4)))]
    rows += [np.kron(np.eye(2), np.kron(difference, total)), np.kron(np.eye(4), difference)]
    assert np.array_equal(haar(8)[0].toarray(), np.vstack(rows))


def test_three_cells_by_hand() -> None:
    H, inverse = (matrix.toarray() for matrix in haar(3))
    assert H.tolist() == [[1, 1, 1], [1, 1, -1], [1, -1, 0]]
    assert inverse.tolist() == [[0.25, 0.25, 0.5], [0.25, 0.25, -0.5], [0.5, -0.5, 0]]


@each_size
def test_the_inverse_is_exactly_that(n: int) -> None:
    """Powers of a half, so that not even rounding is between."""
    H, inverse = haar(n)
    assert np.array_equal((H @ inverse).toarray(), np.eye(n))
    assert np.array_equal((inverse @ H).toarray(), np.eye(n))


@each_size
def test_a_cell_is_in_one_difference_of_each_level(n: int) -> None:
    H = haar(n)[0].toarray()
    assert set(np.unique(H)) <= {-1, 0, 1}
    longest = np.abs(H).sum(axis=0).max()
    assert longest == np.ceil(np.log2(n)) + 1
    assert (H[0] == 1).all()


@each_size
def test_queries_are_rebuilt_as_numpy_would(n: int) -> None:
    W = np.random.default_rng(n).standard_normal((4, n))
    (part,) = wavelet(Problem(Workload(W), goal("total", None, 4)), Search()).parts
    L = dense(part.coefficients)
    assert dense(part.known) == pytest.approx(W @ np.linalg.inv(L), abs=1e-12)


@pytest.mark.parametrize(("promise", "order"), [({"epsilon": 1}, 1), ({"rho": 1}, 2)])
def test_ranges_cost_what_numpy_says(promise: dict[str, object], order: int) -> None:
    W = ranges(16, 64)
    plan = ln.plan(W, mechanism="wavelet", **promise)
    H = haar(plan.workload.classes)[0].toarray()
    variance = {1: 2, 2: 0.5}[order]
    assert plan.expected_error == pytest.approx(
        variance * error(plan.workload.matrix, H, order), rel=1e-9
    )


def test_the_states_by_hand() -> None:
    """Two classes, their sum and difference, Δ₁ = 2: all states 1, each half ½² + ½², times 8."""
    plan = ln.plan(STATES, epsilon=1, mechanism="wavelet")
    assert plan.expected_error == pytest.approx(16, rel=1e-9)


def test_many_cells_of_a_sparse_workload_are_no_burden() -> None:
    W = sparse.random(20, 100_000, density=0.05, random_state=np.random.default_rng(0))
    plan = ln.plan(W, epsilon=1, mechanism="wavelet")
    assert plan.workload.classes > 60_000
    assert sparse.issparse(plan.strategy.blocks[0].B)
    assert (plan.std > 0).all()
    assert (plan.bias < 0.01 * plan.std).all()
