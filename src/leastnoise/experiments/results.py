"""The tables of a full run, and ratios read off them.

Errors are predictions wherever there is one: the mean of many runs tends to them, and they do not
depend on the data. Those of MWEM are seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from leastnoise.experiments.figure import names, read
from leastnoise.experiments.point import BOUND, LEAST_NOISE, LRM, MWEM, OURS
from leastnoise.experiments.rows import Row, chosen, load_table

_NOT_DRAWN = (LRM, OURS, MWEM, "NOR")


class Results:
    """The tables of a folder, by figure; fields of a row tell which ones are meant."""

    def __init__(self, rows: Mapping[str, Sequence[Row]]) -> None:
        self.figures = {name: read(name) for name in names()}
        self.rows = rows

    @classmethod
    def read(cls, folder: Path) -> "Results":
        """The tables that a full run has left in a folder."""
        return cls({name: load_table(folder / f"{name}.csv") for name in names()})

    def error(self, figure: str, mechanism: str, **at: Any) -> float:
        """What was predicted; NaN where nothing was run."""
        rows = [row for row in chosen(self.rows[figure], mechanism=mechanism, **at) if row.epsilon]
        return float(np.mean([row.expected for row in rows])) if rows else float("nan")

    def ratio(self, figure: str, above: str, below: str, **at: Any) -> float:
        """One mechanism's error ÷ another's."""
        return self.error(figure, above, **at) / self.error(figure, below, **at)

    def seen(self, figure: str, mechanism: str, **at: Any) -> float:
        """The mean of the runs, on the data set that `at` names."""
        return chosen(self.rows[figure], mechanism=mechanism, **at)[0].error

    def bound(self, figure: str, **at: Any) -> float:
        return chosen(self.rows[figure], mechanism=BOUND, **at)[0].lower_bound

    def seconds(self, figure: str, **at: Any) -> float:
        """How long LRM searched."""
        return chosen(self.rows[figure], mechanism=LRM, **at)[0].seconds

    def others(self, figure: str, **at: Any) -> dict[str, float]:
        """Errors of the mechanisms that the paper draws beside LRM, but for MWEM."""
        plans = [x for x in self.figures[figure].mechanisms if x not in _NOT_DRAWN]
        errors = {name: self.error(figure, name, **at) for name in plans}
        return {name: error for name, error in errors.items() if isfinite(error)}

    def datasets(self, figure: str) -> list[str]:
        return list(dict.fromkeys(row.dataset for row in self.rows[figure] if row.dataset))

    def sweeps(self, delta: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every setting at which mechanisms are compared: the figure, and where along x."""
        for name, figure in self.figures.items():
            if figure.delta == delta and figure.lines == "mechanism":
                for place in getattr(figure, figure.x):
                    yield name, {figure.x: place}

    def all(self) -> Iterator[Row]:
        for rows in self.rows.values():
            yield from rows


def ratio_table(results: Results) -> str:
    """Error of ours ÷ error of the paper's LRM at every setting, as Markdown.

    Under (ε, δ) it is a product of two factors: what the noise gives, and what the strategy.
    """
    lines = [
        "| workload | setting | ε | ε, δ | = noise | × strategy |",
        "|---|---|---|---|---|---|",
    ]
    for pure, at in results.sweeps("0"):
        both = pure.replace("epsilon", "delta")
        figures = (
            results.ratio(pure, OURS, LRM, **at),
            results.ratio(both, OURS, LRM, **at),
            results.ratio(both, LEAST_NOISE, LRM, **at),
            results.ratio(both, OURS, LEAST_NOISE, **at),
        )
        workload = results.figures[pure].workloads[0]
        cells = " | ".join(f"{figure:.4f}" for figure in figures)
        lines.append(f"| {workload} | {_setting(at)} | {cells} |")
    return "\n".join(lines)


def sweep_table(results: Results, start: str, x: str) -> str:
    """The same for the figures by γ or by r, at every ε."""
    lines = [
        f"| workload | {x} | ε = 1 | 0.1 | 0.01 | (ε, δ), ε = 1 | 0.1 | 0.01 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    figure = results.figures[f"{start}-epsilon"]
    for workload in figure.workloads:
        for place in getattr(figure, figure.x):
            ratios = [
                results.error(f"{start}-{kind}", OURS, workload=workload, epsilon=epsilon)
                / results.error(
                    f"{start}-{kind}", LRM, workload=workload, epsilon=epsilon, **{figure.x: place}
                )
                for kind in ("epsilon", "delta")
                for epsilon in figure.epsilon
            ]
            lines.append(
                f"| {workload} | {place:g} | {' | '.join(f'{ratio:.3g}' for ratio in ratios)} |"
            )
    return "\n".join(lines)


def _setting(at: dict[str, Any]) -> str:
    [(x, place)] = at.items()
    return f"s = {place:g}·min(m, n)" if x == "share" else f"{x} = {place:,}"


def exponent(places: Sequence[float], values: Sequence[float]) -> float:
    """p where values grow like placesᵖ: the slope of a line through the logarithms."""
    return float(np.polyfit(np.log(places), np.log(values), 1)[0])
