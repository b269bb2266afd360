"""A figure: what varies along it, and the points that it takes. Its settings are a short TOML file.

`x` names what varies: n, m, share (of WRelated's rank), gamma or ratio. `lines` and `panels` name
what tells lines and panels apart; `y` what is drawn, a row of panels each. A table [quick] replaces
settings where time is short. What a file does not say is as in the paper.
"""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from leastnoise.errors import FileError, InputError
from leastnoise.experiments.histograms import Histogram
from leastnoise.experiments.point import BOUND, GAMMA, LEAST_NOISE, LRM, MECHANISMS, SHARE, Point
from leastnoise.experiments.rows import Row
from leastnoise.experiments.workloads import FAMILIES
from leastnoise.release.privacy import exact

AXES = ("n", "m", "share", "gamma", "ratio")
_LINES = ("mechanism", "epsilon", "m")
_PANELS = ("dataset", "workload")
_MEASURES = ("error", "seconds")
_EVERY_DELTA = ("0", "1e-4")  # of the paper: what a search that suits both is asked for
_FOLDER = files("leastnoise.experiments").joinpath("figures")


@dataclass(frozen=True)
class Figure:
    """What a file says."""

    name: str
    title: str
    x: str
    workloads: tuple[str, ...]
    mechanisms: tuple[str, ...]
    lines: str = "mechanism"
    panels: str = "dataset"
    y: tuple[str, ...] = ("error",)
    n: tuple[int, ...] = (1024,)
    m: tuple[int, ...] = (256,)
    share: tuple[float, ...] = (SHARE,)
    gamma: tuple[float, ...] = (GAMMA,)
    ratio: tuple[float, ...] = ()
    epsilon: tuple[str, ...] = ("0.1",)
    delta: str = "0"
    datasets: int = 0
    runs: int = 20

    def points(self, histograms: Sequence[Histogram], seed: int) -> list[Point]:
        """Each once, the ones of most work first."""
        shown = histograms[: self.datasets or None]
        datasets = tuple((one.name, one.digest) for one in shown)
        points = {
            self._point(name, workload, m, n, share, gamma, ratio, datasets, seed): None
            for name in (*self.mechanisms, BOUND)
            for workload, m, n, share, gamma, ratio in self._grid()
        }
        return sorted(points, key=lambda point: -point.work)

    def _grid(self) -> Iterator[tuple[str, int, int, float, float, float | None]]:
        return product(
            self.workloads, self.m, self.n, self.share, self.gamma, self.ratio or (None,)
        )

    def _point(
        self, name: str, workload: str, m: int, n: int, share: float, gamma: float,
        ratio: float | None, datasets: tuple[tuple[str, str], ...], seed: int,
    ) -> Point:  # fmt: skip
        """Without what does not matter to the mechanism, so that figures share it."""
        both = MECHANISMS[name].suits_both
        deltas = tuple(dict.fromkeys((*_EVERY_DELTA, self.delta))) if both else (self.delta,)
        return Point(
            workload, m, n,
            share=share if workload == "WRelated" else None,
            mechanism=name,
            gamma=gamma if name == LRM else None,
            ratio=ratio if name == LRM else None,
            promises=tuple(product(self.epsilon, deltas)),
            datasets=() if name == BOUND else datasets,
            runs=0 if name == BOUND else self.runs,
            seed=seed,
        )  # fmt: skip

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """Those of its points' rows that it shows: a shared search serves other promises too."""
        return [
            row
            for row in rows
            if row.delta in ("", self.delta) and row.epsilon in ("", *self.epsilon)
        ]

    @property
    def shown(self) -> tuple[str, ...]:
        """The mechanisms that have a line of their own."""
        both = self.delta != "0" and LRM in self.mechanisms
        return (*self.mechanisms, LEAST_NOISE) if both else self.mechanisms


def names() -> list[str]:
    """The figures that come with the project, in order."""
    return sorted(one.name.removesuffix(".toml") for one in _FOLDER.iterdir())


def read(name: str, *, quick: bool = False) -> Figure:
    """A figure that comes with the project, by its name, or one in a TOML file."""
    if name in names():
        return _parsed(name, name, _FOLDER.joinpath(f"{name}.toml").read_text("utf-8"), quick)
    path = Path(name)
    if path.suffix != ".toml":
        raise InputError(
            f"no experiment is called {name!r}; leastnoise experiment lists them, and takes a .toml"
        )
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is no TOML text") from None
    return _parsed(path.stem, name, text, quick)


def _parsed(name: str, place: str, text: str, quick: bool) -> Figure:
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{place} is no TOML: {error}") from None
    less = settings.pop("quick", {})
    if not isinstance(less, dict):
        raise FileError(f"{place}: quick must be a table of settings")
    known = {field.name for field in fields(Figure)} - {"name"}
    for key in (*settings, *less):
        if key not in known:
            raise FileError(f"{place} has {key!r}; a figure takes {', '.join(sorted(known))}")
    given = settings | less if quick else settings
    for key in ("title", "x", "workloads", "mechanisms"):
        if key not in given:
            raise FileError(f"{place} needs {key!r}")
    name = f"{name}-quick" if quick else name  # beside the whole one, not in its place
    figure = Figure(name, **{key: _tuple(value) for key, value in given.items()})
    _check(figure, place)
    return figure


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check(figure: Figure, place: str) -> None:
    """Every name is one that is known, every list holds what it should."""
    for key, (is_list, known) in _KNOWN.items():
        given = getattr(figure, key)
        if isinstance(given, tuple) != is_list:
            raise FileError(f"{place}: {key} must be {'a list' if is_list else 'one name'}")
        for one in given if is_list else (given,):
            if one not in known:
                raise FileError(f"{place}: {key} takes {', '.join(known)}, not {one!r}")
    for key, (is_right, what) in _LISTS.items():
        given = getattr(figure, key)
        if not (isinstance(given, tuple) and all(map(is_right, given))):
            raise FileError(f"{place}: {key} must be a list of {what}")
    for key, least in (("runs", 1), ("datasets", 0)):
        if not _is_whole(getattr(figure, key), least):
            raise FileError(f"{place}: {key} must be a whole number of at least {least}")
    if not (figure.delta == "0" or _is_promise(figure.delta)):
        raise FileError(f"{place}: delta must be a number in quotes, such as '1e-4'")
    if not getattr(figure, figure.x):
        raise FileError(f"{place}: {figure.x} varies along x; give it a list")
    _check_sense(figure, place)


def _check_sense(figure: Figure, place: str) -> None:
    """Nothing varies that no axis, line or panel shows, and every mechanism has its noise."""
    shown = (figure.x, figure.lines)
    for key in ("n", "m", "share", "gamma", "ratio", "epsilon"):
        if key not in shown and len(getattr(figure, key)) > 1:
            raise FileError(f"{place}: {key} has several values; name it as x or lines")
    if figure.panels != "workload" and len(figure.workloads) > 1:
        raise FileError(f"{place}: several workloads need panels = 'workload'")
    if figure.panels == "workload" and figure.datasets != 1 and "error" in figure.y:
        raise FileError(f"{place}: panels by workload show one data set; give datasets = 1")
    wrong = "LM" if figure.delta != "0" else "GM"
    if wrong in figure.mechanisms:
        right = "GM" if wrong == "LM" else "LM"
        raise FileError(f"{place}: {wrong} is not for delta = {figure.delta!r}; {right} is")
    if "MWEM" in figure.mechanisms and figure.delta != "0":
        raise FileError(f"{place}: MWEM is for delta = '0'")
    if "WMarginal" in figure.workloads and any(n < 8 or n & (n - 1) for n in figure.n):
        raise FileError(f"{place}: WMarginal needs n to be a power of two, at least 8")
    if any(share > 1 for share in figure.share):
        raise FileError(f"{place}: share must not exceed 1")


def _is_whole(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < inf


def _is_promise(value: Any) -> bool:
    """A number in quotes, so that 0.1 is exactly a tenth."""
    try:
        return isinstance(value, str) and exact(value, "epsilon") > 0
    except InputError:
        return False


_KNOWN: dict[str, tuple[bool, tuple[str, ...]]] = {  # whether it is a list, and of what
    "x": (False, AXES), "lines": (False, _LINES), "panels": (False, _PANELS),
    "y": (True, _MEASURES), "workloads": (True, tuple(FAMILIES)),
    "mechanisms": (True, tuple(MECHANISMS)),
}  # fmt: skip
_LISTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n": (_is_whole, "whole numbers of at least 1"),
    "m": (_is_whole, "whole numbers of at least 1"),
    "share": (_is_positive, "numbers above 0"),
    "gamma": (_is_positive, "numbers above 0"),
    "ratio": (_is_positive, "numbers above 0"),
    "epsilon": (_is_promise, "numbers in quotes, such as '0.1'"),
}
