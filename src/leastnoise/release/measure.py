"""The one function in which counts meet noise."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release.calibrate import Noise, calibrate
from leastnoise.release.integers import BOUND, IntegerStrategy, integer_strategy, largest_sum
from leastnoise.release.noise import add_noise, check_scale, privacy_loss
from leastnoise.release.privacy import Privacy
from leastnoise.release.quantise import HEADROOM
from leastnoise.release.rounding import round_up_root
from leastnoise.release.sensitivity import Integers, Matrix, largest_entry


def measure(
    counts: Sequence[Integers], strategy: IntegerStrategy, noise: Noise, privacy: Privacy
) -> tuple[Integers, ...]:
    """L_q·x + z for every block: the exact sums of the clipped counts, saturated, plus noise.

    Every check comes before the counts are looked at, and depends on public numbers only; after
    them nothing refuses. Each call spends the promise again.
    """
    strategy = check_public(strategy, noise, privacy)
    check_shapes(counts, strategy)
    limit = largest_sum(strategy)
    sums = [
        saturate(exact_sums(block, clip(x, strategy.max_total)), limit)
        for block, x in zip(strategy.blocks, counts, strict=True)
    ]
    noisy = add_noise(np.concatenate(sums), noise)
    return tuple(np.split(noisy, np.cumsum([len(y) for y in sums])[:-1]))


def check_public(strategy: IntegerStrategy, noise: Noise, privacy: Privacy) -> IntegerStrategy:
    """Everything that can be refused without counts; a ledger has it checked before it charges."""
    strategy = check_strategy(strategy)
    check_scale(noise)
    check_headroom(strategy, noise)
    check_limit(strategy, noise, privacy)
    check_loss(strategy, noise, privacy)
    return strategy


def check_strategy(strategy: IntegerStrategy) -> IntegerStrategy:
    """Build it again, with the sensitivities of the entries of L_q, and believe only those."""
    derived = integer_strategy(strategy.blocks, strategy.k, strategy.max_total)
    stated = (strategy.delta1, strategy.delta2_squared)
    if stated != (derived.delta1, derived.delta2_squared):
        raise PrivacyError("the strategy's sensitivities are not those of its entries")
    return derived


def check_headroom(strategy: IntegerStrategy, noise: Noise) -> None:
    """maxᵢⱼ |L_q,ij|·n_max + 64·scale < 2⁶²: saturated sums and their noise fit into int64."""
    if largest_sum(strategy) + HEADROOM * Fraction(noise.scale) >= BOUND:
        raise PrivacyError("the sums do not fit into 62 bits; plan with a smaller max_total")


def check_limit(strategy: IntegerStrategy, noise: Noise, privacy: Privacy) -> None:
    """The limit that comes with the noise is no weaker than the promise's; NaN is no limit."""
    if not noise.limit <= calibrate(strategy, privacy, noise.kind).limit:
        raise PrivacyError("the noise was calibrated for a weaker promise")


def check_loss(strategy: IntegerStrategy, noise: Noise, privacy: Privacy) -> None:
    """OpenDP's own map, at c times the sensitivity, stays within the limit."""
    c = privacy.multiplier
    if noise.kind == "laplace":
        loss = privacy_loss(noise, c * strategy.delta1)
    else:
        loss = privacy_loss(noise, round_up_root(Fraction(c * c * strategy.delta2_squared)))
    if not loss <= noise.limit:
        raise PrivacyError("the noise is too small for the promise")


def check_shapes(counts: Sequence[Integers], strategy: IntegerStrategy) -> None:
    """Types and lengths, which are public: one int64 vector of class counts a block."""
    if len(counts) != len(strategy.blocks):
        raise InputError(f"counts must hold {len(strategy.blocks)} vectors, one for every block")
    for x, block in zip(counts, strategy.blocks, strict=True):
        if type(x) is not np.ndarray or x.dtype != np.int64 or x.shape != block.shape[1:]:
            raise InputError("counts must be int64 vectors, as long as their block has classes")


def clip(x: Integers, max_total: int) -> Integers:
    """Each count moved into [0, n_max]: total, and 1-Lipschitz, so Δ₁ and Δ₂ still hold."""
    return np.clip(x, 0, max_total)


def exact_sums(block: Matrix, x: Integers) -> Sequence[int] | Integers:
    """L_q·x, exactly, for counts that are not negative.

    No partial sum exceeds maxᵢⱼ |L_q,ij|·Σⱼ xⱼ. While that is below 2⁶², int64 is exact; a table
    of more than n_max records may need Python's integers.
    """
    if largest_entry(block) * sum(x.tolist()) < BOUND:
        return np.asarray(block @ x)
    return [_dot(block[[i]], x) for i in range(block.shape[0])]


def _dot(row: Matrix, x: Integers) -> int:
    """One row of L_q times the counts, in Python's integers."""
    matrix = row.toarray() if isinstance(row, sp.csr_array) else row
    return sum(a * b for a, b in zip(matrix[0].tolist(), x.tolist(), strict=True) if a)


def saturate(sums: Sequence[int] | Integers, limit: int) -> Integers:
    """Each sum moved into [−S, S], S = maxᵢⱼ |L_q,ij|·n_max: total, and 1-Lipschitz in each."""
    if isinstance(sums, np.ndarray):
        return np.clip(sums, -limit, limit)
    return np.array([min(max(value, -limit), limit) for value in sums], dtype=np.int64)
