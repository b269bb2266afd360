"""Strategies of least Gaussian error, with a proof that none is better.

Total:  min { ‖B‖²_F Δ₂² : M = BL } = max over probabilities q of t²,  t = ‖M·diag(√q)‖_*

    K = M·diag(q)·Mᵀ    t = tr K^(1/2)    L = K^(-1/4)·M    B = K^(1/4)    gⱼ = ‖Lⱼ‖²

Any q gives the lower bound t² and a strategy of error t·maxⱼ gⱼ; Σ qⱼgⱼ = t, so they meet where
gⱼ = t wherever qⱼ > 0. The ratio of cell j is gⱼ/t.

Worst query:  min { maxᵢ‖Bᵢ‖² Δ₂² : W = BL } = max over p, q of t²,  t = ‖diag(√p)·W·diag(√q)‖_*

is the total for rows weighted by the worst p; hᵢ = ‖Bᵢ‖² plays the part of g for query i.

Duality: Li & Miklau, *Optimal error of query sets under the differentially-private matrix
mechanism* (ICDT 2013), for the total; γ₂ and its dual for the worst query (Lee, Shraibman & Špalek
2008; Edmonds, Nikolov & Ullman 2020). docs/strategies.md derives both.

Arrays may be NumPy's, torch's or any of the array API standard; probabilities stay in NumPy.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array

from leastnoise.strategy.ascent import Point
from leastnoise.workload.arrays import as_numpy, like

_FLOOR = 1e-13  # of the largest eigenvalue: below it K^(-1/4) would amplify rounding
_BLOCK = 2**19  # matrix entries handled at a time, to stay in cache and bound memory
_LARGE_BLOCK = 2**27  # the same elsewhere: a GPU wants few large products


class Total:
    """The total objective for M (s × c); the root of a point is K^(-1/4)."""

    power = 2.5  # p = 2 is exact for disjoint queries; above 3 the plain map can oscillate

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.groups = (matrix.shape[1],)

    def evaluate(self, q: np.ndarray) -> Point:
        """One eigendecomposition and two products with M, in blocks of its columns."""
        t, root = _trace_and_root(_gram(self.matrix, q))
        g = _column_squares(root, self.matrix)
        return Point(q, g / t, t, t * float(g.max()), as_numpy(root))


class Worst:
    """The largest variance, for √w·W = R·Z; the root of a point is T, L = T·Z and B = R·T⁻¹."""

    power = 1.25  # p and q push each other: 1 is exact for disjoint queries, 2 oscillates

    def __init__(self, combine: Any, basis: Any) -> None:
        self.combine = combine
        self.basis = basis
        self.groups = (combine.shape[0], basis.shape[1])

    def evaluate(self, probabilities: np.ndarray) -> Point:
        """The total at row weights p: √p·R = U·A, K = A·(Z·diag(q)·Zᵀ)·Aᵀ, T = K^(-1/4)·A."""
        xp = array_namespace(self.basis)
        p, q = np.split(probabilities, [self.groups[0]])
        triangle = self.triangle(p)
        t, root = _trace_and_root(triangle @ _gram(self.basis, q) @ triangle.T)
        measured = root @ triangle
        rebuilt = xp.linalg.solve(measured.T, self.combine.T)
        g = _column_squares(measured, self.basis)
        h = as_numpy(xp.sum(rebuilt * rebuilt, axis=0))
        ratios = np.concatenate([h, g]) / t
        return Point(probabilities, ratios, t, float(h.max() * g.max()), as_numpy(measured))

    def triangle(self, p: np.ndarray) -> Any:
        """A of √p·R = U·A."""
        xp = array_namespace(self.combine)
        return xp.linalg.qr(like(np.sqrt(p), self.combine)[:, None] * self.combine)[1]


def lower_bound(matrix: Any, q: np.ndarray) -> float:
    """(‖M·diag(√q)‖_*)² for Σq = 1, rounded down: no strategy has less error at unit noise.

    Singular values come from the triangle of a backward-stable QR, taken block by block, so each
    is off by rounding of the largest at most; 1e-12 per singular value covers that and more.
    """
    xp = array_namespace(matrix)
    roots = like(np.sqrt(q / q.sum()), matrix)
    triangle = None
    for block in _blocks(matrix, at_least=matrix.shape[0]):
        rows = (matrix[:, block] * roots[block]).T
        rows = rows if triangle is None else xp.concat([triangle, rows])
        triangle = xp.linalg.qr(rows)[1]
    nuclear = float(xp.sum(xp.linalg.svdvals(triangle)))
    return nuclear**2 * (1 - 1e-12 * min(matrix.shape))


def _gram(matrix: Any, q: np.ndarray) -> Any:
    """M·diag(q)·Mᵀ."""
    xp = array_namespace(matrix)
    roots = like(np.sqrt(q), matrix)
    size = matrix.shape[0]
    gram = xp.zeros((size, size), dtype=matrix.dtype, device=device(matrix))
    for block in _blocks(matrix):
        scaled = matrix[:, block] * roots[block]
        gram = gram + scaled @ scaled.T
    return gram


def _trace_and_root(kernel: Any) -> tuple[float, Any]:
    """tr K^(1/2) and K^(-1/4), with small eigenvalues lifted to the floor so that none is lost."""
    xp = array_namespace(kernel)
    values, vectors = xp.linalg.eigh(kernel)
    values = xp.clip(values, min=_FLOOR * float(values[-1]))
    root = (vectors * values**-0.25) @ vectors.T
    return float(xp.sum(xp.sqrt(values))), root


def _column_squares(root: Any, matrix: Any) -> np.ndarray:
    """‖root·mⱼ‖² for every column."""
    xp = array_namespace(matrix)
    squares = []
    for block in _blocks(matrix):
        measured = root @ matrix[:, block]
        squares.append(as_numpy(xp.sum(measured * measured, axis=0)))
    return np.concatenate(squares)


def _blocks(matrix: Any, at_least: int = 1) -> Iterator[slice]:
    """Ranges of columns, as many at a time as suit the device."""
    rows, columns = matrix.shape
    width = (_BLOCK if is_numpy_array(matrix) else _LARGE_BLOCK) // rows
    step = max(at_least, width)
    return (slice(start, min(start + step, columns)) for start in range(0, columns, step))
