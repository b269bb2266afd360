"""What is minimised: the weighted total of the answers' variances, or the largest of them."""

from dataclasses import dataclass

import numpy as np

from leastnoise.errors import InputError

OBJECTIVES = ("total", "worst")

_LIGHTEST = 1e-8  # of the largest weight: a query of weight 0 must still be rebuilt


@dataclass(frozen=True)
class Goal:
    """Σ wᵢ·varᵢ for "total", maxᵢ wᵢ·varᵢ for "worst"."""

    objective: str
    weights: np.ndarray

    def of(self, variances: np.ndarray) -> float:
        """The figure to be made small."""
        weighted = self.weights * variances
        return float(weighted.sum() if self.objective == "total" else weighted.max())

    @property
    def row_factors(self) -> np.ndarray:
        """√w, the factor on each row of W; a weight of 0 counts as a very small one."""
        return np.sqrt(np.maximum(self.weights, _LIGHTEST * self.weights.max()))


def goal(objective: object, weights: object, queries: int) -> Goal:
    """A checked goal; without weights every query counts the same."""
    if objective not in OBJECTIVES:
        raise InputError(f"objective must be 'total' or 'worst', not {objective!r}")
    return Goal(str(objective), _checked_weights(weights, queries))


def _checked_weights(weights: object, queries: int) -> np.ndarray:
    if weights is None:
        return np.ones(queries)
    try:
        loads = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one per query") from None
    if loads.shape != (queries,):
        raise InputError(f"weights must be one number per query, {queries} in all")
    if not (np.isfinite(loads).all() and (loads >= 0).all() and loads.any()):
        raise InputError("weights must be finite, at least 0, and not all 0")
    return loads
