"""Which strategies are tried, and the proven bound none of them can beat.

Every mechanism is a function (workload, weights, search) → `Draft`; a new one is a row of the
table. `auto` tries them all and leaves the choice to whoever knows the noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np

from leastnoise.errors import InputError, TooLargeError
from leastnoise.memory import require
from leastnoise.strategy.fixed import noise_on_data, noise_on_results
from leastnoise.strategy.gaussian import Progress, solve
from leastnoise.strategy.strategy import Bound, Draft, Part
from leastnoise.workload.reduce import reduce
from leastnoise.workload.workload import Workload


@dataclass(frozen=True)
class Search:
    """How long to look, how close to come, and whom to tell."""

    gap: float = 5e-5
    stop_at: float = np.inf
    callback: Callable[[Progress], object] | None = None


@dataclass(frozen=True)
class Attempt:
    """A mechanism's draft, or why there is none, and the seconds it took."""

    mechanism: str
    draft: Draft | None
    seconds: float
    note: str = ""


def attempts(
    mechanism: str, workload: Workload, weights: np.ndarray, search: Search
) -> list[Attempt]:
    """The drafts that `mechanism` stands for; refused only when none of them fits the memory."""
    made = [_attempt(name, workload, weights, search) for name in _names(mechanism)]
    if all(one.draft is None for one in made):
        raise TooLargeError(made[0].note)
    return made


def _attempt(mechanism: str, workload: Workload, weights: np.ndarray, search: Search) -> Attempt:
    started = monotonic()
    try:
        draft = MECHANISMS[mechanism](workload, weights, search)
    except TooLargeError as error:
        return Attempt(mechanism, None, monotonic() - started, str(error))
    return Attempt(mechanism, draft, monotonic() - started)


def optimal(workload: Workload, weights: np.ndarray, search: Search) -> Draft:
    """The Gaussian optimum and its certificate, solved on independent rows of the workload."""
    _require_memory(workload)
    reduced = reduce(workload, weights)
    found = solve(reduced.matrix, gap=search.gap, stop_at=search.stop_at, callback=search.callback)
    part = Part(
        workload.cells,
        found.root @ reduced.rotated,
        reduced.basis,
        reduced.combine,
        reduced.is_exact,
    )
    return Draft("optimal", (part,), bound=Bound(found.lower, found.q), steps=found.steps)


def _require_memory(workload: Workload) -> None:
    """Some six matrices of the workload's rank and classes, eight square ones of its rank."""
    queries, classes = workload.matrix.shape
    rank = min(queries, classes)
    needed = 8 * (6 * rank * classes + 8 * rank**2 + 2 * queries * rank)
    require(needed, f"optimising {queries} queries over {classes} classes", "ask fewer queries")


MECHANISMS: dict[str, Callable[[Workload, np.ndarray, Search], Draft]] = {
    "nod": lambda workload, weights, search: noise_on_data(workload),
    "nor": lambda workload, weights, search: noise_on_results(workload),
    "optimal": optimal,
}


def _names(mechanism: str) -> tuple[str, ...]:
    """The mechanisms that `mechanism` stands for."""
    if mechanism == "auto":
        return tuple(MECHANISMS)
    if mechanism in MECHANISMS:
        return (mechanism,)
    known = ", ".join(repr(name) for name in ("auto", *MECHANISMS))
    raise InputError(f"mechanism must be one of {known}, not {mechanism!r}")
