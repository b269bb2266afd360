"""The adaptive mechanism: eigen-queries, weighted for least error, columns completed.

With M = U·diag(λ)·V the eigen-queries are the rows of V. Measuring √uᵢ·Vᵢ costs Σ λᵢ²/uᵢ at Δ₂ = 1:

    min Σ λᵢ²/uᵢ  s.t. (V∘V)ᵀu ≤ 1   =   max over q of (Σ λᵢ·√aᵢ)²,  a = (V∘V)·q

with uᵢ ∝ λᵢ/√aᵢ. The ratio of cell j, ((V∘V)ᵀu)ⱼ, is at most 1 at the optimum and 1 where qⱼ > 0:
the same loop as for the Gaussian optimum finds it. Columns shorter than the longest are then
completed by measuring those cells too, which costs no sensitivity (Li & Miklau, *An adaptive
mechanism for accurate query answering under differential privacy*, PVLDB 2012).
"""

import numpy as np
import scipy.linalg as linalg
import scipy.sparse as sparse

from leastnoise.memory import require
from leastnoise.strategy.ascent import Point, Search, ascend
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part

_POWER = 2.5  # of the update, as for the optimum
_LEAST = 1e-4  # of the longest column: what completes a full one, so that B can divide by it
_SMALLEST = 1e-12  # singular values, of the largest


def adaptive(problem: Problem, search: Search, *, noise: str) -> Draft:
    """Weighted eigen-queries, their columns completed in the norm that the noise goes by."""
    workload = problem.workload
    queries, classes = workload.matrix.shape
    needed = 8 * 5 * min(queries, classes) * classes
    require(needed, f"{queries} eigen-queries over {classes} classes", "ask fewer queries")
    _, values, vectors = linalg.svd(problem.reduced.matrix, full_matrices=False)
    is_real = values > _SMALLEST * values[0]
    eigen = Eigenqueries(values[is_real], vectors[is_real])
    summit = ascend(eigen.evaluate, (classes,), _POWER, search)
    measured = np.sqrt(summit.lowest.root)[:, None] * eigen.vectors
    completed = completion(measured, 1 if noise == "laplace" else 2)
    rows = sparse.vstack([sparse.diags_array(completed), sparse.csr_array(measured)])
    part = Part(workload.cells, sparse.csr_array(rows), None, workload.matrix, is_exact=True)
    return Draft("am", (part,), steps=summit.steps)


class Eigenqueries:
    """The dual objective; the root of a point is u."""

    def __init__(self, values: np.ndarray, vectors: np.ndarray) -> None:
        self.values, self.vectors = values, vectors
        self.squares = vectors**2

    def evaluate(self, q: np.ndarray) -> Point:
        """t = Σ λᵢ√aᵢ, u = λ/√a, and Σ λᵢ²/uᵢ·maxⱼ ((V∘V)ᵀu)ⱼ = t·maxⱼ ((V∘V)ᵀu)ⱼ."""
        a = np.sqrt(np.maximum(self.squares @ q, 1e-300))
        u, t = self.values / a, float(self.values @ a)
        g = u @ self.squares
        return Point(q, g / t, t, t * float(g.max()), u)


def completion(rows: np.ndarray, norm: int) -> np.ndarray:
    """For each column the entry that makes it as long as the longest."""
    sizes = (np.abs(rows) ** norm).sum(axis=0)
    missing = (sizes.max() - sizes) ** (1 / norm)
    return np.maximum(missing, _LEAST * sizes.max() ** (1 / norm))
