"""The integer strategy: what is measured, and how much one record can move it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from leastnoise.errors import InputError
from leastnoise.release.privacy import whole
from leastnoise.release.sensitivity import (
    Matrix,
    column_l1,
    column_l2_squared,
    largest_entry,
)

BOUND = 2**62  # half of what int64 holds: sums and noise together never wrap around
MOST_BITS = 40


@dataclass(frozen=True)
class IntegerStrategy:
    """What is measured: blocks L_q ≈ 2ᵏL of int64 queries over classes of cells.

    A record lies in at most one class of every block, so adding it moves the sums of all blocks
    together by at most Δ₁ = Σ_g Δ₁ᵍ in ℓ1 and by Δ₂ = √(Σ_g (Δ₂ᵍ)²) in ℓ2.
    """

    blocks: tuple[Matrix, ...]
    k: int
    max_total: int
    delta1: int
    delta2_squared: int

    @property
    def rows(self) -> int:
        """r: how many numbers are measured."""
        return sum(int(block.shape[0]) for block in self.blocks)


def integer_strategy(blocks: Sequence[Matrix], k: int, max_total: int) -> IntegerStrategy:
    """Check the blocks and compute their sensitivities from the entries, in integers."""
    checked = tuple(checked_block(block) for block in blocks)
    if not checked:
        raise InputError("blocks must hold at least one matrix")
    if isinstance(k, bool) or not 0 <= k <= MOST_BITS:
        raise InputError(f"k must be an integer between 0 and {MOST_BITS}, not {k}")
    return IntegerStrategy(
        blocks=checked,
        k=int(k),
        max_total=whole(max_total, "max_total"),
        delta1=sum(column_l1(block) for block in checked),
        delta2_squared=sum(column_l2_squared(block) for block in checked),
    )


def checked_block(block: Matrix) -> Matrix:
    """`block` if it is a nonzero int64 matrix; a sparse one may name no entry twice, because
    sensitivities are taken entry by entry."""
    if isinstance(block, sp.csr_array):
        block = _canonical(block)
    elif type(block) is not np.ndarray:
        raise InputError("blocks must be numpy arrays or scipy.sparse.csr_array")
    if block.dtype != np.int64 or block.ndim != 2:
        raise InputError("blocks must be int64 matrices with two dimensions")
    if not 0 < largest_entry(block) < BOUND:
        raise InputError("blocks must be nonzero, with entries below 2**62 in absolute value")
    return block


def largest_sum(strategy: IntegerStrategy) -> int:
    """S = maxᵢⱼ |L_q,ij|·n_max: no sum over a table of at most n_max records is larger."""
    return max(largest_entry(block) for block in strategy.blocks) * strategy.max_total


def _canonical(block: sp.csr_array) -> sp.csr_array:
    """The same matrix with sorted entries; rebuilt, so that no cached flag is believed."""
    fresh = sp.csr_array((block.data, block.indices, block.indptr), shape=block.shape)
    try:
        fresh.check_format(full_check=True)
    except ValueError:
        raise InputError("a sparse block is damaged; build it again") from None
    if not fresh.has_canonical_format:
        fresh = fresh.sorted_indices()
    if not fresh.has_canonical_format:
        raise InputError("a sparse block names an entry twice; call sum_duplicates() first")
    return fresh
