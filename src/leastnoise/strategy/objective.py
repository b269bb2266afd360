"""The error of L = [I; Θ]·diag(1/d) under Laplace noise, and its gradient, never n × n.

Arrays may be NumPy's, torch's or any of the array API standard; (P, N) and gradients stay in NumPy.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from leastnoise.workload.arrays import as_numpy, like


class Loss(NamedTuple):
    """A norm of the variances, its gradient, and the largest variance."""

    value: float
    gradient: np.ndarray
    largest: float


class Objective:
    """A norm of the variances vᵢ = ‖row i of W·L⁺‖², as a function of (P, N), Θ = P − N."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    @cached_property
    def squares(self) -> Any:
        return self.matrix**2

    @cached_property
    def column_squares(self) -> Any:
        """Σᵢ Wᵢⱼ²."""
        return array_namespace(self.matrix).sum(self.matrix * self.matrix, axis=0)

    @cached_property
    def gram(self) -> Any | None:
        """WᵀW, where a product with it costs less than two with W."""
        rows, columns = self.matrix.shape
        return self.matrix.T @ self.matrix if 2 * rows >= columns else None

    def operations(self, p: int) -> float:
        """How many a value and gradient take, and a step of the descent, in those of a product."""
        rows, columns = self.matrix.shape
        return 2.0 * p * columns * (min(2 * rows, columns) + 3 * p + 200) + 2e5

    def total(self, signs: np.ndarray) -> tuple[float, np.ndarray]:
        """Σᵢ vᵢ and its gradient; of P alone, N = 0, where `signs` holds nothing else.

        With d = 1 + Σ(P + N), A = I + ΘΘᵀ, H = Θ·diag(d)·WᵀW and K = H·diag(d)·Θᵀ:

            Σᵢ vᵢ = Σⱼ dⱼ²·Σᵢ Wᵢⱼ² − tr A⁻¹K
            ∂/∂Θ = 2·A⁻¹KA⁻¹·Θ − 2·A⁻¹H·diag(d)
            ∂/∂dⱼ = 2·dⱼ·Σᵢ Wᵢⱼ² − 2·(Θᵀ·A⁻¹H)ⱼⱼ
        """
        matrix, xp = self.matrix, array_namespace(self.matrix)
        theta, sizes = signs[0] - signs[1:].sum(axis=0), signs.sum(axis=(0, 1))
        theta, d = like(theta, matrix), like(1 + sizes, matrix)
        scaled = theta * d
        both = theta @ theta.T + xp.eye(theta.shape[0], dtype=matrix.dtype, device=device(matrix))
        if self.gram is None:
            across = scaled @ matrix.T
            y = xp.linalg.solve(both, across)
            along, inner, removed = y @ matrix, y @ y.T, xp.sum(across * y)
        else:
            along = xp.linalg.solve(both, scaled @ self.gram)
            solved = along @ scaled.T
            inner, removed = xp.linalg.solve(both, solved.T), xp.sum(xp.linalg.diagonal(solved))
        value = float(xp.sum(self.column_squares * d**2) - removed)
        by_theta = 2 * (inner @ theta - along * d)
        by_scale = 2 * (d * self.column_squares - xp.sum(theta * along, axis=0))
        parts = [by_scale + by_theta, by_scale - by_theta][: len(signs)]
        return value, as_numpy(xp.stack(parts))

    def loss(self, signs: np.ndarray, exponent: int = 1) -> Loss:
        """(Σᵢ vᵢ^e)^(1/e) and its gradient, from two products of W with p rows or columns.

        With N = W·diag(d), Y = N·Θᵀ·(I + ΘΘᵀ)⁻¹ and uᵢ = (vᵢ/value)^(e−1):

            vᵢ = Σⱼ dⱼ²Wᵢⱼ² − (NΘᵀ·Yᵀ)ᵢᵢ
            ∂/∂Θ = −2·Yᵀ·diag(u)·(N − Y·Θ)
            ∂/∂dⱼ = 2·dⱼ·Σᵢ uᵢWᵢⱼ² − 2·(Θᵀ·Yᵀ·diag(u)·W)ⱼⱼ
        """
        matrix, xp = self.matrix, array_namespace(self.matrix)
        positive, negative = (like(part, matrix) for part in signs)
        theta, d = positive - negative, 1 + xp.sum(positive + negative, axis=0)
        across = (matrix @ (d * theta).T).T
        one = xp.eye(theta.shape[0], dtype=matrix.dtype, device=device(matrix))
        y = xp.linalg.solve(one + theta @ theta.T, across)
        values = xp.clip(self.squares @ d**2 - xp.sum(across * y, axis=0), min=0.0)
        largest = float(xp.max(values))
        value = largest * float(xp.sum((values / largest) ** exponent)) ** (1 / exponent)
        shares = (values / value) ** (exponent - 1)
        shared = y * shares
        along = shared @ matrix
        by_theta = 2 * ((shared @ y.T) @ theta - along * d)
        by_scale = 2 * (d * (shares @ self.squares) - xp.sum(theta * along, axis=0))
        gradient = xp.stack([by_scale + by_theta, by_scale - by_theta])
        return Loss(value, as_numpy(gradient), largest)
