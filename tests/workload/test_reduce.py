"""The reductions: nothing of the workload is lost, whatever its rank, scale and weights."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from workloads import FAMILIES, marginals

from leastnoise.workload.matrices import dense
from leastnoise.workload.rational import integer_rows
from leastnoise.workload.reduce import reduce
from leastnoise.workload.workload import Workload

INTEGERS = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.integers(-2, 2),
).filter(np.any)


def rebuilt(workload: Workload, factors: np.ndarray) -> np.ndarray:
    """R·Z."""
    reduced = reduce(workload, factors)
    basis = np.eye(workload.classes) if reduced.basis is None else dense(reduced.basis)
    return dense(reduced.combine) @ basis


@given(INTEGERS)
@settings(deadline=None)
def test_independent_rows_rebuild_integer_workloads(W: np.ndarray) -> None:
    workload = Workload(W)
    reduced = reduce(workload, np.ones(len(W)))
    assert len(reduced.rotated) == np.linalg.matrix_rank(W)
    assert reduced.is_exact
    assert np.allclose(rebuilt(workload, np.ones(len(W))), dense(workload.matrix), atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(12, 32), (40, 16)])
def test_families_are_rebuilt_from_as_many_rows_as_their_rank(family: str, m: int, n: int) -> None:
    W = FAMILIES[family](m, n)
    workload = Workload(W)
    reduced = reduce(workload, np.ones(m))
    assert len(reduced.rotated) == np.linalg.matrix_rank(W)
    assert np.allclose(rebuilt(workload, np.ones(m)), dense(workload.matrix), atol=1e-9)
    assert reduced.is_exact == (family != "related")


@given(INTEGERS, st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_rotation_keeps_weighted_lengths(W: np.ndarray, seed: int) -> None:
    """Σ fᵢ²(W·a)ᵢ² for the workload, ‖M·a‖² for what the solver sees, for any a over classes."""
    rng = np.random.default_rng(seed)
    factors, workload = rng.uniform(0.1, 2, len(W)), Workload(W)
    matrix = reduce(workload, factors).matrix
    for a in rng.standard_normal((3, workload.classes)):
        direct = np.sum((factors * (dense(workload.matrix) @ a)) ** 2)
        assert np.sum((matrix @ a) ** 2) == pytest.approx(direct, rel=1e-9, abs=1e-12)


def test_a_tiny_row_counts_towards_the_rank() -> None:
    W = np.array([[1.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    W[1] *= 1e-8
    assert len(reduce(Workload(W), np.ones(3)).rotated) == 3


def test_a_sparse_workload_reduces_like_its_dense_twin() -> None:
    W = marginals(40, 64)
    twin = Workload.over_classes(sparse.csr_array(W.astype(float)), np.arange(64))
    twin.matrix = sparse.csr_array(W.astype(float))  # small ones are made dense otherwise
    assert sparse.issparse(twin.matrix)
    ours = reduce(Workload(W), np.ones(40))
    theirs = reduce(twin, np.ones(40))
    gram = ours.matrix.T @ ours.matrix
    assert np.allclose(theirs.matrix.T @ theirs.matrix, gram, atol=1e-9)


@pytest.mark.parametrize(
    ("row", "multiplier"),
    [([1, 2], 1), ([0.5, 0.25], 4), ([1 / 3, 0.1], 30), ([0.1, 0.0], 10), ([2 / 7, 1 / 9], 63)],
)
def test_rational_rows_become_integers(row: list[float], multiplier: int) -> None:
    whole, multipliers = integer_rows(np.array([row, [1.0, 0.0]]))
    assert multipliers.tolist() == [multiplier, 1]
    assert whole[0].tolist() == [round(value * multiplier) for value in row]


@pytest.mark.parametrize("value", [np.pi, np.sqrt(2), 1e-8, 1 / 10_007])
def test_irrational_rows_have_no_multiplier(value: float) -> None:
    assert integer_rows(np.array([[1.0, value]])) is None
