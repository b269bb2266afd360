"""From a real strategy L to an integer one L_q ≈ 2ᵏL, whose sensitivity is known exactly.

Everything here is chosen from public numbers: the strategy, the promise, `max_total`.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release.integers import (
    BOUND,
    MOST_BITS,
    IntegerStrategy,
    integer_strategy,
    largest_sum,
)
from leastnoise.release.privacy import whole
from leastnoise.release.products import exact_product
from leastnoise.release.sensitivity import Matrix

__all__ = ["IntegerStrategy", "Matrix", "integer_strategy", "quantise"]

HEADROOM = 64  # noise beyond 64 scales has probability below e⁻⁶⁴ ≈ 1.6e-28 a draw

Real: TypeAlias = NDArray[Any] | sp.sparray
Part: TypeAlias = tuple[Real, Real | None]


def quantise(
    parts: Sequence[Part], max_total: int, *, unit_scale: float, kind: str
) -> IntegerStrategy:
    """The integer strategy with the largest k ≤ 40 for which sums and noise stay below 2⁶²:

        maxᵢⱼ |L_q,ij|·max_total + 64·scale < 2⁶²,   to a thousandth

    A part is (T, Z) for L = T·Z. With whole numbers in Z, L_q = round(2ᵏT)·Z: its rows are still
    combinations of Z's, so W = B·L_q can hold exactly. With other numbers L_q = round(2ᵏ·TZ),
    and with Z None, the identity, L_q = round(2ᵏT).
    `unit_scale` is `calibrate.unit_scale(privacy, kind)`, the noise scale at sensitivity 1, and
    `kind` names the sensitivity it multiplies: Δ₁ for "laplace", Δ₂ for "gaussian".
    """
    max_total = whole(max_total, "max_total")
    if kind not in ("laplace", "gaussian"):
        raise InputError(f"kind must be 'laplace' or 'gaussian', not {kind!r}")
    if not unit_scale > 0:
        raise InputError("unit_scale must be greater than 0")
    if unit_scale >= BOUND:
        raise PrivacyError("this much noise does not fit into 62 bits; promise less privacy")
    checked = [(_real(T), None if Z is None else _real(Z)) for T, Z in parts]
    k = _first_guess(checked, max_total)
    while k >= 0:
        strategy = _at(checked, k, max_total)
        if strategy is None:
            k -= 1
            continue
        excess = _needed(strategy, unit_scale, kind) / BOUND
        if excess < 1:
            return strategy
        k -= max(1, math.floor(math.log2(excess)))
    raise PrivacyError("the sums do not fit into 62 bits; give a smaller max_total")


def _needed(strategy: IntegerStrategy, unit_scale: float, kind: str) -> float:
    """maxᵢⱼ |L_q,ij|·n_max + 64·scale, with a thousandth to spare for calibration's slack."""
    delta = strategy.delta1 if kind == "laplace" else math.sqrt(strategy.delta2_squared)
    return 1.001 * (largest_sum(strategy) + HEADROOM * unit_scale * delta)


def _first_guess(parts: Sequence[tuple[Matrix, Matrix | None]], max_total: int) -> int:
    """The largest k ≤ 40 with 2ᵏ·maxᵢⱼ |Lᵢⱼ|·max_total < 2⁶², in floats."""
    largest = max((_largest(T, Z) for T, Z in parts), default=0.0)
    if largest == 0:
        raise InputError("parts must hold at least one nonzero matrix")
    return min(MOST_BITS, math.floor(62 - math.log2(max_total) - math.log2(largest)))


def _largest(T: Any, Z: Any) -> float:
    """maxᵢⱼ |(TZ)ᵢⱼ|, a few columns at a time."""
    if Z is None:
        return max(map(_size, _pieces(_entries(T))), default=0.0)
    width = max(1, 2**20 // max(1, *T.shape))
    columns = Z.tocsc() if isinstance(Z, sp.csr_array) else Z
    blocks = [columns[:, start : start + width] for start in range(0, Z.shape[1], width)]
    return max((_size(_entries(T @ block)) for block in blocks), default=0.0)


def _size(entries: NDArray[Any]) -> float:
    return float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))


def _entries(matrix: Any) -> NDArray[Any]:
    entries: NDArray[Any] = matrix if isinstance(matrix, np.ndarray) else matrix.data
    return entries


def _at(
    parts: Sequence[tuple[Matrix, Matrix | None]], k: int, max_total: int
) -> IntegerStrategy | None:
    """The strategy at this k, or None where an entry would not fit."""
    blocks = []
    for T, Z in parts:
        block = _block(T, Z, k)
        if block is None:
            return None
        blocks.append(block)
    return integer_strategy(blocks, k, max_total)


def _block(T: Any, Z: Any, k: int) -> Matrix | None:
    """L_q at this k, or None where an entry would not fit."""
    if Z is not None and not is_whole(Z):
        return _rounded_product(T, Z, k)
    block = rounded(T, k)
    return block if block is None or Z is None else exact_product(block, Z, below=BOUND)


def _rounded_product(T: Any, Z: Any, k: int) -> Matrix | None:
    """round(2ᵏ·TZ), some columns at a time, so that L itself never stands beside L_q."""
    if isinstance(T, sp.csr_array) and isinstance(Z, sp.csr_array):
        return rounded(T @ Z, k)
    whole = np.empty((T.shape[0], Z.shape[1]), dtype=np.int64)
    columns = Z.tocsc() if isinstance(Z, sp.csr_array) else Z
    width = max(1, 2**20 // max(1, *T.shape))
    for start in range(0, Z.shape[1], width):
        part = slice(start, start + width)
        block = rounded(np.asarray(T @ columns[:, part]), k)
        if block is None:
            return None
        whole[:, part] = block
    return whole


def rounded(T: Any, k: int) -> Matrix | None:
    """round(2ᵏT); a power of two scales exactly, so integers stay exact multiples."""
    values = _entries(T)
    whole = np.empty(values.shape, dtype=np.int64)
    for piece, out in zip(_pieces(values), _pieces(whole), strict=True):
        scaled = np.rint(np.ldexp(piece, k))
        if _size(scaled) >= BOUND:
            return None
        out[...] = scaled
    if isinstance(T, sp.csr_array):
        return sp.csr_array((whole, T.indices, T.indptr), shape=T.shape)
    return whole


def _pieces(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Views of some rows at a time, so that temporaries stay small beside a large matrix."""
    step = max(1, 2**20 // max(1, array[:1].size))
    return [array[start : start + step] for start in range(0, max(1, len(array)), step)]


def _real(T: Any) -> Any:
    """T as float64, dense or csr, exactly."""
    T = _matrix(T)
    values = T.astype(np.float64, copy=False)
    if not np.isfinite(_entries(values)).all():
        raise InputError("parts must hold finite entries")
    if T.dtype.kind in "iu" and _size(_entries(values)) >= 2.0**53:
        raise InputError("parts must hold integers below 2**53 in absolute value")
    return values


def is_whole(Z: Matrix) -> bool:
    """Whether all entries are whole numbers that a double holds exactly."""
    return all(_is_whole(piece) for piece in _pieces(_entries(Z)))


def _is_whole(piece: NDArray[Any]) -> bool:
    return _size(piece) < 2.0**53 and np.array_equal(piece, np.rint(piece))


def _matrix(value: Any) -> Any:
    matrix: Any = value
    if sp.issparse(value):
        matrix = sp.coo_array(matrix).tocsr()
        matrix.sum_duplicates()
    else:
        matrix = np.asarray(value)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf":
        raise InputError("parts must hold real matrices with two dimensions")
    return matrix
