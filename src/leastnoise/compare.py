"""Every mechanism side by side, best first, beside the bound none can beat."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leastnoise.plan import plan
from leastnoise.pricing import Candidate
from leastnoise.show.tables import comparison_table


@dataclass(frozen=True, repr=False)
class Comparison:
    """Candidates in order of expected error, and the proven lower bound."""

    candidates: tuple[Candidate, ...]
    lower_bound: float

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def ratio(self, candidate: Candidate) -> float:
        """Expected error as a multiple of the bound: 1 is proven best."""
        return candidate.expected_error / self.lower_bound if self.lower_bound else float("inf")

    @property
    def bound_text(self) -> str:
        """The bound in a sentence."""
        return f"no unbiased linear strategy has less than {self.lower_bound:,.6g}"

    def __str__(self) -> str:
        return str(comparison_table(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return comparison_table(self).html()


def compare(queries: Any, **options: Any) -> Comparison:
    """All mechanisms for `queries`; the options are those of `plan`, without `mechanism`."""
    made = plan(queries, mechanism="auto", **options)
    bound = 0.0 if made.certificate is None else made.certificate.lower_bound
    return Comparison(made.candidates, bound)
