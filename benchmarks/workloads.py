"""Workloads beside the paper's families, which the experiments have."""

from itertools import combinations, product

import numpy as np

import leastnoise as ln
from leastnoise.experiments.workloads import FAMILIES, family

__all__ = [
    "FAMILIES", "all_ranges", "family", "identity_and_total", "marginals", "tree", "windows",
]  # fmt: skip


def marginals(sizes: tuple[int, ...], ways: int) -> np.ndarray:
    """All cells of all marginals over `ways` attributes."""
    values = np.indices(sizes).reshape(len(sizes), -1)
    return np.array(
        [
            np.all([values[a] == v for a, v in zip(chosen, at, strict=True)], axis=0)
            for chosen in combinations(range(len(sizes)), ways)
            for at in product(*(range(sizes[a]) for a in chosen))
        ],
        dtype=float,
    )


def tree(leaves: int) -> np.ndarray:
    """Sums over every node of a binary tree, root first."""
    rows = []
    width = leaves
    while width >= 1:
        rows.append(np.kron(np.eye(leaves // width), np.ones(width)))
        width //= 2
    return np.vstack(rows)


def identity_and_total(n: int) -> np.ndarray:
    return np.vstack([np.eye(n), np.ones(n)])


def windows(n: int, width: int) -> np.ndarray:
    """Sums over every run of `width` neighbouring cells."""
    starts, cells = np.arange(n - width + 1)[:, None], np.arange(n)
    return ((starts <= cells) & (cells < starts + width)).astype(float)


def all_ranges(n: int) -> np.ndarray | ln.Workload:
    """All n(n+1)/2 ranges; beyond 256 cells the n × n root of their Gram matrix, which has the
    same errors: (WᵀW)ᵢⱼ = (min(i, j) + 1)·(n − max(i, j))."""
    if n <= 256:
        return ln.ranges(n, [(a, b) for a in range(n) for b in range(a, n)])
    index = np.arange(n)
    gram = (np.minimum.outer(index, index) + 1.0) * (n - np.maximum.outer(index, index))
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.sqrt(values)).T
