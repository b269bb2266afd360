"""Which strategies are tried, and the proven bound none of them can beat.

Every mechanism is a function (problem, search, *, settings) → `Draft` and a row of the table. One
that takes `noise` is drafted for each noise anew. `auto` tries the rows marked so and leaves the
choice to whoever prices them; the optimum is always among them, because it proves the bound.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from time import monotonic
from typing import Any

from leastnoise.errors import InputError, TooLargeError
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.augmented import augmented
from leastnoise.strategy.fixed import noise_on_data, noise_on_results
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft

_BOTH = ("laplace", "gaussian")
_ALWAYS = ("problem", "search", "noise")  # what every draft is given, or may ask for


@dataclass(frozen=True)
class Mechanism:
    """A way to draft a strategy, the noises it is for, and whether `auto` tries it."""

    draft: Callable[..., Draft]
    noises: tuple[str, ...] = _BOTH
    in_auto: bool = True

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
) -> list[Attempt]:
    """The drafts that `mechanism` stands for; refused only when none of them fits the memory.

    What is left of the time is shared out evenly among those still to come.
    """
    work = [(name, kinds) for name in _names(mechanism, noises) for kinds in _groups(name, noises)]
    _check_settings(mechanism, settings)
    made = [
        _attempt(name, kinds, problem, search.share(len(work) - i), settings)
        for i, (name, kinds) in enumerate(work)
    ]
    if all(one.draft is None for one in made):
        raise TooLargeError(made[0].note)
    return made


def _attempt(
    name: str,
    noises: tuple[str, ...],
    problem: Problem,
    search: Search,
    settings: Mapping[str, Any],
) -> Attempt:
    started, mechanism = monotonic(), MECHANISMS[name]
    given = {**settings, "noise": noises[0]} if mechanism.is_tuned else settings
    try:
        draft = mechanism.draft(problem, search, **given)
    except TooLargeError as error:
        return Attempt(name, noises, None, monotonic() - started, str(error))
    return Attempt(name, noises, draft, monotonic() - started, draft.note)


def _names(mechanism: str, noises: Sequence[str]) -> list[str]:
    """The mechanisms that `mechanism` stands for under these noises."""
    if mechanism == "auto":
        return [name for name, one in MECHANISMS.items() if one.in_auto and _groups(name, noises)]
    if not isinstance(mechanism, str) or mechanism not in MECHANISMS:
        known = ", ".join(repr(name) for name in ("auto", *MECHANISMS))
        raise InputError(f"mechanism must be one of {known}, not {mechanism!r}")
    if not _groups(mechanism, noises):
        wanted = " or ".join(MECHANISMS[mechanism].noises)
        raise InputError(
            f"mechanism {mechanism!r} is for {wanted} noise, which this promise or noise= rules "
            f"out; choose another mechanism"
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
    known = MECHANISMS[mechanism].settings if mechanism != "auto" else ()
    for name in settings:
        if name not in known:
            offers = f"takes {', '.join(known)}" if known else "takes no settings"
            raise InputError(f"{name} is no argument of plan; mechanism={mechanism!r} {offers}")
