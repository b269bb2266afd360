"""MWEM: a histogram bent towards the queries it answers worst, round by round.

Each of T rounds spends ε/T: half on choosing a query with probability ∝ exp(ε·|q(A) − q(x)|/(4T)),
half on measuring it with Laplace noise of scale 2T/ε; then A_j ∝ A_j·exp(q_j·(measured −
q(A))/(2·total)). Queries are scaled into [−1, 1], the total of the table counts as public, and the
rounds' average answers all queries (Hardt, Ligett & McSherry, *A simple and practical algorithm
for differentially private data release*, NIPS 2012).

Its error depends on the data, so no plan can tell it beforehand, and which T is best neither. It is
here to be compared with, on public or made-up counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from leastnoise.errors import InputError, PrivacyError
from leastnoise.release.privacy import Privacy, whole
from leastnoise.strategy.goal import Goal
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

MECHANISM = "mwem"

_ROUNDS = 10


@dataclass(frozen=True, repr=False)
class Rehearsal:
    """A mechanism that can be rehearsed on public counts and not released: its error is unknown."""

    workload: Workload
    goal: Goal
    privacy: Privacy
    rounds: int
    max_total: int

    mechanism = MECHANISM
    noise = "laplace"
    certificate = None
    expected_error = float("nan")

    @property
    def std(self) -> np.ndarray:
        """Unknown: the error depends on the data."""
        return np.full(len(self.workload), np.nan)

    def release(self, counts: Any, **ledger: Any) -> NoReturn:
        """Refused, for any counts and on any ledger."""
        raise PrivacyError(
            "mechanism 'mwem' is a rehearsal: it takes the table's total for public and its noise "
            "is seeded; use ln.rehearse on public counts, or release another mechanism"
        )

    def summary(self) -> str:
        """What it is, in a line."""
        return f"mwem in {self.rounds} rounds: a rehearsal, whose error depends on the data"

    __str__ = __repr__ = summary


def rehearsal(
    workload: Workload, goal: Goal, privacy: Privacy, max_total: int, settings: Mapping[str, Any]
) -> Rehearsal:
    """MWEM for a promise of pure ε (a δ beside it is not used), in `rounds` = 10 rounds."""
    unknown = [name for name in settings if name != "rounds"]
    if unknown:
        raise InputError(f"{unknown[0]} is no argument of plan; mechanism='mwem' takes rounds")
    rounds = whole(settings.get("rounds", _ROUNDS), "rounds")
    return Rehearsal(workload, goal, privacy, rounds, max_total)


def multiplicative_weights(
    plan: Rehearsal, counts: np.ndarray, runs: int, random: np.random.Generator
) -> np.ndarray:
    """Answers of so many runs side by side, over classes: cells of one class stay alike."""
    queries, scale, sizes, table = _over_classes(plan, counts)
    total = int(counts.sum())
    if total == 0:
        return np.zeros((runs, len(queries)))
    epsilon = float(plan.privacy.epsilon or 0) / plan.privacy.multiplier
    truth, rows = queries @ table, np.arange(runs)
    histogram = np.tile(total * sizes / sizes.sum(), (runs, 1))
    average = np.zeros_like(histogram)
    for _ in range(plan.rounds):
        answers = histogram @ queries.T
        scores = epsilon / (4 * plan.rounds) * np.abs(answers - truth)
        chosen = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
        noise = random.laplace(0.0, 2 * plan.rounds / epsilon, runs)
        surprise = truth[chosen] + noise - answers[rows, chosen]
        bend = queries[chosen] * (surprise / (2 * total))[:, None]
        histogram = histogram * np.exp(bend - bend.max(axis=1, keepdims=True))
        histogram *= total / histogram.sum(axis=1, keepdims=True)
        average += histogram / plan.rounds
    return np.asarray(average @ queries.T * scale)


def _over_classes(
    plan: Rehearsal, counts: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Scaled queries, their scale, cells and records of each class; unused cells are the last."""
    cells, classes = plan.workload.cells, plan.workload.classes
    matrix = np.hstack([dense(plan.workload.matrix), np.zeros((len(plan.workload), 1))])
    scale = float(np.abs(matrix).max())
    where = np.where(cells < 0, classes, cells)
    sizes = np.bincount(where, minlength=classes + 1)
    table = np.bincount(where, weights=counts, minlength=classes + 1)
    return matrix / scale, scale, sizes, table
