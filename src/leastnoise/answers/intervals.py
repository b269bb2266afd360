"""Intervals that hold the true answer as often as they say."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from leastnoise.errors import InputError

if TYPE_CHECKING:
    from leastnoise.answers.release import Release

NEGLIGIBLE = 0.01
"""A bias bound below this fraction of the standard error is left out of the interval."""


class Interval(NamedTuple):
    """Lower and upper bounds, one of each per query."""

    low: np.ndarray
    high: np.ndarray


def interval(release: "Release", confidence: float, simultaneous: bool) -> Interval:
    """Each answer ± z·std, widened by the bias bound where that is not negligible.

    Gaussian noise: B·z is normal up to the lattice, whose discrete Gaussian has no heavier tails.
    For all queries at once each gets confidence^(1/m), enough by Šidák's inequality (1967).
    """
    _check(confidence)
    if release.noise.kind != "gaussian":
        raise InputError("intervals for Laplace noise are not there yet; use release.std")
    each = confidence ** (1 / len(release.names)) if simultaneous else confidence
    half = ndtri((1 + each) / 2) * release.std
    half = half + np.where(release.bias > NEGLIGIBLE * release.std, release.bias, 0.0)
    return Interval(release.answers - half, release.answers + half)


def _check(confidence: float) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise InputError("confidence must be a number between 0 and 1, such as 0.95")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, such as 0.95, not {confidence}")
