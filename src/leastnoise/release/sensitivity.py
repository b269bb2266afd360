"""Exact sizes of integer matrices: sensitivities, and the largest sum they can give.

No float takes part. Entries are cut into 16-bit digits, |a| = Σₚ aₚ·2¹⁶ᵖ, whose sums (and whose
products' sums) stay below 2⁶³ for up to 2²⁸ rows; only the largest column is put together again,
as a Python integer. Right for every int64, -2⁶³ included.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Matrix: TypeAlias = Integers | sp.csr_array
Columns: TypeAlias = NDArray[np.integer[Any]] | None  # of each entry; None for whole rows

_BITS = 16
_MASK = 2**_BITS - 1
_CHUNK = 2**18  # entries at a time: each temporary takes 2 MB


def column_l1(matrix: Matrix) -> int:
    """maxⱼ Σᵢ |aᵢⱼ|, exactly."""
    count = _digits_needed(matrix)
    sums = np.zeros((count, matrix.shape[1]), dtype=np.int64)
    for columns, magnitudes in _chunks(matrix):
        for p, digit in enumerate(_digits(magnitudes, count)):
            _add(sums[p], columns, digit)
    return _largest(sums)


def column_l2_squared(matrix: Matrix) -> int:
    """maxⱼ Σᵢ aᵢⱼ², exactly: Σᵢ aᵢⱼ² = Σₚᵤ 2¹⁶⁽ᵖ⁺ᵘ⁾ Σᵢ (aᵢⱼ)ₚ(aᵢⱼ)ᵤ."""
    count = _digits_needed(matrix)
    sums = np.zeros((2 * count - 1, matrix.shape[1]), dtype=np.int64)
    for columns, magnitudes in _chunks(matrix):
        digits = _digits(magnitudes, count)
        for p in range(count):
            _add(sums[2 * p], columns, digits[p] * digits[p])
            for u in range(p):
                _add(sums[p + u], columns, 2 * digits[p] * digits[u])
    return _largest(sums)


def largest_entry(matrix: Matrix) -> int:
    """maxᵢⱼ |aᵢⱼ|, exactly."""
    entries = matrix.data if isinstance(matrix, sp.csr_array) else matrix
    return max(int(entries.max(initial=0)), -int(entries.min(initial=0)))


def _digits_needed(matrix: Matrix) -> int:
    return max(1, -(-largest_entry(matrix).bit_length() // _BITS))


def _digits(magnitudes: NDArray[np.uint64], count: int) -> list[Integers]:
    return [((magnitudes >> (_BITS * p)) & _MASK).view(np.int64) for p in range(count)]


def _chunks(matrix: Matrix) -> Iterator[tuple[Columns, NDArray[np.uint64]]]:
    """Pieces of |matrix|: some rows of a dense one, or some entries of a sparse one and their
    columns. |-2⁶³| wraps around to -2⁶³, whose bits read as unsigned are 2⁶³ again."""
    if isinstance(matrix, sp.csr_array):
        for start in range(0, matrix.data.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            yield matrix.indices[part], np.abs(matrix.data[part]).view(np.uint64)
    else:
        rows = max(1, _CHUNK // max(1, matrix.shape[1]))
        for start in range(0, matrix.shape[0], rows):
            yield None, np.abs(matrix[start : start + rows]).view(np.uint64)


def _add(sums: Integers, columns: Columns, values: Integers) -> None:
    if columns is None:
        sums += values.sum(axis=0)
    else:
        np.add.at(sums, columns, values)


def _largest(sums: Integers) -> int:
    """maxⱼ Σₚ sumsₚⱼ·2¹⁶ᵖ: carry, then compare digit by digit from the top."""
    for p in range(len(sums) - 1):
        sums[p + 1] += sums[p] >> _BITS
        sums[p] &= _MASK
    total, leaders = 0, np.arange(sums.shape[1])
    for digit in sums[::-1]:
        top = int(digit[leaders].max(initial=0))
        leaders = leaders[digit[leaders] == top]
        total = (total << _BITS) + top
    return total
