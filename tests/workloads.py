"""Workloads that many tests share: the two worked examples, and the four families of the paper."""

from itertools import combinations

import numpy as np

STATES = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
"""All patients, NY + NJ, CA + WA; cells NY, NJ, CA, WA. NY and NJ are one class, CA and WA too."""

WEIGHTED_STATES = np.array([[0, 2, 1, 1], [0, 1, 0, 2], [1, 0, 2, 2]])
"""Yuan et al., TODS 2015, introduction; cells NY, NJ, CA, WA."""


def discrete(m: int, n: int, seed: int = 0) -> np.ndarray:
    """WDiscrete: 1 with probability 0.02, else -1."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((m, n)) < 0.02, 1, -1)


def range_ends(m: int, n: int, seed: int = 0) -> np.ndarray:
    """WRange as inclusive ends."""
    return np.sort(np.random.default_rng(seed).integers(0, n, (m, 2)), axis=1)


def ranges(m: int, n: int, seed: int = 0) -> np.ndarray:
    """WRange: query i is 1 on the cells between two random ones."""
    ends = range_ends(m, n, seed)
    cells = np.arange(n)
    return ((ends[:, :1] <= cells) & (cells <= ends[:, 1:])).astype(int)


def all_marginals(sizes: tuple[int, ...], ways: int = 2) -> np.ndarray:
    """Every cell of every `ways`-way marginal, over cells in C order."""
    values = np.indices(sizes).reshape(len(sizes), -1)
    rows = []
    for attributes in combinations(range(len(sizes)), ways):
        for point in np.ndindex(*(sizes[a] for a in attributes)):
            rows.append(np.all(values[list(attributes)] == np.array(point)[:, None], axis=0))
    return np.array(rows, dtype=int)


def marginals(m: int, n: int, seed: int = 0) -> np.ndarray:
    """WMarginal, n = 2^k: cells of 2-way marginals over attributes of size 4, a last one of 2."""
    bits = n.bit_length() - 1
    rows = all_marginals((4,) * (bits // 2) + (2,) * (bits % 2))
    rng = np.random.default_rng(seed)
    return rows[rng.choice(len(rows), m, replace=m > len(rows))]


def related(m: int, n: int, seed: int = 0) -> np.ndarray:
    """WRelated: real, of rank min(m, n)//2."""
    rng = np.random.default_rng(seed)
    s = min(m, n) // 2
    return rng.standard_normal((m, s)) @ rng.standard_normal((s, n))


FAMILIES = {"discrete": discrete, "ranges": ranges, "marginals": marginals, "related": related}


def nuclear(matrix: np.ndarray, q: np.ndarray) -> float:
    """‖matrix·diag(√q)‖_* by NumPy's SVD: its square is a lower bound at unit noise."""
    return float(np.linalg.svd(matrix * np.sqrt(q / q.sum()), compute_uv=False).sum())


def error(workload: np.ndarray, strategy: np.ndarray, order: int) -> float:
    """‖W·L⁺‖²_F·Δ² by NumPy alone: expected squared error at unit noise variance."""
    largest = np.linalg.norm(strategy, ord=order, axis=0).max()
    return float(np.square(workload @ np.linalg.pinv(strategy)).sum() * largest**2)
