"""Counts given by hand."""

from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

from leastnoise.errors import InputError
from leastnoise.release.counts import checked_counts

MOST = 2**60


@pytest.mark.parametrize(
    "counts",
    [
        [1, 0, 3],
        (1, 0, 3),
        np.array([1, 0, 3], dtype=np.uint8),
        np.array([1.0, -0.0, 3.0]),
        np.array([1.0, 0.0, 3.0], dtype=np.float16),
        np.array([1, 0, 3], dtype=object),
        [1, 0.0, 3],
        [np.int8(1), 0, np.float32(3)],
    ],
)
def test_whole_numbers_of_any_type_are_taken(counts: object) -> None:
    result = checked_counts(counts, 3, MOST)
    assert result.dtype == np.int64
    assert result.tolist() == [1, 0, 3]


@pytest.mark.parametrize("counts", [[2**53 + 1, 0.0], [2**53 + 1, 0], np.array([2**53 + 1, 0])])
def test_large_counts_are_not_rounded(counts: object) -> None:
    assert checked_counts(counts, 2, MOST).tolist() == [2**53 + 1, 0]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "length 3, one for every cell, not 2"),
        ([[1, 2, 3]], "one dimension, not 2"),
        (5, "one dimension, not 0"),
        ([[1, 2], [3]], "one flat sequence"),
        (sp.csr_array(np.ones((1, 3))), "one dimension"),
        (["1", "2", "3"], "must be integers"),
        ([True, False, True], "must be integers"),
        ([1, True, object()], "must be integers"),
        ([1j, 0, 0], "must be integers"),
        ([Decimal(1), 0, 0], "must be integers"),
        ([None, 1, 2], "must be integers"),
        (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "must be integers"),
        ([1.0, float("nan"), 2.0], "finite"),
        (np.array([1.0, np.inf, 2.0]), "finite"),
        ([1, 2.5, 3], "whole"),
        ([1, -77, 3], "not be negative"),
        ([1, -77.0, 3], "not be negative"),
        ([1, MOST + 1, 3], "not exceed max_total"),
        ([1, 2**63, 3], "not exceed max_total"),
        ([1, 2**70, 3], "not exceed max_total"),
        ([1.0, 1e300, 3.0], "not exceed max_total"),
        (np.array([1, 2**64 - 1, 3], dtype=np.uint64), "not exceed max_total"),
    ],
)
def test_everything_else_is_refused_without_a_value(counts: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        checked_counts(counts, 3, MOST)
    assert "77" not in str(refusal.value)
