"""Workloads over classes: what is merged, joined, named; bad ones are in test_bad_input.py."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import leastnoise as ln
from leastnoise.errors import InputError, TooLargeError

SMALL = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6)
MATRICES = hnp.arrays(np.float64, SMALL, elements=st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0]))
NONZERO = MATRICES.filter(np.any)


@given(NONZERO)
@settings(deadline=None)
def test_classes_are_the_distinct_nonzero_columns_and_dense_undoes_them(W: np.ndarray) -> None:
    workload = ln.Workload(W)
    distinct = {tuple(column) for column in W.T if column.any()}  # to Python -0.0 == 0.0
    assert workload.classes == len(distinct)
    assert workload.shape == W.shape
    assert np.array_equal(workload.dense(), W)
    assert np.array_equal(workload.cells == -1, ~W.any(axis=0))


@given(NONZERO)
@settings(deadline=None)
def test_sparse_and_dense_give_the_same_classes(W: np.ndarray) -> None:
    plain = ln.Workload(W)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix):
        other = ln.Workload(form(W))
        assert np.array_equal(other.cells, plain.cells)
        assert np.array_equal(other.dense(), W)


def test_minus_zero_is_zero_in_a_dense_matrix_and_in_a_sparse_one() -> None:
    W = np.array([[1.0, 1.0, -0.0], [0.0, -0.0, 0.0]])
    stored = sparse.csr_array(
        (np.array([1.0, 1.0, -0.0, -0.0]), ([0, 0, 0, 1], [0, 1, 2, 1])), shape=(2, 3)
    )
    for matrix in (W, stored):
        assert ln.Workload(matrix).cells.tolist() == [0, 0, -1]


def test_a_large_sparse_matrix_stays_sparse_and_merges() -> None:
    eye = sparse.eye_array(3_000, format="csr")
    workload = ln.Workload(sparse.hstack([eye, eye, sparse.csr_array((3_000, 10))]))
    assert sparse.issparse(workload.matrix)
    assert workload.shape == (3_000, 6_010)
    assert workload.classes == 3_000
    assert np.array_equal(workload.cells[:3_000], workload.cells[3_000:6_000])


def test_entries_named_twice_in_a_sparse_matrix_add_up() -> None:
    twice = sparse.coo_array((np.array([1.0, 1.0, 2.0]), ([0, 0, 0], [0, 0, 1])), shape=(1, 2))
    workload = ln.Workload(twice)
    assert workload.dense().tolist() == [[2, 2]]
    assert workload.classes == 1


def test_the_callers_matrix_is_neither_changed_nor_followed() -> None:
    W = np.array([[1.0, 2.0]])
    stored = sparse.csr_array(W)
    workloads = [ln.Workload(W), ln.Workload(stored)]
    W[0, 0] = stored.data[0] = 7
    assert all(workload.dense().tolist() == [[1, 2]] for workload in workloads)
    with pytest.raises(ValueError, match="read-only"):
        workloads[0].matrix[0, 0] = 3


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_joining_is_stacking(data: st.DataObject) -> None:
    first = data.draw(NONZERO)
    second = data.draw(
        hnp.arrays(np.float64, (2, first.shape[1]), elements=st.sampled_from([0.0, 1.0, 3.0]))
    )
    second[0, 0] = 1
    stacked = np.vstack([first, second])
    for right in (ln.Workload(second), ln.Workload(sparse.csr_array(second))):
        joined = ln.Workload(first) | right
        assert np.array_equal(joined.dense(), stacked)
        assert joined.classes == ln.Workload(stacked).classes


def test_joining_keeps_names_unless_they_collide() -> None:
    named = ln.Workload([[1, 0]], names=["a"]) | ln.Workload([[0, 1]], names=["b"])
    assert named.names == ("a", "b")
    assert (ln.Workload([[1, 0]]) | ln.Workload([[0, 1]])).names == ("q1", "q2")


def test_joining_needs_one_domain_and_a_workload() -> None:
    with pytest.raises(InputError, match=r"left one has 2 cells, the right one 3"):
        ln.Workload([[1, 0]]) | ln.Workload([[1, 0, 0]])
    with pytest.raises(TypeError):
        ln.Workload([[1, 0]]) | np.ones((1, 2))


def test_names_are_one_per_query_and_differ() -> None:
    assert ln.Workload([[1], [2]]).names == ("q1", "q2")
    assert ln.Workload([[1], [2]], names=["x", "y"]).names == ("x", "y")
    with pytest.raises(InputError, match=r"names has 1 entries for 2 queries"):
        ln.Workload([[1], [2]], names=["x"])
    with pytest.raises(InputError, match=r"'x' is there twice"):
        ln.Workload([[1], [2]], names=["x", "x"])


def test_a_dense_matrix_that_would_not_fit_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workload = ln.ranges(1000, [(0, 4)])
    monkeypatch.setattr("leastnoise.memory.free_bytes", lambda: 7_999)
    with pytest.raises(TooLargeError, match=r"1 x 1000 workload needs about .* GiB is free"):
        workload.dense()
    monkeypatch.setattr("leastnoise.memory.free_bytes", lambda: 8_000)
    assert workload.dense().sum() == 5


def test_repr_tells_queries_cells_and_classes() -> None:
    assert repr(ln.Workload([[1, 1, 0]])) == "Workload(1 queries, 3 cells in 1 classes)"
    assert len(ln.Workload([[1], [2]])) == 2
