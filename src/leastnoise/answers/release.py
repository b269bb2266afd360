"""Noisy measurements and the answers rebuilt from them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from leastnoise.answers.intervals import NEGLIGIBLE, Interval, interval
from leastnoise.release.calibrate import Noise
from leastnoise.release.privacy import Privacy
from leastnoise.strategy.strategy import Strategy


@dataclass(frozen=True, repr=False)
class Release:
    """What was measured once, and everything that follows from it without the data."""

    names: tuple[str, ...]
    privacy: Privacy
    strategy: Strategy
    noise: Noise
    bias: np.ndarray
    measurements: tuple[np.ndarray, ...]

    accounted = False
    """No ledger stands behind this release: nobody keeps count of what was spent."""

    @cached_property
    def answers(self) -> np.ndarray:
        """The estimate of each query: B·y."""
        return self.strategy.answers(self.measurements)

    @cached_property
    def std(self) -> np.ndarray:
        """The standard error of each answer, from B and the noise that was used."""
        return np.sqrt(self.noise.variance * self.strategy.row_squares)

    @cached_property
    def is_biased(self) -> np.ndarray:
        """Which intervals are widened by what rounding the strategy may shift an answer by."""
        return self.bias > NEGLIGIBLE * self.std

    def interval(self, confidence: float = 0.95, simultaneous: bool = False) -> Interval:
        """Bounds (low, high) that hold each true answer, or all of them at once, that often."""
        return interval(self, confidence, simultaneous)

    def __str__(self) -> str:
        from leastnoise.show.tables import release_table

        return str(release_table(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from leastnoise.show.tables import release_table

        return release_table(self).html()

    def save(self, path: str | Path) -> None:
        """Write a folder with answers.csv and release.json: whole, or not there."""
        from leastnoise.records.releasefolder import save

        save(self, Path(path))
