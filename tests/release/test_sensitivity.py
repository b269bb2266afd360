"""Exact norms and exact products, against Python integers."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leastnoise.release import products, sensitivity
from leastnoise.release.products import exact_product
from leastnoise.release.sensitivity import column_l1, column_l2_squared, largest_entry

shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=7)
whole = hnp.arrays(np.int64, shapes, elements=st.integers(-(2**63), 2**63 - 1))


def columns(matrix: np.ndarray) -> list[list[int]]:
    return matrix.T.tolist()


@given(whole)
@settings(deadline=None)
def test_norms_are_those_of_python_integers(matrix: np.ndarray) -> None:
    for form in (matrix, np.asfortranarray(matrix), sp.csr_array(matrix)):
        assert column_l1(form) == max(sum(map(abs, c)) for c in columns(matrix))
        assert column_l2_squared(form) == max(sum(v * v for v in c) for c in columns(matrix))
        assert largest_entry(form) == max(abs(v) for r in matrix.tolist() for v in r)


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_chunks_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(1).integers(-(2**40), 2**40, (9, 13))
    expected = [f(matrix) for f in (column_l1, column_l2_squared)]
    monkeypatch.setattr(sensitivity, "_CHUNK", chunk)
    for form in (matrix, sp.csr_array(matrix)):
        assert [f(form) for f in (column_l1, column_l2_squared)] == expected


def test_columns_that_differ_in_the_last_bit_are_told_apart() -> None:
    """As doubles, 2⁵³ and 2⁵³ + 1 are the same number."""
    matrix = np.array([[2**53, 2**53 + 1, 2**53]])
    assert column_l1(matrix) == 2**53 + 1
    assert column_l2_squared(matrix) == (2**53 + 1) ** 2


def test_many_rows_carry() -> None:
    assert column_l2_squared(np.full((5000, 2), -(2**63))) == 5000 * 2**126


@given(
    T=hnp.arrays(np.int64, (3, 4), elements=st.integers(-(2**36), 2**36)),
    Z=hnp.arrays(np.int64, (4, 5), elements=st.integers(-(2**20), 2**20)),
)
@settings(deadline=None)
def test_products_are_those_of_python_integers(T: np.ndarray, Z: np.ndarray) -> None:
    expected = (T.astype(object) @ Z.astype(object)).tolist()
    for left in (T, sp.csr_array(T)):
        for right in (Z, sp.csr_array(Z)):
            product = exact_product(left, right, below=2**62)
            assert product is not None
            assert product.dtype == np.int64
            dense = product.toarray() if sp.issparse(product) else product
            assert dense.tolist() == expected


@pytest.mark.parametrize("bits", [1, 5, 20, 52])
def test_pieces_rebuild_the_matrix(bits: int) -> None:
    T = np.array([[0, 1, -1, 2**52 + 1, -(2**52) - 1, 2**53 - 1, -(2**53)]])
    pieces = products._pieces(T, bits)
    rebuilt = sum(int(2**bits) ** p * piece.astype(object) for p, piece in enumerate(pieces))
    assert [int(v) for v in rebuilt[0]] == T[0].tolist()
    assert max(np.abs(piece).max() for piece in pieces) <= 2**bits


def test_one_float_product_would_not_be_exact() -> None:
    """What `_pieces` is for: the same product in doubles loses the last bit."""
    T, Z = np.array([[2**40 + 1, 2**40 - 1]]), np.array([[2**13 + 1], [-(2**13) + 1]])
    exact = (T.astype(object) @ Z.astype(object))[0, 0]
    assert exact_product(T, Z, below=2**62)[0, 0] == exact
    T, Z = np.array([[2**41 + 1]]), np.array([[2**14 + 1]])
    assert int((T.astype(float) @ Z.astype(float))[0, 0]) != (2**41 + 1) * (2**14 + 1)
    assert exact_product(T, Z, below=2**62)[0, 0] == (2**41 + 1) * (2**14 + 1)


def test_products_that_might_wrap_are_refused() -> None:
    T, Z = np.array([[2**40, -(2**40)]]), np.array([[2**21], [2**21]])
    assert exact_product(T, Z, below=2**62) is None
    assert exact_product(T // 4, Z, below=2**62) is not None


def test_enormous_second_factors_take_the_slow_path() -> None:
    assert exact_product(np.array([[3]]), np.array([[2**58 + 1]]), below=2**62)[0, 0] == 3 * (
        2**58 + 1
    )
