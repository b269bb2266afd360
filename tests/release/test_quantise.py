"""Integer strategies: exact rows, exact sensitivities, and room for sums and noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release.calibrate import calibrate, unit_scale
from leastnoise.release.integers import largest_sum
from leastnoise.release.privacy import promise
from leastnoise.release.quantise import HEADROOM, integer_strategy, quantise

RNG = np.random.default_rng(5)


def dense(block: object) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
def test_blocks_are_rounded_factors_times_exact_ones(kind: str, form: type) -> None:
    T, Z, L = RNG.normal(size=(4, 3)), RNG.integers(-3, 4, (3, 6)), RNG.normal(size=(2, 5))
    strategy = quantise([(T, form(Z)), (form(L), None)], 2**20, unit_scale=3.0, kind=kind)
    rounded = [[round(v * 2**strategy.k) for v in row] for row in T.tolist()]
    expected = np.array(rounded, dtype=object) @ Z.astype(object)
    assert dense(strategy.blocks[0]).tolist() == expected.tolist()
    plain = [[round(v * 2**strategy.k) for v in row] for row in L.tolist()]
    assert dense(strategy.blocks[1]).tolist() == plain
    assert all(block.dtype == np.int64 for block in strategy.blocks)


def test_the_row_space_is_exactly_that_of_z() -> None:
    """Every row of L_q is an integer combination of Z's, so its rank cannot grow."""
    Z = RNG.integers(-1, 2, (3, 40))
    strategy = quantise([(RNG.normal(size=(10, 3)), Z)], 2**20, unit_scale=1.0, kind="laplace")
    assert np.linalg.matrix_rank(np.vstack([strategy.blocks[0].astype(float), Z])) == 3


def test_integral_strategies_are_only_scaled() -> None:
    L = RNG.integers(-9, 10, (4, 6))
    strategy = quantise([(L, None)], 2**30, unit_scale=1.0, kind="laplace")
    assert np.array_equal(strategy.blocks[0], L * 2**strategy.k)
    assert strategy.k > 20


@given(
    bits=st.integers(0, 61),
    unit=st.floats(1e-3, 1e12),
    kind=st.sampled_from(["laplace", "gaussian"]),
)
@settings(deadline=None)
def test_k_is_the_largest_that_fits(bits: int, unit: float, kind: str) -> None:
    L = np.array([[1.0, 0.5, -0.25], [0.0, 1.0, 1.0]])

    def needed(k: int) -> float:
        scale = unit * (1.5 if kind == "laplace" else math.sqrt(1.25)) * 2.0**k
        return 2.0**k * 2**bits + HEADROOM * scale

    try:
        k = quantise([(L, None)], 2**bits, unit_scale=unit, kind=kind).k
    except PrivacyError:
        assert needed(1) > 2.0**62
        return
    assert needed(k) < 2.0**62 * 1.01
    assert k == 40 or needed(k + 1) > 2.0**62 * 0.99


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_calibrated_noise_fits_too(kind: str) -> None:
    privacy = promise(epsilon="0.01", delta="1e-6")
    strategy = quantise(
        [(RNG.normal(size=(5, 7)), None)], 1000, unit_scale=unit_scale(privacy, kind), kind=kind
    )
    noise = calibrate(strategy, privacy, kind)
    assert largest_sum(strategy) + HEADROOM * Fraction(noise.scale) < 2**62


def test_sensitivities_add_over_blocks() -> None:
    one, two = np.array([[3, 0], [4, 1]]), sp.csr_array(np.array([[0, -5, 12]]))
    strategy = integer_strategy([one, two], 0, 10)
    assert (strategy.delta1, strategy.delta2_squared) == (7 + 12, 25 + 144)
    assert strategy.rows == 3
    assert largest_sum(strategy) == 120


def test_what_cannot_fit_is_refused() -> None:
    with pytest.raises(PrivacyError, match="smaller max_total"):
        quantise([(np.ones((1, 4)), None)], 2**62, unit_scale=1.0, kind="laplace")
    with pytest.raises(PrivacyError, match="smaller max_total"):
        quantise([(np.ones((1, 4)), None)], 1, unit_scale=1e18, kind="laplace")


@pytest.mark.parametrize("unit", [0.0, -1.0, math.nan])
def test_a_scale_must_be_a_scale(unit: float) -> None:
    with pytest.raises(InputError, match="unit_scale"):
        quantise([(np.ones((1, 4)), None)], 1, unit_scale=unit, kind="laplace")


def test_noise_beyond_62_bits_is_refused() -> None:
    for unit in (2.0**62, 1e301, math.inf):
        with pytest.raises(PrivacyError, match="62 bits"):
            quantise([(np.ones((1, 4)), None)], 1, unit_scale=unit, kind="laplace")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "at least one nonzero"),
        ([(np.zeros((2, 2)), None)], "at least one nonzero"),
        ([(np.array([[np.nan]]), None)], "finite"),
        ([(np.array([[np.inf]]), np.array([[1]]))], "finite"),
        ([(np.ones(3), None)], "two dimensions"),
        ([(np.array([["1"]]), None)], "real matrices"),
        ([(np.array([[1j]]), None)], "real matrices"),
        ([(np.array([[2**60]]), None)], "below 2"),
        ([(np.ones((1, 1)), None), (np.zeros((1, 1)), None)], "nonzero"),
    ],
)
def test_parts_are_checked(parts: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quantise(parts, 10, unit_scale=1.0, kind="laplace")


def duplicated() -> sp.csr_array:
    return sp.csr_array((np.array([1, 1]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))


def flagged() -> sp.csr_array:
    block = duplicated()
    block.has_canonical_format = True
    return block


def damaged() -> sp.csr_array:
    block = sp.csr_array(np.array([[1, 2]]))
    block.indices[0] = -1
    return block


@pytest.mark.parametrize(
    "block",
    [
        np.ones((1, 1)),
        np.ones((1, 1), dtype=np.int32),
        np.ones(3, dtype=np.int64),
        np.zeros((2, 2), dtype=np.int64),
        np.array([[2**62]]),
        np.array([[-(2**63)]]),
        np.ma.masked_array([[1]]),
        [[1]],
        sp.csc_array(np.array([[1]])),
        duplicated(),
        flagged(),
        damaged(),
    ],
)
def test_blocks_are_checked(block: object) -> None:
    with pytest.raises(InputError):
        integer_strategy([block], 0, 10)


@pytest.mark.parametrize(("k", "max_total"), [(-1, 1), (41, 1), (True, 1), (0, 0), (0, 1.5)])
def test_k_and_max_total_are_checked(k: int, max_total: int) -> None:
    with pytest.raises(InputError):
        integer_strategy([np.array([[1]])], k, max_total)


def test_unsorted_sparse_blocks_are_sorted() -> None:
    block = sp.csr_array((np.array([5, 7]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert integer_strategy([block], 0, 1).blocks[0].toarray().tolist() == [[7, 5]]
