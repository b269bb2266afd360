"""What the paper's appendix B proves about any workload, beside the bound that is certified here.

At unit noise, ‖B‖²·Δ², over the original cells; λ are the s singular values of W, V its right
singular vectors:

    ε      upper  Σλ²                  noise on data: B = W, L = I
           lower  (s⁴/n)·((2ˢ/s!)·Πλ)^(2/s), up to a constant that is not known
    ε, δ   upper  ρ²·Σλ²               B = ρ·UΣ, L = V/ρ, ρ the largest column norm of V
           lower  (Σλ)²/n              the certified bound at a uniform q

The ratios are at most κ²·n/(8s) for s > 5 (times that constant) and (κρ)²·n/s, κ = λ₁/λ_s.
"""

from dataclasses import dataclass
from math import lgamma, log

import numpy as np
import scipy.linalg as linalg

from leastnoise.strategy.ascent import Search
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.matrices import dense

_SMALLEST = 1e-10  # singular values, of the largest


@dataclass(frozen=True)
class Bounds:
    """Bounds on the error at unit noise: times 2/ε² for Laplace noise, σ₁² for Gaussian noise."""

    rank: int
    condition: float
    coherence: float
    laplace_upper: float
    laplace_lower: float
    gaussian_upper: float
    gaussian_lower: float
    certified: float
    achieved: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"rank {self.rank}, condition {self.condition:,.4g}, "
                f"coherence {self.coherence:,.4g}; errors at unit noise",
                f"  Laplace   at most {self.laplace_upper:,.6g}; of the order of "
                f"{self.laplace_lower:,.6g} or more (constant unknown)",
                f"  Gaussian  at most {self.gaussian_upper:,.6g}, at least "
                f"{self.gaussian_lower:,.6g}",
                f"  proven    at least {self.certified:,.6g} for either noise; "
                f"{self.achieved:,.6g} is reached for Gaussian noise",
            ]
        )


def workload_bounds(problem: Problem, search: Search) -> Bounds:
    """All of them for the total error; the certified one from the Gaussian optimum."""
    workload = problem.workload
    cells = workload.shape[1]
    copies = np.bincount(workload.cells[workload.cells >= 0], minlength=workload.classes)
    rows = problem.goal.row_factors[:, None] * dense(workload.matrix) * np.sqrt(copies)
    _, values, right = linalg.svd(rows, full_matrices=False)
    is_real = values > _SMALLEST * values[0]
    values, right = values[is_real], right[is_real] / np.sqrt(copies)
    rank, squares = len(values), float(np.square(values).sum())
    coherence = float(np.sqrt(np.square(right).sum(axis=0).max()))
    volume = (rank * log(2) - lgamma(rank + 1) + float(np.log(values).sum())) * 2 / rank
    best = optimal(problem, search)
    return Bounds(
        rank=rank,
        condition=float(values[0] / values[-1]),
        coherence=coherence,
        laplace_upper=squares,
        laplace_lower=float(rank**4 / cells * np.exp(volume)),
        gaussian_upper=coherence**2 * squares,
        gaussian_lower=float(values.sum() ** 2 / cells),
        certified=best.bound.lower if best.bound else 0.0,
        achieved=float(problem.goal.of(best.row_squares) * best.sensitivities[1] ** 2),
    )
