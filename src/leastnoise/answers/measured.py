"""What was measured once: integer queries, their noise, the noisy integers, and who paid."""

from dataclasses import dataclass

import numpy as np

from leastnoise.release.calibrate import Noise
from leastnoise.release.privacy import Privacy
from leastnoise.strategy.strategy import Strategy


@dataclass(frozen=True)
class Account:
    """The charge in a ledger that paid for a measurement; `entry` is its hash there."""

    dataset: str
    id: str
    entry: str


@dataclass(frozen=True)
class Part:
    """One measurement, and the B of its blocks that some queries are answered with.

    Where the plan it came from is not at hand any more, `rest` is the hash of what that held beside
    what is measured: together they make the hash of the plan.
    """

    strategy: Strategy
    noise: Noise
    privacy: Privacy
    max_total: int
    numbers: tuple[np.ndarray, ...]
    account: Account | None
    rest: str | None = None

    @property
    def answers(self) -> np.ndarray:
        """B·y."""
        return self.strategy.answers(self.numbers)

    @property
    def variances(self) -> np.ndarray:
        """Of each answer: the noise's times ‖Bᵢ‖²."""
        return self.noise.variance * self.strategy.row_squares
