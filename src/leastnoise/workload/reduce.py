"""The reductions, once: W over classes → independent rows Z, and how they rebuild W.

    W = R·Z            Z has s = rank(W) rows; Z = I when the rank is the number of classes
    f·R = U·A          for row factors f = √w; U orthonormal, so ‖f·B‖_F is that of Uᵀ(f·B)
    M = A·Z            the s × c matrix a solver sees; a strategy L = X·M is measured as (X·A)·Z

When W is integer up to a factor per row, Z is integer, and every strategy (integer)·Z spans the
rows of W exactly: nothing is lost when the strategy is rounded.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg as linalg

from leastnoise.workload.matrices import (
    Matrix,
    dense,
    row_sizes,
    row_squares,
    scale_rows,
    stack,
)
from leastnoise.workload.rational import integer_rows, is_integer
from leastnoise.workload.workload import Workload

_INDEPENDENT = 1e-10  # of the largest pivot, on rows of unit length


@dataclass(frozen=True)
class Reduction:
    """W = R·Z with M = A·Z; `basis` is Z (None for the identity), integer-valued if `is_exact`."""

    basis: Matrix | None
    combine: Matrix
    rotated: np.ndarray
    is_exact: bool

    @property
    def matrix(self) -> np.ndarray:
        """M, dense."""
        if self.basis is None:
            return self.rotated
        is_identity = np.array_equal(self.rotated, np.eye(len(self.rotated)))
        return dense(self.basis) if is_identity else np.asarray(self.rotated @ self.basis)

    def unrotated(self, B: np.ndarray) -> np.ndarray:
        """R·A⁻¹·B: what rebuilds W where B rebuilds M."""
        return np.asarray(dense(self.combine) @ linalg.solve_triangular(self.rotated, B))


def reduce(workload: Workload, factors: np.ndarray) -> Reduction:
    """Independent rows, the R that rebuilds W from them, and the rotation of factors·R."""
    whole = integer_rows(workload.matrix)
    rows = whole[0] if whole else workload.matrix
    index = _independent_rows(workload.matrix)
    if len(index) == workload.classes:
        basis, combine, is_exact = None, workload.matrix, True
    else:
        basis = rows if len(index) == len(factors) else rows[index]
        is_exact = is_integer(basis)
        is_all = len(index) == len(factors)
        divisors = whole[1] if whole else np.ones(len(factors))
        combine = np.diag(1 / divisors) if is_all else _combine(workload.matrix, basis)
    return Reduction(basis, combine, _triangle(factors[:, None] * dense(combine)), is_exact)


def _independent_rows(matrix: Matrix) -> np.ndarray:
    """Indices of s independent rows, in order; rank is decided on rows of unit length.

    A well-conditioned Gram matrix settles full rank at the price of one product. Otherwise a
    pivoted QR of a random sketch of the columns finds the rows: the sketch keeps their
    dependences and is never wider than 2m.
    """
    rows, columns = matrix.shape
    lengths = np.sqrt(row_squares(matrix))
    inverse = 1 / np.where(lengths > 0, lengths, 1)
    if rows <= columns and _is_regular(dense(matrix @ matrix.T) * np.outer(inverse, inverse)):
        return np.arange(rows)
    if columns <= rows and _is_regular(_gram_of_columns(scale_rows(inverse, matrix))):
        return np.arange(columns)  # the identity takes their place
    sketch = dense(scale_rows(inverse, _sketch(matrix)))
    pivots, order = linalg.qr(sketch.T, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(pivots))
    return np.sort(order[: int((sizes > _INDEPENDENT * sizes[0]).sum())])


def _gram_of_columns(matrix: Matrix) -> np.ndarray:
    return dense(matrix.T @ matrix)


def _is_regular(gram: np.ndarray) -> bool:
    """Whether λ_min of a Gram matrix is safely above rounding, by one Cholesky factorisation."""
    gram[np.diag_indices_from(gram)] -= _INDEPENDENT * np.trace(gram)
    try:
        linalg.cholesky(gram, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def _sketch(rows: Matrix) -> np.ndarray:
    """rows·Ω for a Gaussian Ω with 2m columns (fixed, public seed); `rows` itself if narrower."""
    count, columns = rows.shape
    if columns <= 2 * count:
        return dense(rows)
    return np.asarray(rows @ np.random.default_rng(0).standard_normal((columns, 2 * count)))


def _combine(matrix: Matrix, basis: Matrix) -> np.ndarray:
    """R of W = R·Z: least squares on a sketch of the columns, rows of Z at comparable size."""
    sizes = row_sizes(basis)
    sketched = _sketch(stack(matrix, basis))
    targets, sources = np.split(sketched, [matrix.shape[0]])
    rebuilt, *_ = linalg.lstsq((sources / sizes[:, None]).T, targets.T, check_finite=False)
    return np.asarray(rebuilt.T / sizes)


def _triangle(matrix: np.ndarray) -> np.ndarray:
    """A of matrix = U·A, with a diagonal that is not negative."""
    if matrix.shape[0] == matrix.shape[1] and not (matrix - np.diag(np.diag(matrix))).any():
        return np.abs(matrix)
    triangle = linalg.qr(matrix, mode="r", check_finite=False)[0][: matrix.shape[1]]
    return triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]
