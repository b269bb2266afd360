"""leastnoise demo: two small batches from queries to private answers, on made-up counts."""

from typing import Any

import numpy as np
from rich.console import Console

import leastnoise as ln
from leastnoise.cli.screen import screen
from leastnoise.show.table import Table

HEADINGS = ("question", "truth", "answer", "± std error", "cell by cell", "query by query")

STATES = {"NY": 8_217, "NJ": 3_512, "CA": 11_964, "WA": 1_205}
"""Made-up numbers of patients in four states, for the example of Yuan et al. (TODS 2015)."""

QUESTIONS = {
    "all four states": [1, 1, 1, 1],
    "NY + NJ": [1, 1, 0, 0],
    "CA + WA": [0, 0, 1, 1],
}

AGES = range(4, 100, 5)
"""Patients are counted up to each of these ages, for a cumulative distribution."""


def demo() -> None:
    """Answer two batches of questions about made-up patients."""
    console = screen()
    _states(console)
    _ages(console)


def _states(console: Console) -> None:
    workload = ln.Workload(list(QUESTIONS.values()), names=list(QUESTIONS))
    _show(console, "Patients by state", workload, np.array(list(STATES.values())), epsilon=1)


def _ages(console: Console) -> None:
    names = [f"up to age {last}" for last in AGES]
    workload = ln.ranges(100, [(0, last) for last in AGES], names)
    _show(console, "Patients by age", workload, made_up_ages(), epsilon="0.1")


def made_up_ages() -> np.ndarray:
    """Patients of each age from 0 to 99: a smooth curve, rounded."""
    age = np.arange(100)
    return np.rint(300 * np.exp(-(((age - 58) / 24) ** 2)) + 40 * np.exp(-age / 5)).astype(int)


def _show(
    console: Console, title: str, workload: ln.Workload, counts: np.ndarray, **promise: Any
) -> None:
    """Plan, release and print: true counts stand beside the answers because they are made up."""
    plan = ln.plan(workload, **promise)
    release = plan.release(counts)
    alone = {name: ln.plan(workload, mechanism=name, **promise) for name in ("nod", "nor")}
    columns = (
        workload.dense() @ counts,
        release.answers,
        plan.std,
        alone["nod"].std,
        alone["nor"].std,
    )
    rows = [
        (name, f"{truth:,.0f}", *(f"{value:,.1f}" for value in values))
        for name, truth, *values in zip(workload.names, *columns, strict=True)
    ]
    console.print(f"{Table(HEADINGS, rows, ('question',), title=title)}\n")
    console.print(plan.summary(), end="\n\n")
