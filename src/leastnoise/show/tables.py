"""Plans, releases and comparisons as tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from leastnoise.pricing import Candidate
from leastnoise.show.table import Span, Table
from leastnoise.show.text import plan_facts, spending_text

if TYPE_CHECKING:
    from leastnoise.answers.release import Release
    from leastnoise.compare import Comparison
    from leastnoise.plan import Plan

_CONFIDENCE = 0.95
_WORDS = ("question", "mechanism", "noise", "note")


def plan_table(plan: "Plan") -> Table:
    """Each question and how far off its answer will be, above the plan's facts."""
    (_, title), *facts = plan_facts(plan)
    notes = [f"{label}: {text}" for label, text in facts]
    return replace(accuracy_table(plan), title=title, notes=notes)


def accuracy_table(plan: "Plan") -> Table:
    """Each question and the standard error its answer will have."""
    rows = [(name, f"{std:,.4g}") for name, std in zip(plan.workload.names, plan.std, strict=True)]
    spans = [Span(-std, 0, std) for std in plan.std]
    return Table(("question", "± std error"), rows, _WORDS, spans=spans)


def release_table(release: "Release") -> Table:
    """Each question, its answer, and how far off it may be."""
    low, high = release.interval(_CONFIDENCE)
    columns = (release.answers, release.std, low, high)
    rows, spans = [], []
    for name, *values in zip(release.names, *columns, strict=True):
        rows.append((name, *(f"{value:,.1f}" for value in values)))
        spans.append(Span(values[2], values[0], values[3]))
    headings = ("question", "answer", "± std error", f"{_CONFIDENCE:.0%} from", "to")
    return Table(headings, rows, _WORDS, _release_notes(release), spans)


def comparison_table(comparison: "Comparison") -> Table:
    """Mechanisms, best first; in the drawing each error's logarithm, from the bound on."""
    rows = [
        (*_candidate(one), _ratio(comparison, one), f"{one.seconds:.2f}", one.note)
        for one in comparison
    ]
    logs = [np.log(comparison.ratio(one)) for one in comparison]
    spans = [Span(0, log, log) if np.isfinite(log) else None for log in logs]
    headings = ("mechanism", "noise", "expected error", "x bound", "seconds", "note")
    return Table(headings, rows, _WORDS, [comparison.bound_text], spans)


def candidate_table(candidates: Sequence[Candidate]) -> Table:
    """What was tried, best first."""
    rows = [(*_candidate(one), f"{one.seconds:.2f}", one.note) for one in candidates]
    return Table(("mechanism", "noise", "expected error", "seconds", "note"), rows, _WORDS)


def _candidate(one: Candidate) -> tuple[str, str, str]:
    error = f"{one.expected_error:,.6g}" if np.isfinite(one.expected_error) else "-"
    return one.mechanism, one.noise, error


def _ratio(comparison: "Comparison", one: Candidate) -> str:
    ratio = comparison.ratio(one)
    return f"{ratio:.3f}" if np.isfinite(ratio) else "-"


def _release_notes(release: "Release") -> list[str]:
    notes = [spending_text(part) for part in release.parts]
    widened = int(release.is_biased.sum())
    if widened:
        notes.append(
            f"{widened:,} intervals are wider, by up to {release.bias.max():,.3g}, "
            f"because rounding or relaxing the strategy may shift their answers that much"
        )
    return notes
