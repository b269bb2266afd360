"""OpenDP's exact discrete samplers, behind the checks they do not make themselves."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from leastnoise.errors import PrivacyError
from leastnoise.release.calibrate import Noise
from leastnoise.release.sensitivity import Integers


def add_noise(sums: Integers, noise: Noise) -> Integers:
    """`sums` plus independent noise from the operating system's entropy.

    OpenDP saturates at ±2⁶³ instead of wrapping around: post-processing of the exact result.
    """
    check_scale(noise)
    noisy = _sampled(sums, noise)
    if noisy is None:
        raise PrivacyError("the sampler failed; nothing was released")
    return noisy


def privacy_loss(noise: Noise, sensitivity: int | float) -> Fraction:
    """OpenDP's own word on the loss: ε at ℓ1 sensitivity, ρ at ℓ2 sensitivity (a double)."""
    check_scale(noise)
    mechanism = _mechanism(noise)
    try:
        return Fraction(mechanism.map(sensitivity))
    except Exception as error:  # a sensitivity past 2⁶³, or an infinite loss: public numbers only
        raise PrivacyError("OpenDP cannot state the loss of this noise") from error


def check_scale(noise: Noise) -> None:
    """Refuse scales that are no scales; at 0 OpenDP would return the exact sums."""
    if not (math.isfinite(noise.scale) and noise.scale > 0):
        raise PrivacyError("the noise scale must be positive and finite")


def _sampled(sums: Integers, noise: Noise) -> Integers | None:
    """None instead of OpenDP's own error, which may quote what it was given: the exact sums."""
    try:
        return np.array(_mechanism(noise)(sums.tolist()), dtype=np.int64)
    except Exception:
        return None


def _mechanism(noise: Noise) -> Any:
    import opendp.prelude as dp  # type: ignore[import-untyped, unused-ignore]

    dp.enable_features("contrib")  # where OpenDP keeps mechanisms whose proofs are in review
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    if noise.kind == "laplace":
        return dp.m.make_laplace(integers, dp.l1_distance(T="i64"), noise.scale)
    return dp.m.make_gaussian(integers, dp.l2_distance(T="f64"), noise.scale)
