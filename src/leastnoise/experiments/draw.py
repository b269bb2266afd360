"""Figures from rows: log axes, one style, labels beside the lines, what is impossible shaded.

Lines are predictions, which exist for every mechanism but MWEM; marks are what was seen. Below the
proven lower bound no unbiased linear mechanism that keeps the same promise can be.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite, isnan, log
from pathlib import Path
from typing import Any, Literal, NamedTuple

from leastnoise.experiments.figure import Figure
from leastnoise.experiments.histograms import TITLES
from leastnoise.experiments.point import BOUND, LEAST_NOISE, LRM, OURS
from leastnoise.experiments.rows import Row, chosen

_PANEL = (2.0, 2.15)  # inches
_MARGIN = 1.25  # inches for the labels on the right
_GAP = 0.062  # between labels, of a panel's height
_SHADE, _INK, _GREY = "#e6e6e6", "#222222", "#777777"
_BELOW = "no unbiased linear mechanism"
_FEW = 200.0  # largest / least on an axis for which 2 and 5 are ticks too
_MANY = 5  # ticks on an axis beyond which every second is labelled

_X = {
    "n": "domain size n",
    "m": "number of queries m",
    "share": "rank s / min(m, n)",
    "gamma": "relaxation γ",
    "ratio": "rows of L / rank of W",
}
_Y = {"error": "average squared error", "seconds": "seconds"}
_STYLE = {
    "LM": ("#7f7f7f", "s"), "GM": ("#7f7f7f", "s"), "NOR": ("#a6761d", "v"), "WM": ("#009e73", "^"),
    "HM": ("#56b4e9", "D"), "ESM": ("#cc79a7", "P"), "AM": ("#8c6bb1", "X"),
    "MWEM": ("#c9a400", "h"), LRM: ("#0072b2", "o"), LEAST_NOISE: ("#0072b2", "o"),
    OURS: ("#d55e00", "o"),
}  # fmt: skip
_SEQUENCE = (("#0072b2", "o"), ("#009e73", "^"), ("#d55e00", "s"))  # lines that are no mechanisms


class Line(NamedTuple):
    """One line of a panel: its name, its rows along x, its colour and mark."""

    name: str
    rows: list[Row]
    color: str
    marker: str


def draw(figure: Figure, rows: Sequence[Row], folder: Path) -> None:
    """An SVG and a PNG by the figure's name, byte for byte the same for the same rows."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(_settings()):
        panels = _panels(figure, rows)
        size = (_PANEL[0] * len(panels) + _MARGIN, _PANEL[1] * len(figure.y) + 0.45)
        canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasAgg(canvas)
        share: Literal["row", "none"] = "row" if figure.panels == "dataset" else "none"
        axes = canvas.subplots(len(figure.y), len(panels), squeeze=False, sharex=True, sharey=share)
        for measure, row in zip(figure.y, axes, strict=True):
            for axis, (title, its) in zip(row, panels, strict=True):
                axis.set_title(title if measure == figure.y[0] else "")
                _panel(axis, figure, its, measure)
            if measure == "error":
                for axis, (_, its) in zip(row, panels, strict=True):
                    _make_room(axis, figure, its)
            for axis, (_, its) in zip(row, panels, strict=True):
                _finish(axis, figure, its, measure)
            row[0].set_ylabel(_Y[measure])
        canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=9, fontweight="bold")
        canvas.supxlabel(_X[figure.x], fontsize=8)
        canvas.text(0.995, 0.012, _key(figure), ha="right", fontsize=6, color=_GREY)
        canvas.savefig(folder / f"{figure.name}.svg", metadata={"Date": None})
        canvas.savefig(folder / f"{figure.name}.png", dpi=160, metadata={"Software": None})


def _key(figure: Figure) -> str:
    """How the lines are read."""
    if "error" not in figure.y:
        return "one thread"
    bound = "; dotted: no less is possible" if len(figure.epsilon) > 1 else ""
    return f"lines: predicted; marks: mean of {figure.runs} runs{bound}"


def _settings() -> Any:
    return {
        "font.size": 7.5, "axes.titlesize": 8, "axes.labelsize": 8, "axes.edgecolor": _INK,
        "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": "#eeeeee", "grid.linewidth": 0.5, "axes.axisbelow": True,
        "xtick.major.width": 0.6, "ytick.major.width": 0.6, "ytick.minor.visible": False,
        "xtick.minor.visible": False, "text.color": _INK, "svg.hashsalt": "leastnoise",
    }  # fmt: skip


def _panels(figure: Figure, rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """What stands side by side; a bound belongs to every data set."""
    if figure.panels == "workload":
        return [(name, chosen(rows, workload=name)) for name in figure.workloads]
    names = list(dict.fromkeys(row.dataset for row in rows if row.dataset))
    return [
        (TITLES.get(name, name), [row for row in rows if row.dataset in ("", name)])
        for name in names
    ]


def _panel(axis: Any, figure: Figure, rows: Sequence[Row], measure: str) -> None:
    """Lines and marks, and where the bound runs."""
    axis.set_yscale("log")
    if figure.x != "share":
        axis.set_xscale("log")
    places = list(getattr(figure, figure.x))
    for line in _lines(figure, rows, measure):
        _draw_line(axis, figure, line, places, measure)
    if measure == "error":
        styles = [("-", _GREY)]
        if len(figure.epsilon) > 1:
            styles = [(":", color) for color, _ in _SEQUENCE]
        for values, (dots, color) in zip(_bounds(figure, rows, places), styles, strict=False):
            axis.plot(places, values, dots, lw=0.8, color=color)
    axis.margins(x=0.04, y=0.08)


def _make_room(axis: Any, figure: Figure, rows: Sequence[Row]) -> None:
    """Space below the bound, in every panel that shares the axis."""
    low, high = axis.get_ylim()
    least = min(min(values) for values in _bounds(figure, rows, getattr(figure, figure.x)))
    axis.set_ylim(min(low, least / (high / low) ** 0.1), high)


def _finish(axis: Any, figure: Figure, rows: Sequence[Row], measure: str) -> None:
    """What needs the final limits: ticks, the shade below the bound, names beside the lines."""
    places = list(getattr(figure, figure.x))
    low, high = axis.get_ylim()
    _ticks(axis, places, high / low)
    if measure == "error":
        values = min(_bounds(figure, rows, places), key=min)
        axis.fill_between(places, values, low, color=_SHADE, lw=0, zorder=1)
        axis.text(0.04, 0.025, _BELOW, transform=axis.transAxes, fontsize=6, color=_GREY)
    if axis.get_subplotspec().is_last_col():
        _label(axis, figure, _lines(figure, rows, measure), measure)


def _lines(figure: Figure, rows: Sequence[Row], measure: str) -> list[Line]:
    """One for each mechanism, or for each ε or m; a search's seconds do not depend on ε."""
    if figure.lines == "mechanism":
        return [Line(name, chosen(rows, mechanism=name), *_STYLE[name]) for name in figure.shown]
    label: Callable[[Any], str] = (
        (lambda v: f"ε = {v}") if figure.lines == "epsilon" else "m = {}".format
    )
    values = getattr(figure, figure.lines)
    if measure == "seconds" and figure.lines == "epsilon":
        values, label = values[:1], lambda value: "any ε"
    mechanism = figure.mechanisms[0]
    return [
        Line(label(value), chosen(rows, mechanism=mechanism, **{figure.lines: value}), *style)
        for value, style in zip(values, _SEQUENCE, strict=False)
    ]


def _draw_line(
    axis: Any, figure: Figure, line: Line, places: Sequence[float], measure: str
) -> None:
    """The prediction as a line, what was seen as marks; without a prediction both are the same."""
    seen = [
        (getattr(row, figure.x), _seen(row, measure), _predicted(row, measure)) for row in line.rows
    ]
    seen = sorted(one for one in seen if isfinite(one[1]))
    if not seen:
        return
    if all(isnan(x) for x, *_ in seen):  # nothing that varies along x matters to it
        seen = [(x, *seen[0][1:]) for x in places]
    x, marks, predicted = zip(*seen, strict=True)
    is_ours = line.name == OURS
    style = {"color": line.color, "zorder": 4 if is_ours else 3}
    dashes = "--" if line.name == LEAST_NOISE else "-"
    axis.plot(x, predicted, dashes, lw=1.8 if is_ours else 1.0, **style)
    axis.plot(x, marks, line.marker, ms=3.4, mec="white", mew=0.35, **style)


def _seen(row: Row, measure: str) -> float:
    return float(getattr(row, measure))


def _predicted(row: Row, measure: str) -> float:
    is_predicted = measure == "error" and isfinite(row.expected)
    return row.expected if is_predicted else _seen(row, measure)


def _bounds(figure: Figure, rows: Sequence[Row], places: Sequence[float]) -> Iterator[list[float]]:
    """The proven bound along x, for each ε."""
    for epsilon in figure.epsilon:
        its = chosen(rows, mechanism=BOUND, epsilon=epsilon)
        along = {getattr(row, figure.x): row.lower_bound for row in its}
        yield [along.get(place, its[0].lower_bound) for place in places]


def _ticks(axis: Any, places: Sequence[float], ratio: float) -> None:
    """Each place along x, every second labelled; up, more than decades where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    every = 2 if len(places) > _MANY else 1
    axis.set_xticks(places)
    axis.set_xticklabels([f"{place:g}" if i % every == 0 else "" for i, place in enumerate(places)])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_locator(NullLocator())
    if ratio < _FEW:
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))


def _label(axis: Any, figure: Figure, lines: Sequence[Line], measure: str) -> None:
    """Names beside the ends of the lines, moved apart where they would touch."""
    low, high = axis.get_ylim()
    ends = []
    for line in lines:
        rows = [row for row in line.rows if isfinite(_seen(row, measure))]
        if rows:
            last = max(rows, key=lambda row: getattr(row, figure.x))
            ends.append((log(_predicted(last, measure) / low) / log(high / low), line))
    ends.sort(key=lambda end: end[0])
    for place, (_, line) in zip(_apart([end for end, _ in ends]), ends, strict=True):
        axis.text(
            1.04, place, line.name, transform=axis.transAxes, color=line.color, va="center",
            fontsize=7, fontweight="bold" if line.name == OURS else "normal",
        )  # fmt: skip


def _apart(places: Sequence[float]) -> list[float]:
    """Rising places at least a gap apart, as near to where they were as pushing by turns gets."""
    moved = list(places)
    for _ in range(200):
        for i in range(len(moved) - 1):
            short = _GAP - (moved[i + 1] - moved[i])
            if short > 1e-6:
                moved[i] -= short / 2
                moved[i + 1] += short / 2
    return moved
