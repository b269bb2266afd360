"""Intervals that hold the true answer as often as they say, each query for itself.

The error of an answer is B·z plus a bias that is bounded beforehand. Its half width is

    quantile of |bᵀX|, X continuous noise   +   what the lattice adds   +   the bias, if it matters

Gaussian: bᵀX is normal. Laplace, or both together where measurements are combined: the quantile
comes from the characteristic function (`laplace`).
The lattice is so fine that its part is out of sight, but where a plan leaves it coarse it counts:

* A discrete Laplace z and an F with |F| < 1 and mean 0, independent of z, make X = z + F continuous
  Laplace: z = ⌊E₁⌋ − ⌊E₂⌋ for exponential E, whose whole and fractional parts are independent. So
  |bᵀz| ≤ |bᵀX| + h unless |bᵀF| > h, which by Hoeffding's inequality has probability at most
  2·exp(−h²/2‖b‖²); a millionth of the misses is set aside for that. Never more than ‖b‖₁.
* Rounding continuous Gaussian noise moves it by at most ½: |bᵀz| ≤ |bᵀX| + ½‖b‖₁.

All queries at once get 1 − misses = confidence^(1/m) each, which suffices by Šidák's inequality
(JASA 1967) for Gaussian noise. Laplace noise is Gaussian of independent random variances, given
which the same holds; the chance of each interval falls with every variance, so the average of their
product is at least the product of their averages (Harris 1960).
"""

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from leastnoise.answers.laplace import half_widths
from leastnoise.answers.measured import Part
from leastnoise.errors import InputError
from leastnoise.workload.matrices import row_sums, side_by_side

if TYPE_CHECKING:
    from leastnoise.answers.release import Release

NEGLIGIBLE = 0.01
"""A bias bound below this fraction of the standard error is left out of the interval."""

_SET_ASIDE = 1e-6  # of the misses, for what the lattice adds
_ENTRIES = 2**18  # weights looked at together


class Interval(NamedTuple):
    """Lower and upper bounds, one of each per query."""

    low: np.ndarray
    high: np.ndarray


def interval(release: "Release", confidence: float, simultaneous: bool) -> Interval:
    """Each answer ± its half width, for each query by itself or for all of them at once."""
    _check(confidence)
    at_once = len(release.names) if simultaneous else 1
    misses = -np.expm1(np.log(confidence) / at_once)
    half = _half(release.parts, misses, at_once)
    half = half + np.where(release.is_biased, release.bias, 0.0)
    return Interval(release.answers - half, release.answers + half)


def _half(parts: Sequence[Part], misses: float, at_once: int) -> np.ndarray:
    """The quantile of all continuous noises together, and what the lattices add."""
    normals = [part for part in parts if part.noise.kind == "gaussian"]
    others = [part for part in parts if part.noise.kind == "laplace"]
    nothing = np.zeros(parts[0].strategy.blocks[0].B.shape[0])
    normal = np.sqrt(sum((part.variances for part in normals), nothing))
    half = -NormalDist().inv_cdf(misses / 2) * normal
    if others:
        l1, squares = _sizes(others)
        deviations = np.sqrt(2 * np.log(2 * at_once / (_SET_ASIDE * misses)))
        lattice = np.minimum(deviations * np.sqrt(squares), l1)
        for index, weights in _rows(others):
            continuous = half_widths(weights, (1 - _SET_ASIDE) * misses, normal[index])
            half[index] = continuous + lattice[index]
    return half + (_sizes(normals)[0] / 2 if normals else 0.0)


def _sizes(parts: Sequence[Part]) -> tuple[np.ndarray, np.ndarray]:
    """‖bᵢ‖₁ and ‖bᵢ‖² of each query, in lattice units."""
    strategies = [part.strategy for part in parts]
    l1 = np.sum([row_sums(block.B) for one in strategies for block in one.blocks], axis=0)
    return l1, np.sum([one.row_squares for one in strategies], axis=0)


def _rows(parts: Sequence[Part]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """|B|·scale, some rows that are not all zero at a time, and which; only what is nonzero if
    sparse."""
    whole = side_by_side(
        [block.B * part.noise.scale for part in parts for block in part.strategy.blocks]
    )
    if sparse.issparse(whole):
        yield from _sparse_rows(whole)
        return
    used = np.flatnonzero(whole.any(axis=1))
    step = max(1, _ENTRIES // whole.shape[1])
    for start in range(0, len(used), step):
        index = used[start : start + step]
        yield index, np.abs(whole[index])


def _sparse_rows(matrix: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of like length together, each as its entries and zeros behind them."""
    lengths = np.diff(matrix.indptr)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    while order.size:
        step = max(1, _ENTRIES // lengths[order[-1]])
        index, order = order[-step:], order[:-step]
        filled = np.arange(lengths[index[-1]]) < lengths[index][:, None]
        weights = np.zeros(filled.shape)
        weights[filled] = np.abs(matrix[index].data)
        yield index, weights


def _check(confidence: float) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise InputError("confidence must be a number between 0 and 1, such as 0.95")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, such as 0.95, not {confidence}")
