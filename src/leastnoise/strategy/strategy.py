"""Strategies: as a solver drafts them in real numbers, and as they are measured in integers.

Both are tuples of blocks. A record touches one class of each block, so sensitivities add over
blocks; answers do too.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as linalg
import scipy.sparse as sparse

from leastnoise.memory import require
from leastnoise.strategy.goal import Goal
from leastnoise.workload.matrices import (
    Matrix,
    by_column,
    by_row,
    column_norms,
    dense,
    row_squares,
)
from leastnoise.workload.workload import Workload

_BLOCK = 2**20  # entries of L looked at together


@dataclass(frozen=True)
class Part:
    """One block of a draft: measure L = T·Z on the classes of `cells`, rebuild with B = R·T⁺.

    `basis` Z is None for the identity. Where `is_exact`, Z is integer-valued, so that any
    rounding of T still measures combinations of the rows of Z, and R·Z is the workload. `known`
    is R·T⁺ where a mechanism has it by structure; T must then hold whole numbers.
    """

    cells: np.ndarray
    coefficients: Matrix
    basis: Matrix | None
    combine: Matrix
    is_exact: bool
    known: Matrix | None = None

    @cached_property
    def rebuild(self) -> Matrix:
        """B = R·T⁺."""
        return rebuild(self.combine, self.coefficients) if self.known is None else self.known

    @property
    def measured(self) -> Matrix:
        """L = T·Z."""
        return self.coefficients if self.basis is None else self.coefficients @ self.basis

    @cached_property
    def sensitivities(self) -> tuple[float, float]:
        """The largest ℓ1 and ℓ2 norm of a column of L."""
        if self.basis is None:
            return column_norms(self.coefficients)
        width = max(1, _BLOCK // self.coefficients.shape[0])
        columns = by_column(self.basis)
        norms = [
            column_norms(self.coefficients @ columns[:, start : start + width])
            for start in range(0, self.basis.shape[1], width)
        ]
        return max(l1 for l1, _ in norms), max(l2 for _, l2 in norms)


@dataclass(frozen=True)
class Trial:
    """Where a search started, the least error at Δ₁ = 1 reached from there, and its seconds."""

    label: str
    error: float
    seconds: float


@dataclass(frozen=True)
class History:
    """How the low-rank mechanism got there: penalty β, ‖W − BL‖_F over the cells and tr BᵀB after
    each outer step, and how far the last one is from optimality over the classes
    (`multipliers.residuals`)."""

    penalties: np.ndarray
    misfits: np.ndarray
    traces: np.ndarray
    residuals: tuple[float, float, float]


@dataclass(frozen=True)
class Bound:
    """No strategy has less error than `lower` at unit noise.

    q over classes proves it, and p over queries where the worst query counts.
    """

    lower: float
    q: np.ndarray
    p: np.ndarray | None = None


@dataclass(frozen=True)
class Draft:
    """What a mechanism proposes to measure, before rounding, and the bound it proved if any.

    A relaxed one answers R·Z, which is only near the workload: its answers are biased.
    """

    mechanism: str
    parts: tuple[Part, ...]
    bound: Bound | None = None
    steps: int = 0
    note: str = ""
    is_relaxed: bool = False
    history: History | None = None
    trials: tuple[Trial, ...] = ()

    @property
    def row_squares(self) -> np.ndarray:
        """‖Bᵢ‖² of each query: its variance at measurement variance 1."""
        return np.asarray(sum(row_squares(part.rebuild) for part in self.parts))

    @property
    def sensitivities(self) -> tuple[float, float]:
        """Δ₁ = Σ Δ₁ᵍ and Δ₂ = √(Σ (Δ₂ᵍ)²) over the blocks g."""
        l1, l2 = zip(*(part.sensitivities for part in self.parts), strict=True)
        return sum(l1), float(np.sqrt(np.square(l2).sum()))

    def unit_error(self, goal: Goal, noise: str) -> float:
        """The goal's figure at unit variance: of ‖Bᵢ‖²·Δ², Δ in the norm the noise goes by."""
        l1, l2 = self.sensitivities
        return (l1 if noise == "laplace" else l2) ** 2 * goal.of(self.row_squares)


@dataclass(frozen=True)
class Block:
    """What is measured on the classes of `cells`: integer queries L; B maps them to answers."""

    cells: np.ndarray
    L: Matrix
    B: Matrix


@dataclass(frozen=True)
class Strategy:
    """The integer blocks that are measured, scaled by 2ᵏ, and their reconstructions."""

    blocks: tuple[Block, ...]
    k: int

    @cached_property
    def L(self) -> np.ndarray:
        """The measured queries over the original cells, at their real scale: r × n, dense."""
        rows = sum(block.L.shape[0] for block in self.blocks)
        cells = len(self.blocks[0].cells)
        require(8 * rows * cells, f"a dense {rows} x {cells} L", "use strategy.blocks")
        return np.vstack([_over_cells(block) / 2.0**self.k for block in self.blocks])

    @cached_property
    def B(self) -> np.ndarray:
        """Answers from real-scale measurements: m × r, dense."""
        queries = self.blocks[0].B.shape[0]
        rows = sum(block.B.shape[1] for block in self.blocks)
        require(8 * queries * rows, f"a dense {queries} x {rows} B", "use strategy.blocks")
        return np.hstack([dense(block.B) for block in self.blocks]) * 2.0**self.k

    @cached_property
    def row_squares(self) -> np.ndarray:
        """‖Bᵢ‖² of each query, in lattice units: its variance at measurement variance 1."""
        return np.asarray(sum(row_squares(block.B) for block in self.blocks))

    def answers(self, measurements: tuple[np.ndarray, ...]) -> np.ndarray:
        """B·y, summed over blocks."""
        products = [
            np.asarray(block.B @ y.astype(np.float64))
            for block, y in zip(self.blocks, measurements, strict=True)
        ]
        return np.asarray(sum(products))


def measured_by_class(workload: Workload) -> Part:
    """L = I over the classes, B = W: noise on data."""
    one = sparse.csr_array(sparse.eye_array(workload.classes))
    return Part(workload.cells, one, None, workload.matrix, is_exact=True)


def rebuild(combine: Matrix, coefficients: Matrix) -> Matrix:
    """B = R·T⁺, the least-squares reconstruction.

    A sparse T whose first rows are a diagonal D, with perhaps a few more rows below, is solved
    by its structure; any other by QR.
    """
    rows, columns = coefficients.shape
    if sparse.issparse(coefficients) and rows >= columns:
        top, below = coefficients[:columns], coefficients[columns:]
        diagonal = top.diagonal()
        if top.nnz == columns and diagonal.all():
            scaled = by_row(combine @ sparse.diags_array(1 / diagonal))
            if rows == columns:
                return scaled
            return _times_augmented(dense(scaled), dense(below) / diagonal)
    return _times_pseudoinverse(dense(combine), dense(coefficients))


def _times_augmented(matrix: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """N·[I; Θ]⁺ = [N − N·Q·diag(σ²/(1+σ²))·Qᵀ,  N·Q·diag(σ/(1+σ²))·Pᵀ] for Θ = P·diag(σ)·Qᵀ.

    Never n × n, and stable for any size of Θ: each factor is computed directly.
    """
    left, sizes, right = linalg.svd(theta, full_matrices=False, check_finite=False)
    spread = matrix @ right.T
    top = matrix - (spread * (sizes**2 / (1 + sizes**2))) @ right
    return np.hstack([top, (spread * (sizes / (1 + sizes**2))) @ left.T])


def _times_pseudoinverse(combine: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """R·T⁺ by QR of T; by SVD where rounding cost T its full rank, so that the query which is lost
    by that can be named."""
    upright, triangle = linalg.qr(coefficients, mode="economic", check_finite=False)
    try:
        spread = linalg.solve_triangular(triangle, combine.T, trans="T", check_finite=False)
    except linalg.LinAlgError:
        return np.asarray(linalg.lstsq(coefficients.T, combine.T, check_finite=False)[0].T)
    return np.asarray(spread.T @ upright.T)


def _over_cells(block: Block) -> np.ndarray:
    """The block's L with one column per original cell."""
    used = block.cells >= 0
    full = np.zeros((block.L.shape[0], len(used)))
    full[:, used] = dense(block.L)[:, block.cells[used]]
    return full
