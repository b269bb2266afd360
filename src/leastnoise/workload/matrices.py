"""Matrices that are dense or sparse, and the few operations that must know which."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sparse

Matrix: TypeAlias = np.ndarray | sparse.csr_array[Any, tuple[int, int]]
"""Real numbers or integers in rows and columns."""


def is_sparse(matrix: Any) -> bool:
    """Whether scipy.sparse made it, in any of its forms."""
    return sparse.issparse(matrix)


def dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)


def by_row(matrix: Any) -> Matrix:
    """Any sparse result as csr, the one sparse form that is kept."""
    return sparse.csr_array(matrix) if is_sparse(matrix) else np.asarray(matrix)


def by_column(matrix: Matrix) -> Any:
    """A form whose columns are cheap to take."""
    return matrix.tocsc() if sparse.issparse(matrix) else matrix


def entries(matrix: Matrix) -> np.ndarray:
    """The stored entries: all of a dense matrix, the nonzero ones of a sparse one."""
    return np.asarray(matrix.data) if sparse.issparse(matrix) else matrix


def stack(top: Matrix, bottom: Matrix) -> Matrix:
    """Both row by row; sparse when either is."""
    if sparse.issparse(top) or sparse.issparse(bottom):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(top), sparse.csr_array(bottom)]))
    return np.vstack([top, bottom])


def side_by_side(parts: Sequence[Matrix]) -> Matrix:
    """All column by column; sparse when any is."""
    if len(parts) == 1:
        return parts[0]
    if any(is_sparse(part) for part in parts):
        return sparse.csr_array(sparse.hstack([sparse.csr_array(part) for part in parts]))
    return np.hstack([dense(part) for part in parts])


def scale_rows(factors: np.ndarray, matrix: Matrix) -> Matrix:
    """diag(factors)·matrix."""
    if sparse.issparse(matrix):
        return sparse.csr_array(sparse.diags_array(factors) @ matrix)
    return factors[:, None] * matrix


def row_sizes(matrix: Matrix) -> np.ndarray:
    """The largest |entry| of each row."""
    if sparse.issparse(matrix):
        return np.asarray(abs(matrix).max(axis=1).toarray()).ravel()
    return np.maximum(matrix.max(axis=1), -matrix.min(axis=1))


def row_squares(matrix: Matrix) -> np.ndarray:
    """‖row‖² of each row."""
    if sparse.issparse(matrix):
        return np.asarray((matrix * matrix).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", matrix, matrix)


def row_sums(matrix: Matrix) -> np.ndarray:
    """‖row‖₁ of each row."""
    sizes: Any = abs(matrix)
    return np.asarray(sizes.sum(axis=1)).ravel()


def column_norms(matrix: Matrix) -> tuple[float, float]:
    """The largest ℓ1 and the largest ℓ2 norm of a column."""
    columns: Any = by_row(matrix.T)
    return float(abs(columns).sum(axis=1).max()), float(np.sqrt(row_squares(columns).max()))
