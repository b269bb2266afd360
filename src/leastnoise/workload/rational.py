"""Which workloads are integer up to a factor per row.

Such a workload W = diag(1/d)·V, V integer, can be answered without bias from integer
measurements: the rows of V span the same space exactly.
"""

from fractions import Fraction
from math import lcm

import numpy as np
import scipy.sparse as sparse

from leastnoise.workload.matrices import Matrix, entries, scale_rows

_LARGEST_DENOMINATOR = 10_000
_LARGEST_ENTRY = 2.0**31
_SMALL, _BLUR = 1_000, 1e-10  # a real number lies so close to such a fraction once in 10,000 times
_LARGE_ENTRY = 2.0**10  # below it a common factor costs few bits
_MOST_VALUES = 10_000  # a matrix with more distinct values is taken as real


def integer_rows(matrix: Matrix) -> tuple[Matrix, np.ndarray] | None:
    """Integer-valued V and d with matrix = diag(1/d)·V; None when a row has no small multiplier.

    A double counts as the fraction p/q, q ≤ 10,000, that rounds to it: 0.1 is 1/10 and
    0.333… is 1/3, so that row·d differs from an integer row by rounding alone.
    """
    if is_integer(matrix):
        return _in_lowest_terms(matrix, np.ones(matrix.shape[0]))
    multipliers = _multipliers(matrix)
    if multipliers is None:
        return None
    whole = scale_rows(multipliers, matrix)
    np.rint(entries(whole), out=entries(whole))
    return _in_lowest_terms(whole, multipliers) if _fits(entries(whole)) else None


def sharpened(matrix: np.ndarray) -> np.ndarray:
    """Rows of small fractions that rounding has blurred, as these fractions; others as they are."""
    values, where = np.unique(matrix, return_inverse=True)
    fractions = np.array([float(Fraction(one).limit_denominator(_SMALL)) for one in values])
    sharp = fractions[where.reshape(matrix.shape)]
    sizes = np.abs(matrix).max(axis=1, keepdims=True)
    is_same = (np.abs(sharp - matrix) <= _BLUR * sizes).all(axis=1)
    return np.where(is_same[:, None], sharp, matrix)


def _in_lowest_terms(whole: Matrix, multipliers: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """Rows of large entries without their common factor, which would eat the bits of T."""
    if entries(whole).size == 0 or np.abs(entries(whole)).max() < _LARGE_ENTRY:
        return whole, multipliers
    factors = np.array([_common_factor(row) for row in _rows(whole)])
    lowest = scale_rows(1 / factors, whole)
    np.rint(entries(lowest), out=entries(lowest))
    return lowest, multipliers / factors


def _rows(matrix: Matrix) -> list[np.ndarray]:
    return np.split(matrix.data, matrix.indptr[1:-1]) if sparse.issparse(matrix) else list(matrix)


def _common_factor(row: np.ndarray) -> float:
    """The greatest common divisor of whole numbers; 1 for a row of zeros, or of huge ones."""
    if row.size == 0 or not row.any() or np.abs(row).max() >= 2.0**53:
        return 1.0
    return float(np.gcd.reduce(row.astype(np.int64)))


def _multipliers(matrix: Matrix) -> np.ndarray | None:
    """The least common denominator of each row."""
    data = entries(matrix)
    if np.unique(data[:256]).size > _MOST_VALUES:
        return None  # real numbers show within a few rows
    values, which = np.unique(data, return_inverse=True)
    if values.size > _MOST_VALUES:
        return None
    denominators = [_denominator(float(value)) for value in values]
    if 0 in denominators:
        return None
    row_values = _row_values(matrix, which)
    rows = [lcm(*{denominators[index] for index in indices}) for indices in row_values]
    return np.array(rows, dtype=np.float64) if max(rows) < _LARGEST_ENTRY else None


def _row_values(matrix: Matrix, which: np.ndarray) -> list[np.ndarray]:
    """For each row, the indices of the distinct values it holds."""
    if sparse.issparse(matrix):
        return [np.unique(part) for part in np.split(which, matrix.indptr[1:-1])]
    return [np.unique(row) for row in which.reshape(matrix.shape)]


def _denominator(value: float) -> int:
    """q of the fraction p/q, q ≤ 10,000, that rounds to `value`; 0 when there is none."""
    fraction = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return fraction.denominator if float(fraction) == value else 0


def is_integer(matrix: Matrix) -> bool:
    """Whether every entry is a whole number; row by row, so that no second matrix is made."""
    return all(np.array_equal(row, np.rint(row)) for row in np.atleast_2d(entries(matrix)))


def _fits(data: np.ndarray) -> bool:
    return data.size == 0 or bool(max(data.max(), -data.min()) < _LARGEST_ENTRY)
