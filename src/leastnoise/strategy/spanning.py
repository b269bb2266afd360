"""From a real L that spans the queries to one whose rounding spans them too.

A strategy with more rows than the queries have rank is not made of combinations of the queries
alone. Rounded to integers entry by entry it would no longer span them, and every answer would be
biased. So its rows are written as combinations of the independent rows Z of the workload and of
as many directions E more as it needs:

    L = T·[Z; E],   W = [R, 0]·[Z; E]

E may be rounded freely, for no query depends on it; and whatever integers T is rounded to, W is
spanned exactly where Z is integer.
"""

import numpy as np
import scipy.linalg as linalg

from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Part
from leastnoise.workload.matrices import dense

_BITS = 12  # kept of E; what T keeps of it is as much less than 2ᵏ
_SMALLEST = 1e-9  # of a direction more, of the largest row of L: below it is rounding


def closed(matrix: np.ndarray, B: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The nearest L′ with M = B·L′: L + B⁺(M − B·L), exact where B has the columns of M."""
    return L + linalg.lstsq(B, matrix - B @ L, check_finite=False)[0]


def spanning(problem: Problem, L: np.ndarray) -> Part:
    """L (r × c), which spans the rows of M = A·Z, as a part that rounding cannot bias."""
    reduced, cells = problem.reduced, problem.workload.cells
    if reduced.basis is None:
        return Part(cells, L, None, problem.workload.matrix, reduced.is_exact)
    matrix, basis = reduced.matrix, dense(reduced.basis)
    by_query = linalg.lstsq(matrix.T, L.T, check_finite=False)[0].T
    more = L - by_query @ matrix
    coefficients, directions = by_query @ reduced.rotated, np.zeros((0, L.shape[1]))
    _, sizes, right = linalg.svd(more, full_matrices=False, check_finite=False)
    count = int((sizes > _SMALLEST * np.linalg.norm(L, axis=1).max()).sum())
    if count:
        directions = np.rint(right[:count] * (2**_BITS / np.abs(right[:count]).max()))
        along = linalg.lstsq(directions.T, more.T, check_finite=False)[0].T
        coefficients = np.hstack([coefficients, along])
    combine = np.hstack([dense(reduced.combine), np.zeros((len(dense(reduced.combine)), count))])
    return Part(cells, coefficients, np.vstack([basis, directions]), combine, reduced.is_exact)
