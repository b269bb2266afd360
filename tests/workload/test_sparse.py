"""Sparse workloads in the forms scipy leaves them: unsorted, named twice, merged."""

import numpy as np
import pytest
import scipy.sparse as sparse

import leastnoise as ln


def unsorted(doubled: bool) -> sparse.csr_array:
    """1,100 × 1,100, each row [2, 1] on two neighbouring cells, stored backwards (and by halves).

    Large enough to be kept sparse.
    """
    n, times = 1_100, 2 if doubled else 1
    here = np.arange(n)
    columns = np.stack([(here + 1) % n, here] * times, axis=1).ravel()
    values = np.tile(np.array([1.0, 2.0] * times) / times, n)
    return sparse.csr_array((values, columns, 2 * times * np.arange(n + 1)), shape=(n, n))


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("mechanism", ["nod", "nor"])
def test_unsorted_and_doubled_entries(doubled: bool, mechanism: str) -> None:
    W = unsorted(doubled)
    assert not W.has_canonical_format
    plan = ln.plan(W, epsilon=1, mechanism=mechanism)
    assert sparse.issparse(plan.workload.matrix)
    expected = {"nod": 2 * 5 * 1_100, "nor": 2 * 9 * 1_100}[mechanism]
    assert plan.expected_error == pytest.approx(expected, rel=1e-9)
    counts = np.arange(1_100)
    answers = plan.release(counts).answers
    assert (np.abs(answers - (2 * counts + np.roll(counts, -1))) < 30 * plan.std).all()


def test_the_callers_sparse_matrix_keeps_its_entries() -> None:
    W = unsorted(True)
    before = W.indices.copy()
    ln.Workload(W)
    assert np.array_equal(W.indices, before)
    assert W.data.flags.writeable
