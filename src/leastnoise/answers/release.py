"""Noisy measurements and the answers rebuilt from them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.answers.combine import answered_by
from leastnoise.answers.intervals import NEGLIGIBLE, Interval, interval
from leastnoise.answers.measured import Part
from leastnoise.release.calibrate import Noise
from leastnoise.release.privacy import Privacy
from leastnoise.strategy.strategy import Strategy
from leastnoise.workload.workload import Workload, as_workload

if TYPE_CHECKING:
    from leastnoise.plan import Plan


@dataclass(frozen=True, repr=False)
class Release:
    """What was measured once, and everything that follows from it without the data.

    Several parts are measurements of the same people, newest first; the answers are made of all.
    """

    workload: Workload
    parts: tuple[Part, ...]
    bias: np.ndarray
    plan: "Plan | None" = None

    @property
    def names(self) -> tuple[str, ...]:
        """The questions."""
        return self.workload.names

    @property
    def privacy(self) -> Privacy:
        """What the newest measurement promised."""
        return self.parts[0].privacy

    @property
    def noise(self) -> Noise:
        """Of the newest measurement."""
        return self.parts[0].noise

    @property
    def strategy(self) -> Strategy:
        """What was measured last, and how it enters the answers."""
        return self.parts[0].strategy

    @property
    def measurements(self) -> tuple[np.ndarray, ...]:
        """The noisy integers measured last, a block each."""
        return self.parts[0].numbers

    @property
    def accounted(self) -> bool:
        """Whether a ledger stands behind every measurement; else nobody keeps count."""
        return all(part.account is not None for part in self.parts)

    @cached_property
    def answers(self) -> np.ndarray:
        """The estimate of each query: B·y, summed over measurements."""
        return np.asarray(sum(part.answers for part in self.parts))

    @cached_property
    def std(self) -> np.ndarray:
        """The standard error of each answer, from B and the noise that was used."""
        return np.sqrt(sum(part.variances for part in self.parts))

    @cached_property
    def is_biased(self) -> np.ndarray:
        """Which intervals are widened by what rounding the strategy may shift an answer by."""
        return self.bias > NEGLIGIBLE * self.std

    def interval(self, confidence: float = 0.95, simultaneous: bool = False) -> Interval:
        """Bounds (low, high) that hold each true answer, or all of them at once, that often."""
        return interval(self, confidence, simultaneous)

    def answer(self, queries: Any) -> "Release":
        """Other queries over the same cells, from the same noise: at no charge.

        They must be sums of what was measured; those that are not are named in the refusal.
        """
        workload = as_workload(queries)
        return Release(workload, *answered_by(workload, self.kept()))

    def kept(self) -> tuple[Part, ...]:
        """The measurements, each with what its plan is known by once that is not at hand."""
        if self.plan is None:
            return self.parts
        from leastnoise.records.fingerprint import known_by

        return known_by(self.plan, self.parts)

    def __str__(self) -> str:
        from leastnoise.show.tables import release_table

        return str(release_table(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from leastnoise.show.tables import release_table

        return release_table(self).html()

    def save(self, path: str | Path) -> None:
        """Write a folder that anyone can check with `ln.verify`: whole, or not there."""
        from leastnoise.records.releasefolder import save

        save(self, Path(path))
