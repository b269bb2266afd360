"""The workloads of the paper's experiments, with the settings it leaves open filled in."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np


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


def related(m: int, n: int, rng: np.random.Generator, share: float = 0.5) -> np.ndarray:
    """WRelated: a product of two normal matrices, of rank share·min(m, n)."""
    rank = max(1, int(share * min(m, n) + 1e-9))
    left = rng.standard_normal((m, rank))
    return left @ rng.standard_normal((rank, n))


FAMILIES: dict[str, Callable[..., np.ndarray]] = {
    "WDiscrete": discrete,
    "WRange": ranges,
    "WMarginal": marginal,
    "WRelated": related,
}


def family(name: str, m: int, n: int, seed: int, share: float | None = None) -> np.ndarray:
    """m queries over n cells; `share` is for WRelated alone."""
    more = () if share is None else (share,)
    return FAMILIES[name](m, n, np.random.default_rng(seed), *more)
