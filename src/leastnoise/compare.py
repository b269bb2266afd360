"""Every mechanism side by side, best first, beside the bound none can beat."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from math import inf, isfinite
from numbers import Real
from time import monotonic
from typing import Any

import numpy as np

from leastnoise.errors import InputError
from leastnoise.pricing import Candidate, candidates, lower_bound, offers
from leastnoise.rehearsal.mwem import MECHANISM as MWEM
from leastnoise.rehearsal.mwem import rehearsal
from leastnoise.rehearsal.simulate import rehearse
from leastnoise.release.counts import checked_counts, class_counts
from leastnoise.request import Request, request
from leastnoise.show.tables import comparison_table
from leastnoise.strategy.choose import ALL, attempts
from leastnoise.workload.matrices import dense

BUDGET = 60.0
"""Seconds that a mechanism may take unless told otherwise."""

_REHEARSALS = 200


@dataclass(frozen=True, repr=False)
class Comparison:
    """Candidates in order of expected error, and the proven lower bound."""

    candidates: tuple[Candidate, ...]
    lower_bound: float

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def ratio(self, candidate: Candidate) -> float:
        """Expected error as a multiple of the bound: 1 is proven best."""
        return candidate.expected_error / self.lower_bound if self.lower_bound else inf

    @property
    def bound_text(self) -> str:
        """The bound in a sentence."""
        return f"no unbiased linear strategy has less than {self.lower_bound:,.6g}"

    def rows(self) -> list[dict[str, Any]]:
        """A row per candidate; None where an error or a ratio is not known."""
        return [
            {
                "mechanism": one.mechanism,
                "noise": one.noise,
                "expected_error": _known(one.expected_error),
                "ratio_to_bound": _known(self.ratio(one)),
                "seconds": one.seconds,
                "note": one.note,
            }
            for one in self
        ]

    def to_json(self) -> str:
        """The rows and the bound."""
        return json.dumps(
            {"lower_bound": self.lower_bound, "candidates": self.rows()},
            indent=1,
            ensure_ascii=False,
        )

    def to_csv(self) -> str:
        """The rows under a line of headings."""
        text, rows = io.StringIO(), self.rows()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def __str__(self) -> str:
        return str(comparison_table(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return comparison_table(self).html()


def compare(
    queries: Any, *, counts: Any = None, budget: float = BUDGET, **options: Any
) -> Comparison:
    """All mechanisms for `queries`; the options are those of `plan`, without `mechanism`.

    budget     seconds for each: one that is predicted to take longer is listed, and not run
    counts     public or made-up counts, on which MWEM is rehearsed; without them it is left out
    """
    if isinstance(budget, bool) or not isinstance(budget, Real) or not float(budget) > 0:
        raise InputError(f"budget must be a positive number of seconds, not {budget!r}")
    for name in options:
        if name not in signature(request).parameters:
            raise InputError(
                f"{name} is no argument of compare, which tries every mechanism as it is"
            )
    asked = request(queries, **options)
    if counts is not None:
        counts = checked_counts(counts, asked.problem.workload.shape[1], asked.max_total)
    made = attempts(ALL, asked.problem, asked.search, asked.noises, {}, float(budget))
    priced = offers(made, asked.problem.goal, asked.privacy)
    found = [*candidates(made, priced)]
    if counts is not None:
        found.append(_rehearsed(asked, counts))
    bound = lower_bound(made, asked.privacy)
    found.sort(key=lambda one: float(f"{one.expected_error:.9g}"))
    return Comparison(tuple(found), bound[0] if bound else 0.0)


def _rehearsed(asked: Request, counts: Any) -> Candidate:
    """MWEM's mean error over some rehearsals on these counts."""
    problem, started = asked.problem, monotonic()
    if asked.privacy.epsilon is None:
        return Candidate(MWEM, "", inf, 0.0, "needs epsilon")
    mwem = rehearsal(problem.workload, problem.goal, asked.privacy, asked.max_total, {})
    answers = rehearse(mwem, counts, _REHEARSALS, asked.search.seed)
    cells = class_counts(counts, problem.workload.cells, problem.workload.classes)
    off = answers - dense(problem.workload.matrix) @ cells
    error = problem.goal.of(np.square(off).mean(axis=0))
    note = f"rehearsed on the counts given, {mwem.rounds} rounds; not a release"
    return Candidate(MWEM, mwem.noise, error, monotonic() - started, note)


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
