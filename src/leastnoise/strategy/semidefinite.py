"""The matrix mechanism solved exactly, as a semidefinite program: the truth for tiny workloads.

    min tr(M·X⁻¹·Mᵀ)  s.t.  diag X ≤ 1,  X ⪰ 0        and A = X^½ is measured

(Li, Hay, Rastogi, Miklau & McGregor, *Optimizing linear counting queries under differential
privacy*, PODS 2010.) It shares no code with the solver of `optimal`, which must agree with it.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.linalg as linalg

from leastnoise.errors import PlanError, TooLargeError
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft, Part

MOST_CLASSES = 40
_LEAST = 1e-9  # eigenvalue of X, so that every direction can be rebuilt


def matrix_mechanism(problem: Problem, search: Search) -> Draft:
    """X^½ of the program's solution, for up to 40 classes."""
    workload = problem.workload
    if workload.classes > MOST_CLASSES:
        raise TooLargeError(
            f"mechanism 'matrix' is for at most {MOST_CLASSES} classes of cells, not "
            f"{workload.classes}; mechanism='optimal' finds the same optimum"
        )
    if find_spec("cvxpy") is None:
        raise PlanError("mechanism 'matrix' needs cvxpy; pip install cvxpy")
    values, vectors = linalg.eigh(_solution(problem.reduced.matrix))
    measured = (vectors * np.sqrt(np.maximum(values, _LEAST))) @ vectors.T
    part = Part(workload.cells, measured, None, workload.matrix, is_exact=True)
    return Draft("matrix", (part,))


def program_work(problem: Problem) -> float:
    """Operations of the program, by measurement: a second or two at 40 classes."""
    return 2e4 * min(problem.workload.classes, MOST_CLASSES) ** 4


def _solution(matrix: np.ndarray) -> np.ndarray:
    import cvxpy  # type: ignore[import-untyped, unused-ignore]

    cp: Any = cvxpy
    x = cp.Variable((matrix.shape[1], matrix.shape[1]), PSD=True)
    scaled = matrix * np.sqrt(matrix.shape[1]) / np.linalg.norm(matrix)  # an objective near n
    program = cp.Problem(cp.Minimize(cp.matrix_frac(scaled.T, x)), [cp.diag(x) <= 1])
    program.solve(solver=cp.CLARABEL)
    return np.asarray(x.value)
