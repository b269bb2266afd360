"""Products of integer matrices, exactly, at the speed of floating-point ones where possible."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from leastnoise.release.sensitivity import Integers, Matrix, largest_entry

_FLOAT_BITS = 53  # float64 sums of integers are exact, in any order, while they stay below 2⁵³
_CHUNK = 2**20  # entries of the result at a time: temporaries of 8 MB each


def exact_product(T: Matrix, Z: Matrix, below: int) -> Matrix | None:
    """T·Z in int64, for whole numbers Z of any type; None unless Σₗ |tᵢₗ|·maxⱼ|zₗⱼ| < `below` ≤ 2⁶²
    in every row i, which bounds each partial sum, so that nothing can wrap around."""
    if not _certainly_below(T, Z, below):
        return None
    if isinstance(T, sp.csr_array) or isinstance(Z, sp.csr_array):
        product: Matrix = T @ Z.astype(np.int64)  # scipy adds in int64
        return product
    bits = _FLOAT_BITS - (largest_entry(Z) * Z.shape[0]).bit_length()
    if bits < 1:
        return T @ Z.astype(np.int64)  # int64 without BLAS: slow, and only for enormous Z
    return _product_by_pieces(T, Z, bits)


def _product_by_pieces(T: Integers, Z: Integers, bits: int) -> Integers:
    """T·Z = Σₚ 2ᵖᵇ·(Tₚ·Z) with b-bit pieces Tₚ ≥ 0 but for the last, which carries the sign.

    |tₚ| ≤ 2ᵇ and 2ᵇ·max|z|·rows(Z) < 2⁵³, so each float64 product is exact.
    """
    pieces = _pieces(T, bits)
    result = np.zeros((T.shape[0], Z.shape[1]), dtype=np.int64)
    width = max(1, _CHUNK // max(1, *T.shape))
    for start in range(0, Z.shape[1], width):
        columns = slice(start, start + width)
        right = Z[:, columns].astype(np.float64, copy=False)
        for p, piece in enumerate(pieces):
            result[:, columns] += (piece @ right).astype(np.int64) << (bits * p)
    return result


def _pieces(T: Integers, bits: int) -> list[NDArray[np.float64]]:
    pieces = []
    while largest_entry(T) > 2**bits:
        pieces.append((T & (2**bits - 1)).astype(np.float64))
        T = T >> bits
    return [*pieces, T.astype(np.float64)]


def _certainly_below(T: Any, Z: Any, below: int) -> bool:
    """A float64 sum of s positive terms errs by less than s·2⁻⁵² of itself, so 1e-6 covers it."""
    if isinstance(Z, sp.csr_array):
        largest = abs(Z).max(axis=1).toarray().ravel()
    else:
        largest = np.maximum(Z.max(axis=1), -Z.min(axis=1))
    sums = abs(T).astype(np.float64) @ np.asarray(largest, dtype=np.float64)
    return float(sums.max(initial=0.0)) * (1 + 1e-6) < below
