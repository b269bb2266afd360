"""The workload families of the paper's experiments, with the settings it leaves open filled in."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np

import leastnoise as ln


def discrete(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """WDiscrete: each entry is 1 with probability 0.02, else -1."""
    return np.where(rng.random((m, n)) < 0.02, 1.0, -1.0)


def ranges(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """WRange: sums between two uniform ends."""
    ends = np.sort(rng.integers(0, n, (m, 2)), axis=1)
    cells = np.arange(n)
    return ((ends[:, :1] <= cells) & (cells <= ends[:, 1:])).astype(float)


def marginal(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """WMarginal: cells of the 2-way marginals over attributes of size 4 (a last one of size 2)."""
    bits = n.bit_length() - 1
    sizes = [4] * (bits // 2) + [2] * (bits % 2)
    values = np.indices(sizes).reshape(len(sizes), -1)
    cells = [
        (a, b, u, v)
        for a, b in combinations(range(len(sizes)), 2)
        for u, v in product(range(sizes[a]), range(sizes[b]))
    ]
    chosen = rng.choice(len(cells), m, replace=m > len(cells))
    picked = [cells[i] for i in chosen]
    return np.array([(values[a] == u) & (values[b] == v) for a, b, u, v in picked], dtype=float)


def related(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """WRelated: a product of two normal matrices, of rank min(m, n)/2."""
    rank = min(m, n) // 2
    left = rng.standard_normal((m, rank))
    return left @ rng.standard_normal((rank, n))


FAMILIES: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "WDiscrete": discrete,
    "WRange": ranges,
    "WMarginal": marginal,
    "WRelated": related,
}


def family(name: str, m: int, n: int, seed: int) -> np.ndarray:
    return FAMILIES[name](m, n, np.random.default_rng(seed))


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
