"""Every guard of the kernel, taken away in turn: without it harm is done, with it none.

A guard whose removal harms nothing would be decoration, and its test could not fail.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_mechanism import (
    DiscreteGaussianPrivacyLoss,
    GaussianPrivacyLoss,
)

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release import calibrate as calibration
from leastnoise.release import integers, noise
from leastnoise.release import measure as measuring
from leastnoise.release.calibrate import Noise, calibrate
from leastnoise.release.integers import integer_strategy
from leastnoise.release.measure import measure
from leastnoise.release.noise import add_noise, privacy_loss
from leastnoise.release.privacy import promise

UNIT = 2**20
STRATEGY = integer_strategy([np.array([[UNIT, -UNIT], [0, UNIT]])], 20, 2**32)
PRIVACY = promise(epsilon=1)
NOISE = calibrate(STRATEGY, PRIVACY, "laplace")
COUNTS = [np.array([3, 4])]


def far_off(noisy: np.ndarray, true: list[int], scale: float) -> bool:
    return any(abs(int(a) - b) > 64 * scale for a, b in zip(noisy, true, strict=True))


def exact_answers_at_scale_zero() -> bool:
    sums = np.arange(100)
    return np.array_equal(add_noise(sums, Noise("laplace", 0.0, Fraction(1))), sums)


def foreign_error_at_scale_nan() -> bool:
    try:
        privacy_loss(Noise("laplace", float("nan"), Fraction(1)), 1)
    except PrivacyError:
        return False
    except Exception:
        return True
    return True


def sums_that_wrap_around() -> bool:
    """Four times the records that max_total allows: the sum would be 2⁶³, one too many."""
    entry, total = 2**29, 2**32
    strategy = integer_strategy([np.full((1, 4), entry)], 29, total)
    loud = calibrate(strategy, PRIVACY, "laplace")
    (noisy,) = measure([np.full(4, total)], strategy, loud, PRIVACY)
    return far_off(noisy, [entry * total], loud.scale)


def wrapped(sums: Sequence[int], limit: int) -> np.ndarray:
    """What int64 would make of the sums."""
    return np.array([(value + 2**63) % 2**64 - 2**63 for value in sums], dtype=np.int64)


def noise_that_saturates() -> bool:
    strategy = integer_strategy([np.eye(50, dtype=np.int64) * 2**30], 30, 1)
    tiny = promise(epsilon=Fraction(1, 2**34))
    loud = calibrate(strategy, tiny, "laplace")
    (noisy,) = measure([np.zeros(50, dtype=np.int64)], strategy, loud, tiny)
    return bool(np.any(np.abs(noisy.astype(float)) >= 2.0**63 * 0.999))


def noise_for_a_weaker_promise() -> bool:
    quiet = calibrate(STRATEGY, promise(epsilon=10), "laplace")
    measure(COUNTS, STRATEGY, quiet, PRIVACY)
    return True


def noise_smaller_than_its_limit_says() -> bool:
    measure(COUNTS, STRATEGY, replace(NOISE, scale=NOISE.scale * 0.999), PRIVACY)
    return True


def max_rows_forgotten_by_the_caller() -> bool:
    measure(COUNTS, STRATEGY, NOISE, promise(epsilon=1, max_rows=2))
    return True


def max_rows_forgotten_with_gaussian_noise() -> bool:
    quiet = calibrate(STRATEGY, promise(rho=1), "gaussian")
    measure(COUNTS, STRATEGY, quiet, promise(rho=1, neighbors="change_one"))
    return True


def a_forged_sensitivity() -> bool:
    forged = replace(STRATEGY, delta1=1, delta2_squared=1)
    quiet = calibrate(forged, PRIVACY, "laplace")
    measure(COUNTS, forged, quiet, PRIVACY)
    return privacy_loss(quiet, STRATEGY.delta1) > 1


def counts_beyond_max_total() -> bool:
    (noisy,) = measure([np.array([2**62, -(2**62)])], STRATEGY, NOISE, PRIVACY)
    return far_off(noisy, [UNIT * 2**32, 0], NOISE.scale)


def counts_of_another_type() -> bool:
    try:
        measure([np.array([0.5, 2.5])], STRATEGY, NOISE, PRIVACY)
    except InputError:
        return False
    except Exception:
        return True
    return True


def a_sparse_entry_named_twice() -> bool:
    import scipy.sparse as sp

    twice = sp.csr_array((np.array([5, 5]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    return integer_strategy([twice], 0, 1).delta2_squared < 10**2


def a_scale_that_opendp_calls_too_small() -> bool:
    privacy = promise(epsilon="1/10")
    return privacy_loss(calibrate(STRATEGY, privacy, "laplace"), STRATEGY.delta1) > privacy.epsilon


def a_lattice_too_coarse_for_the_analytic_sigma() -> bool:
    coarse = integer_strategy([np.array([[1]])], 0, 2**32)
    scale = calibrate(coarse, promise(3, 1e-3), "gaussian").scale
    spent = DiscreteGaussianPrivacyLoss(scale, 1, truncation_bound=100).get_delta_for_epsilon(3)
    return spent > 1.4e-3


def noise_of_the_paper_where_it_is_too_little() -> bool:
    """On a lattice that is fine enough for ε = 22."""
    fine = integer_strategy([np.array([[2**28]])], 0, 2**32)
    scale = calibrate(fine, promise(22, "0.9", calibration="paper"), "gaussian").scale
    return GaussianPrivacyLoss(scale / 2**28).get_delta_for_epsilon(22) > 0.9


def nothing(*_: object) -> None:
    return None


def first(value: object, *_: object) -> object:
    return value


GUARDS: list[tuple[ModuleType, str, object, Callable[[], bool]]] = [
    (noise, "check_scale", nothing, exact_answers_at_scale_zero),
    (noise, "check_scale", nothing, foreign_error_at_scale_nan),
    (measuring, "saturate", wrapped, sums_that_wrap_around),
    (measuring, "check_headroom", nothing, noise_that_saturates),
    (measuring, "check_limit", nothing, noise_for_a_weaker_promise),
    (measuring, "check_loss", nothing, noise_smaller_than_its_limit_says),
    (measuring, "check_loss", nothing, max_rows_forgotten_by_the_caller),
    (measuring, "check_loss", nothing, max_rows_forgotten_with_gaussian_noise),
    (measuring, "check_strategy", first, a_forged_sensitivity),
    (measuring, "clip", first, counts_beyond_max_total),
    (measuring, "check_shapes", nothing, counts_of_another_type),
    (integers, "_canonical", first, a_sparse_entry_named_twice),
    (calibration, "MARGIN", Fraction(1), a_scale_that_opendp_calls_too_small),
    (
        calibration,
        "rounding_slack",
        lambda *_: Fraction(1, 10**9),
        a_lattice_too_coarse_for_the_analytic_sigma,
    ),
    (
        calibration,
        "analytic_sigma",  # what the paper's is compared with: nothing is less than 0
        lambda *_: 0.0,
        noise_of_the_paper_where_it_is_too_little,
    ),
]
ids = [f"{name}-{attack.__name__}" for _, name, _, attack in GUARDS]


def harmful(attack: Callable[[], bool]) -> bool:
    try:
        return attack()
    except (InputError, PrivacyError):
        return False


@pytest.mark.parametrize(("module", "name", "removed", "attack"), GUARDS, ids=ids)
def test_guard(
    module: ModuleType,
    name: str,
    removed: object,
    attack: Callable[[], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not harmful(attack)
    monkeypatch.setattr(module, name, removed)
    assert harmful(attack)


def test_a_limit_that_is_no_number_passes_neither_check() -> None:
    """NaN is neither above nor below anything, so the checks must ask for ≤, not refuse >."""
    nameless = replace(NOISE, limit=float("nan"))
    for check in (measuring.check_limit, measuring.check_loss):
        with pytest.raises(PrivacyError):
            check(STRATEGY, nameless, PRIVACY)
