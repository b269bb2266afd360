"""Every mechanism side by side, best first, beside the bound none can beat."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leastnoise.plan import plan
from leastnoise.pricing import Candidate

_HEADINGS = ("mechanism", "noise", "expected error", "x bound", "seconds", "note")


@dataclass(frozen=True)
class Comparison:
    """Candidates in order of expected error, and the proven lower bound."""

    candidates: tuple[Candidate, ...]
    lower_bound: float

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def ratio(self, candidate: Candidate) -> float:
        """Expected error as a multiple of the bound: 1 is proven best."""
        return candidate.expected_error / self.lower_bound if self.lower_bound else float("inf")

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [
            ("mechanism", "noise", "expected error", "x bound", "seconds", "note")
        ]
        rows += [self._row(candidate) for candidate in self]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(_pad(*cell) for cell in zip(row, widths, range(6), strict=True))
            for row in rows
        ]
        bound = f"no unbiased linear strategy has less than {self.lower_bound:,.6g}"
        return "\n".join(line.rstrip() for line in [*lines, bound])

    def _row(self, one: Candidate) -> tuple[str, ...]:
        if one.note:
            return one.mechanism, one.noise, "-", "-", f"{one.seconds:.2f}", one.note
        error, ratio = f"{one.expected_error:,.6g}", f"{self.ratio(one):.3f}"
        return one.mechanism, one.noise, error, ratio, f"{one.seconds:.2f}", ""


def _pad(text: str, width: int, column: int) -> str:
    return text.rjust(width) if 2 <= column <= 4 else text.ljust(width)


def compare(queries: Any, **options: Any) -> Comparison:
    """All mechanisms for `queries`; the options are those of `plan`, without `mechanism`."""
    made = plan(queries, mechanism="auto", **options)
    bound = 0.0 if made.certificate is None else made.certificate.lower_bound
    return Comparison(made.candidates, bound)
