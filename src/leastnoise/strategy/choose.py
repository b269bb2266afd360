"""Which strategies are tried, and the proven bound none of them can beat.

Every mechanism is a function (problem, search, *, settings) → `Draft` and a row of the table. One
that takes `noise` is drafted for each noise anew. `auto` tries the rows marked so and leaves the
choice to whoever prices them; the optimum is always among them, because it proves the bound.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from math import inf
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from leastnoise.errors import InputError, PlanError, TooLargeError
from leastnoise.strategy.adaptive import adaptive
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.augmented import augmented
from leastnoise.strategy.fixed import noise_on_data, noise_on_results
from leastnoise.strategy.low_rank import low_rank, low_rank_work
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.semidefinite import matrix_mechanism
from leastnoise.strategy.smoothing import exponential_smoothing, smoothing_work
from leastnoise.strategy.strategy import Draft
from leastnoise.strategy.tree import hierarchical
from leastnoise.strategy.wavelet import wavelet

AUTO, ALL = "auto", "all"

_BOTH = ("laplace", "gaussian")
_REMEDIES = {"gaussian": "give delta above 0, or rho", "laplace": "give epsilon"}
_SAMPLE = 384  # side of the matrices whose product is timed
_ALWAYS = ("problem", "search", "noise")  # what every draft is given, or may ask for


def quick(problem: Problem) -> float:
    """No operations worth predicting: a formula, or a search that ends itself in time."""
    return 0.0


@dataclass(frozen=True)
class Mechanism:
    """A way to draft a strategy, the noises it is for, whether `auto` tries it, and how many
    operations it is predicted to take."""

    draft: Callable[..., Draft]
    noises: tuple[str, ...] = _BOTH
    in_auto: bool = True
    work: Callable[[Problem], float] = quick

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of what a caller may set."""
        return tuple(name for name in signature(self.draft).parameters if name not in _ALWAYS)

    @property
    def is_tuned(self) -> bool:
        """Whether its strategy depends on the noise."""
        return "noise" in signature(self.draft).parameters


MECHANISMS: dict[str, Mechanism] = {
    "nod": Mechanism(noise_on_data),
    "nor": Mechanism(noise_on_results),
    "optimal": Mechanism(optimal),
    "augmented": Mechanism(augmented, noises=("laplace",)),
    "lrm": Mechanism(low_rank, in_auto=False, work=low_rank_work),
    "wavelet": Mechanism(wavelet, in_auto=False),
    "hierarchical": Mechanism(hierarchical, in_auto=False),
    "am": Mechanism(adaptive, in_auto=False),
    "esm": Mechanism(exponential_smoothing, in_auto=False, work=smoothing_work),
    "matrix": Mechanism(matrix_mechanism, noises=("gaussian",), in_auto=False),
}


@dataclass(frozen=True)
class Attempt:
    """A mechanism's draft for some noises, or why there is none, and the seconds it took."""

    mechanism: str
    noises: tuple[str, ...]
    draft: Draft | None
    seconds: float
    note: str = ""


def attempts(
    mechanism: str,
    problem: Problem,
    search: Search,
    noises: Sequence[str],
    settings: Mapping[str, Any],
    budget: float = inf,
) -> list[Attempt]:
    """The drafts that `mechanism` stands for; refused only when none of them can be had.

    What is left of the time is shared out evenly among those still to come, `budget` seconds each
    at most; one that is predicted to need more is not begun.
    """
    work = [(name, kinds) for name in _names(mechanism, noises) for kinds in _groups(name, noises)]
    _check_settings(mechanism, settings)
    refusals: list[TooLargeError | PlanError] = []
    made = [
        _attempt(name, kinds, problem, search.share(len(work) - i), settings, budget, refusals)
        for i, (name, kinds) in enumerate(work)
    ]
    if refusals and all(one.draft is None for one in made):
        raise refusals[0]
    return made


def _attempt(
    name: str,
    noises: tuple[str, ...],
    problem: Problem,
    search: Search,
    settings: Mapping[str, Any],
    budget: float,
    refusals: list[TooLargeError | PlanError],
) -> Attempt:
    started, mechanism = monotonic(), MECHANISMS[name]
    if budget < inf:
        predicted = mechanism.work(problem) / speed()
        if predicted > budget:
            return Attempt(name, noises, None, 0.0, f"not run, predicted {predicted:,.0f} s")
    given = {**settings, "noise": noises[0]} if mechanism.is_tuned else settings
    limited = replace(search, stop_at=min(search.stop_at, started + budget))
    try:
        draft = mechanism.draft(problem, limited, **given)
    except (TooLargeError, PlanError) as error:
        refusals.append(error)
        return Attempt(name, noises, None, monotonic() - started, str(error))
    return Attempt(name, noises, draft, monotonic() - started, draft.note)


@cache
def speed() -> float:
    """Operations a second of a matrix product, on this machine and now."""
    matrix = np.ones((_SAMPLE, _SAMPLE))
    started = perf_counter()
    for _ in range(3):
        matrix @ matrix
    return 3 * 2 * _SAMPLE**3 / (perf_counter() - started)


def _names(mechanism: str, noises: Sequence[str]) -> list[str]:
    """The mechanisms that `mechanism` stands for under these noises."""
    if mechanism in (AUTO, ALL):
        suitable = {name: one for name, one in MECHANISMS.items() if _groups(name, noises)}
        return [name for name, one in suitable.items() if one.in_auto or mechanism == ALL]
    if not isinstance(mechanism, str) or mechanism not in MECHANISMS:
        known = ", ".join(repr(name) for name in (AUTO, *MECHANISMS, "mwem"))
        raise InputError(f"mechanism must be one of {known}, not {mechanism!r}")
    if not _groups(mechanism, noises):
        wanted = " or ".join(MECHANISMS[mechanism].noises)
        raise InputError(
            f"mechanism {mechanism!r} is for {wanted} noise, which this promise or noise= rules "
            f"out; {_REMEDIES.get(wanted, 'choose another mechanism')}"
        )
    return [mechanism]


def _groups(name: str, noises: Sequence[str]) -> list[tuple[str, ...]]:
    """The noises of each draft: all at once, or one by one where the draft depends on them."""
    mechanism = MECHANISMS[name]
    suitable = tuple(kind for kind in noises if kind in mechanism.noises)
    if mechanism.is_tuned:
        return [(kind,) for kind in suitable]
    return [suitable] if suitable else []


def _check_settings(mechanism: str, settings: Mapping[str, Any]) -> None:
    """Refuse what the mechanism does not take, so that no misspelt argument is lost."""
    known = MECHANISMS[mechanism].settings if mechanism in MECHANISMS else ()
    for name in settings:
        if name not in known:
            offers = f"takes {', '.join(known)}" if known else "takes no settings"
            raise InputError(f"{name} is no argument of plan; mechanism={mechanism!r} {offers}")
