"""Which strategies are tried, and the proven bound none of them can beat.

Every mechanism is a function (problem, search, *, settings) → `Draft` and a row of the table. One
that takes `noise` is drafted for each noise anew; one that takes `drafts` starts from those before
it. `auto` tries the rows marked so and leaves the choice to whoever prices them; the optimum is
always among them, because it proves the bound.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from leastnoise.strategy.kronecker import kronecker
from leastnoise.strategy.low_rank import low_rank, low_rank_work
from leastnoise.strategy.marginals import marginals
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.semidefinite import matrix_mechanism, program_work
from leastnoise.strategy.smoothing import exponential_smoothing, smoothing_work
from leastnoise.strategy.strategy import Draft
from leastnoise.strategy.tree import hierarchical
from leastnoise.strategy.wavelet import wavelet

AUTO, ALL = "auto", "all"

_BOTH = ("laplace", "gaussian")
_REMEDIES = {"gaussian": "give delta above 0, or rho", "laplace": "give epsilon"}
_SAMPLE = 384  # side of the matrices whose product is timed
_ALWAYS = ("problem", "search", "noise", "drafts")  # what a draft is given, or may ask for
_MOST_WORK = 6e10  # operations of a search that `auto` still tries: three seconds


def quick(problem: Problem) -> float:
    """No operations worth predicting: a formula, or a search that ends itself in time."""
    return 0.0


@dataclass(frozen=True)
class Mechanism:
    """A way to draft a strategy, the noises it is for, those for which `auto` tries it, and how
    many operations it is predicted to take."""

    draft: Callable[..., Draft]
    noises: tuple[str, ...] = _BOTH
    auto: tuple[str, ...] = _BOTH
    work: Callable[[Problem], float] = quick

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of what a caller may set."""
        return tuple(name for name in signature(self.draft).parameters if name not in _ALWAYS)

    def takes(self, name: str) -> bool:
        """Whether a draft asks for it: `noise` it depends on, or `drafts` to start from."""
        return name in signature(self.draft).parameters


_LAPLACE, _GAUSSIAN, _NONE = ("laplace",), ("gaussian",), ()

MECHANISMS: dict[str, Mechanism] = {
    "nod": Mechanism(noise_on_data),
    "nor": Mechanism(noise_on_results),
    "optimal": Mechanism(optimal),
    "wavelet": Mechanism(wavelet, auto=_LAPLACE),
    "hierarchical": Mechanism(hierarchical, auto=_LAPLACE),
    "marginals": Mechanism(marginals, noises=_LAPLACE),
    "kronecker": Mechanism(kronecker, noises=_LAPLACE),
    "am": Mechanism(adaptive, auto=_NONE),
    "lrm": Mechanism(low_rank, auto=_LAPLACE, work=low_rank_work),
    "augmented": Mechanism(augmented, noises=_LAPLACE),
    "esm": Mechanism(exponential_smoothing, auto=_NONE, work=smoothing_work),
    "matrix": Mechanism(matrix_mechanism, noises=_GAUSSIAN, auto=_NONE, work=program_work),
}
"""In the order in which they are tried; one that takes drafts is given those before it."""


@dataclass(frozen=True)
class Attempt:
    """A mechanism's draft for some noises, or why there is none, and the seconds it took."""

    mechanism: str
    noises: tuple[str, ...]
    draft: Draft | None
    seconds: float
    note: str = ""
    refusal: TooLargeError | PlanError | None = None


def attempts(
    mechanism: str,
    problem: Problem,
    search: Search,
    noises: Sequence[str],
    settings: Mapping[str, Any],
    budget: float = inf,
) -> list[Attempt]:
    """The drafts that `mechanism` stands for; refused only when none of them can be had.

    What is left of the time is shared out evenly among those still to come. One that is predicted
    to need more than `budget` seconds is not begun.
    """
    work = _work(mechanism, problem, noises)
    _check_settings(mechanism, settings)
    made: list[Attempt] = []
    for i, (name, kinds) in enumerate(work):
        left = search.share(len(work) - i)
        made.append(_attempt(name, kinds, problem, left, settings, made, budget))
    refusals = [one.refusal for one in made if one.refusal]
    if refusals and all(one.draft is None for one in made):
        raise refusals[0]
    return made


def _attempt(
    name: str,
    noises: tuple[str, ...],
    problem: Problem,
    search: Search,
    settings: Mapping[str, Any],
    before: Sequence[Attempt],
    budget: float,
) -> Attempt:
    started, mechanism = monotonic(), MECHANISMS[name]
    if budget < inf:
        predicted = mechanism.work(problem) / speed()
        if predicted > budget:
            return Attempt(name, noises, None, 0.0, f"not run, predicted {_rounded(predicted)} s")
    given = dict(settings)
    if mechanism.takes("noise"):
        given["noise"] = noises[0]
    if mechanism.takes("drafts"):
        given["drafts"] = [one.draft for one in before if one.draft]
    try:
        draft = mechanism.draft(problem, search, **given)
    except (TooLargeError, PlanError) as error:
        return Attempt(name, noises, None, monotonic() - started, str(error), error)
    return Attempt(name, noises, draft, monotonic() - started, draft.note)


def _rounded(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"


@cache
def speed() -> float:
    """Operations a second of a matrix product, on this machine and now."""
    matrix = np.ones((_SAMPLE, _SAMPLE))
    started = perf_counter()
    for _ in range(3):
        matrix @ matrix
    return 3 * 2 * _SAMPLE**3 / (perf_counter() - started)


def _work(
    mechanism: str, problem: Problem, noises: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """The mechanisms that `mechanism` stands for, and the noises of each of their drafts.

    A search that would take `auto` long is left out: for many queries it is not the best one.
    """
    if mechanism != AUTO:
        return [
            (name, kinds) for name in _names(mechanism, noises) for kinds in _groups(name, noises)
        ]
    return [
        (name, kinds)
        for name, one in MECHANISMS.items()
        for kinds in _groups(name, [kind for kind in noises if kind in one.auto])
        if one.work(problem) <= _MOST_WORK
    ]


def _names(mechanism: str, noises: Sequence[str]) -> list[str]:
    """Every suitable mechanism, or the one that is named."""
    if mechanism == ALL:
        return [name for name in MECHANISMS if _groups(name, noises)]
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
    if mechanism.takes("noise"):
        return [(kind,) for kind in suitable]
    return [suitable] if suitable else []


def _check_settings(mechanism: str, settings: Mapping[str, Any]) -> None:
    """Refuse what the mechanism does not take, so that no misspelt argument is lost."""
    known = MECHANISMS[mechanism].settings if mechanism in MECHANISMS else ()
    for name in settings:
        if name not in known:
            offers = f"takes {', '.join(known)}" if known else "takes no settings"
            raise InputError(f"{name} is no argument of plan; mechanism={mechanism!r} {offers}")
