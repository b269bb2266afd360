"""Answers, accuracy and candidates as tables for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from leastnoise.answers.release import Release
from leastnoise.pricing import Candidate

if TYPE_CHECKING:
    from leastnoise.plan import Plan

_MOST_ROWS = 40


def answer_table(release: Release) -> Table:
    """Each question, its answer, and how far off it may be."""
    table = _table("question", "answer", "± standard error")
    for row in _shortened(list(zip(release.names, release.answers, release.std, strict=True))):
        table.add_row(row[0], *(f"{value:,.1f}" for value in row[1:]))
    return table


def accuracy_table(plan: "Plan") -> Table:
    """Each question and the standard error its answer will have."""
    table = _table("question", "± standard error")
    for name, std in _shortened(list(zip(plan.workload.names, plan.std, strict=True))):
        table.add_row(name, f"{std:,.4g}")
    return table


def candidate_table(candidates: Sequence[Candidate]) -> Table:
    """What was tried, best first."""
    table = _table("mechanism", "noise", "expected error", "seconds", "note")
    for one in candidates:
        error = f"{one.expected_error:,.6g}" if np.isfinite(one.expected_error) else "-"
        table.add_row(one.mechanism, one.noise, error, f"{one.seconds:.2f}", one.note)
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        is_text = heading in ("question", "mechanism", "noise", "note")
        table.add_column(heading, justify="left" if is_text else "right")
    return table


def _shortened(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return rows[:_MOST_ROWS]
