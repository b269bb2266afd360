"""leastnoise demo: two small batches from queries to private answers, on made-up counts."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import leastnoise as ln

STATES = {"NY": 8_217, "NJ": 3_512, "CA": 11_964, "WA": 1_205}
"""Made-up numbers of patients in four states, for the example of Yuan et al. (TODS 2015)."""

QUESTIONS = {
    "all four states": [1, 1, 1, 1],
    "NY + NJ": [1, 1, 0, 0],
    "CA + WA": [0, 0, 1, 1],
}

AGE_GROUPS = [(0, 17), (18, 24), (25, 44), (45, 64), (65, 99), (18, 64), (0, 64), (18, 99), (0, 99)]


def demo() -> None:
    """Answer two batches of questions about made-up patients, from queries to private answers."""
    console = Console(highlight=False)
    _states(console)
    _ages(console)


def _states(console: Console) -> None:
    workload = ln.Workload(list(QUESTIONS.values()), names=list(QUESTIONS))
    _show(console, "Patients by state", workload, np.array(list(STATES.values())), epsilon=1)


def _ages(console: Console) -> None:
    names = [f"age {first} to {last}" for first, last in AGE_GROUPS]
    workload = ln.ranges(100, AGE_GROUPS, names)
    _show(console, "Patients by age", workload, made_up_ages(), epsilon="0.1", delta="1e-6")


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
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("question")
    for heading in ("made-up truth", "answer", "± std error", "cell by cell", "query by query"):
        table.add_column(heading, justify="right")
    rows = zip(
        workload.names,
        workload.dense() @ counts,
        release.answers,
        plan.std,
        alone["nod"].std,
        alone["nor"].std,
        strict=True,
    )
    for name, truth, answer, *errors in rows:
        table.add_row(name, f"{truth:,.0f}", f"{answer:,.1f}", *(f"{std:,.1f}" for std in errors))
    console.print(table)
    console.print(plan.summary(), "\n", markup=False, soft_wrap=True)
