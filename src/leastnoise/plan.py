"""From queries and a promise to a plan: what to measure, with how much noise, how accurate.

One screen, in order: read the workload and the promise, draft strategies, price each under the
noises that keep the promise, round the best to integers, price what will really be measured.
No counts are needed for any of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from leastnoise.answers.measured import Account, Part
from leastnoise.answers.release import Release
from leastnoise.data.files import counts_in
from leastnoise.errors import InputError, LeastnoiseError, PlanError, PrivacyError
from leastnoise.pricing import (
    Candidate,
    Certificate,
    Measurable,
    Offer,
    Proof,
    candidates,
    lower_bound,
    make_measurable,
    offers,
    trials,
)
from leastnoise.rehearsal.mwem import MECHANISM as MWEM
from leastnoise.rehearsal.mwem import Rehearsal, rehearsal
from leastnoise.release.counts import checked_counts, class_counts
from leastnoise.release.measure import measure
from leastnoise.release.privacy import Privacy
from leastnoise.request import Request, request
from leastnoise.strategy.ascent import Progress
from leastnoise.strategy.choose import Attempt, attempts
from leastnoise.strategy.goal import Goal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import History, Strategy
from leastnoise.workload.workload import Workload

Reading: TypeAlias = Callable[[], list[np.ndarray]]
"""Opens the data, when called: the counts of the classes of each block."""


@dataclass(frozen=True, repr=False)
class Plan:
    """A priced strategy, ready to release answers. Nothing in it depends on counts."""

    workload: Workload
    goal: Goal
    privacy: Privacy
    mechanism: str
    measurable: Measurable
    certificate: Certificate | None
    candidates: tuple[Candidate, ...]
    note: str = ""
    history: History | None = None
    given: tuple[Part, ...] = ()

    @property
    def strategy(self) -> Strategy:
        """What is measured and how answers are rebuilt from it."""
        return self.measurable.strategy

    @property
    def noise(self) -> str:
        """Laplace or Gaussian, in lower case."""
        return self.measurable.noise.kind

    @property
    def epsilon(self) -> float | None:
        """ε as a float, None under ρ; `privacy.epsilon` is exact."""
        return None if self.privacy.epsilon is None else float(self.privacy.epsilon)

    @property
    def delta(self) -> float:
        """δ as a float; `privacy.delta` is exact."""
        return float(self.privacy.delta)

    @property
    def rho(self) -> float | None:
        """ρ as a float, None under ε; `privacy.rho` is exact."""
        return None if self.privacy.rho is None else float(self.privacy.rho)

    @property
    def max_total(self) -> int:
        """The most records the table can have; larger counts are clipped."""
        return self.measurable.integers.max_total

    @property
    def bias(self) -> np.ndarray:
        """How far each answer may be shifted at most, because B·L is not quite W."""
        return self.measurable.bias

    @property
    def is_relaxed(self) -> bool:
        """Whether B·L is only near W on purpose: then answers are biased."""
        return self.measurable.is_relaxed

    @cached_property
    def std(self) -> np.ndarray:
        """The standard error of each answer."""
        variances = self.measurable.noise.variance * self.strategy.row_squares
        return np.sqrt(sum((part.variances for part in self.given), variances))

    @property
    def expected_error(self) -> float:
        """Σ wᵢ·stdᵢ², or maxᵢ wᵢ·stdᵢ² if the plan is for the worst query; wᵢ = 1 unless given."""
        return self.goal.of(self.std**2)

    def release(
        self,
        counts: Any,
        *,
        ledger: str | Path | None = None,
        id: str | None = None,
        dataset: str | None = None,
    ) -> Release:
        """Noisy answers for integer counts, one per cell: in hand, in a file (a `Path`), or what a
        function gives.

        Without a ledger each call spends the promise again, and nobody keeps count. With one the
        promise is charged to `dataset` before a file is opened or a function called, and the same
        `id` again gives the same answers, at no charge and without either.
        """
        if ledger is None:
            if id is not None or dataset is not None:
                raise InputError("id and dataset are for a ledger; give ledger= too")
            return self.released(None, self.measured(self.checked(counts)))
        from leastnoise.accounting import accounted

        return self.released(*accounted(self, counts, Path(ledger), dataset, id))

    def checked(self, counts: Any) -> Reading:
        """Refuse what can be refused before data is read; the result reads it, class by class."""
        if isinstance(counts, Path):
            counts = counts_in(counts)
        if callable(counts):
            return lambda: self._grouped(counts())
        at_hand = self._grouped(counts)
        return lambda: at_hand

    def _grouped(self, counts: Any) -> list[np.ndarray]:
        """Counts of cells as counts of each block's classes."""
        checked = checked_counts(counts, self.workload.shape[1], self.max_total)
        return [class_counts(checked, one.cells, one.L.shape[1]) for one in self.strategy.blocks]

    def measured(self, read: Reading) -> tuple[np.ndarray, ...]:
        """The noisy integers: data is read here, and nowhere else."""
        parts = self.measurable
        return measure(read(), parts.integers, parts.noise, self.privacy)

    def released(self, account: Account | None, numbers: Sequence[np.ndarray]) -> Release:
        """The answers that follow from noisy integers, without the data."""
        noise = self.measurable.noise
        part = Part(self.strategy, noise, self.privacy, self.max_total, tuple(numbers), account)
        return Release(self.workload, (part, *self.given), self.bias, self)

    def summary(self) -> str:
        """The plan in a few lines for a person."""
        from leastnoise.show.text import plan_summary

        return plan_summary(self)

    __str__ = __repr__ = summary

    def _repr_html_(self) -> str:
        from leastnoise.show.tables import plan_table

        return plan_table(self).html()

    def save(self, path: str | Path) -> None:
        """Write a folder that `ln.load` reads: whole, or not there."""
        from leastnoise.records.planfile import save

        save(self, Path(path))


def plan(
    queries: Any,
    *,
    epsilon: Any = None,
    delta: Any = 0,
    rho: Any = None,
    max_std: Any = None,
    mechanism: str = "auto",
    noise: str = "auto",
    objective: str = "total",
    weights: Any = None,
    max_rows: int = 1,
    neighbors: str = "add_remove",
    calibration: str = "analytic",
    max_total: int = 2**32,
    deadline: float | None = None,
    callback: Callable[[Progress], object] | None = None,
    seed: int = 0,
    given: Release | None = None,
    **settings: Any,
) -> Plan:
    """The most accurate way found to answer `queries` under the promise.

    queries    a workload, an array (queries × cells) or a scipy sparse matrix
    epsilon    pure ε, or with `delta` (ε, δ); or `rho` for ρ-zCDP; a float means its decimal
    mechanism  "auto" takes the least expected error of all mechanisms; or one by name
    noise      "auto" prices Laplace and Gaussian noise where both keep the promise
    objective  "total" makes the sum of the expected squared errors small, "worst" the largest
    weights    one per query, multiplying its squared error in either
    max_rows   how many records one person may have
    neighbors  "add_remove" or "change_one": how neighbouring tables differ
    calibration  "paper" takes the larger Gaussian noise of the paper, to reproduce its figures
    max_total  the most records the table can have; larger counts are clipped
    deadline   seconds after which a search stops and its best is used
    callback   called with a `Progress` at every step of a search
    seed       of the random starts of a search; never of noise
    given      a release of the same table: what it does not answer is measured, and both combined
    settings   what the mechanism itself takes, such as branching= of "hierarchical"

    Searches run where `queries` live: a torch tensor on a GPU is optimised there. The mechanism
    "mwem" gives a `Rehearsal`: it looks like a plan, and cannot be released.
    """
    if max_std is not None:
        raise _no_targets(epsilon, rho)
    asked = request(
        queries,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        noise=noise,
        objective=objective,
        weights=weights,
        max_rows=max_rows,
        neighbors=neighbors,
        calibration=calibration,
        max_total=max_total,
        deadline=deadline,
        callback=callback,
        seed=seed,
    )
    if mechanism == MWEM:
        return cast(Plan, _rehearsal(asked, given, settings))

    def searched(problem: Problem) -> Plan:
        made = attempts(mechanism, problem, asked.search, asked.noises, settings)
        return planned(replace(asked, problem=problem), made)

    if given is None:
        return searched(asked.problem)
    from leastnoise.given import planned_given

    return planned_given(asked, given, searched)


def planned(asked: Request, made: Sequence[Attempt]) -> Plan:
    """The best draft, made measurable, beside the bound and everything that was tried.

    One search serves several promises that allow the same noises.
    """
    problem, privacy = asked.problem, asked.privacy
    priced = offers(made, problem.goal, privacy)
    offer, measurable = _first_measurable(priced, problem.workload, privacy, asked.max_total)
    return Plan(
        problem.workload,
        problem.goal,
        privacy,
        mechanism=offer.price.mechanism,
        measurable=measurable,
        certificate=_certificate(lower_bound(made, privacy), problem.goal, measurable),
        candidates=_candidates(made, priced, privacy),
        note=offer.draft.note,
        history=offer.draft.history,
    )


def _rehearsal(asked: Request, given: Release | None, settings: dict[str, Any]) -> Rehearsal:
    if "laplace" not in asked.noises:
        raise InputError("mechanism 'mwem' is for laplace noise; give epsilon, and no other noise")
    if given is not None:
        raise InputError("mechanism 'mwem' makes no use of a release; leave given out")
    problem = asked.problem
    return rehearsal(problem.workload, problem.goal, asked.privacy, asked.max_total, settings)


def _candidates(
    made: Sequence[Attempt], priced: Sequence[Offer], privacy: Privacy
) -> tuple[Candidate, ...]:
    """The best offer, then everything else that was tried, in order of its error."""
    best, *others = candidates(made, priced)
    return best, *sorted([*others, *trials(made, privacy)], key=lambda one: one.expected_error)


def _no_targets(epsilon: Any, rho: Any) -> InputError:
    if epsilon is not None or rho is not None:
        return InputError("give either a privacy budget (epsilon or rho) or max_std, not both")
    return InputError("planning from max_std is not there yet; give epsilon or rho")


def _certificate(
    bound: tuple[float, Proof] | None, goal: Goal, measurable: Measurable
) -> Certificate | None:
    """The bound beside what the rounded strategy achieves."""
    if bound is None:
        return None
    variances = measurable.noise.variance * measurable.strategy.row_squares
    return Certificate(bound[0], goal.of(variances), bound[1])


def _first_measurable(
    priced: Sequence[Offer], workload: Workload, privacy: Privacy, max_total: int
) -> tuple[Offer, Measurable]:
    """The best offer that survives rounding; the first refusal when none does."""
    refusals: list[LeastnoiseError] = []
    for offer in priced:
        try:
            return offer, make_measurable(offer, workload, privacy, max_total)
        except (PlanError, PrivacyError) as error:
            refusals.append(error)
    raise refusals[0]
