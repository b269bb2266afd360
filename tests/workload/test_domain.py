"""The table behind a matrix of queries: its attributes are found, and nothing else is."""

import numpy as np
import pytest
from workloads import all_marginals, ranges

from leastnoise.workload.domain import attribute_sizes


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 3, 5), (10, 7, 4), (3, 2)])
@pytest.mark.parametrize("ways", [1, 2])
def test_marginals_tell_their_attributes(sizes: tuple[int, ...], ways: int) -> None:
    """But the cells of one table of all its attributes are of one attribute."""
    expected = (6,) if ways == len(sizes) else sizes
    assert attribute_sizes(all_marginals(sizes, ways)) == expected


@pytest.mark.parametrize("W", [np.tri(12), ranges(10, 12)])
def test_one_dimensional_queries_are_over_one_attribute(W: np.ndarray) -> None:
    assert attribute_sizes(W) == (12,)


def test_attributes_that_are_always_used_together_are_one() -> None:
    """Cells of the table of the first two, and of the last."""
    pairs = np.kron(np.eye(6), np.ones((1, 5)))
    last = np.kron(np.ones((1, 6)), np.eye(5))
    assert attribute_sizes(np.vstack([pairs, last])) == (6, 5)
    first = np.kron(np.eye(2), np.ones((1, 15)))
    assert attribute_sizes(np.vstack([pairs, last, first])) == (2, 3, 5)


def test_products_of_ranges_are_queries_over_a_table() -> None:
    assert attribute_sizes(np.vstack([np.kron(np.tri(4), row) for row in np.tri(6)])) == (4, 6)


def test_cells_in_another_order_form_no_table() -> None:
    W = all_marginals((4, 3, 5), 1)
    assert attribute_sizes(W[:, np.random.default_rng(0).permutation(60)]) == (60,)


@pytest.mark.parametrize(
    ("row", "sizes"), [(np.ones(6), (6,)), ([0, 0, 0, 1, 1, 1], (2, 3)), ([1, 0, 0, 1], (4,))]
)
def test_one_row(row: object, sizes: tuple[int, ...]) -> None:
    assert attribute_sizes(np.array([row], dtype=float)) == sizes


@pytest.mark.parametrize("by", [1e-9, -1.0])
def test_one_entry_that_does_not_fit_destroys_the_table(by: float) -> None:
    W = all_marginals((4, 4, 4)).astype(float)
    W[0, -1] += by
    assert attribute_sizes(W) == (64,)
