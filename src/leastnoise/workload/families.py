"""Workloads by name: every cell, running totals, ranges. Built over classes, never cell by cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.errors import InputError
from leastnoise.memory import require
from leastnoise.workload.workload import UNUSED, Workload


def identity(n: int) -> Workload:
    """Each of n cells on its own."""
    size = _checked_size(n)
    return Workload.over_classes(
        sparse.csr_array(sparse.eye_array(size)),
        np.arange(size),
        [f"cell {j}" for j in range(size)],
    )


def prefixes(n: int) -> Workload:
    """Running totals: query i is the sum of cells 0 … i."""
    size = _checked_size(n)
    require(8 * size * size, f"prefixes({size})", "ask for ranges over fewer ends")
    names = [f"cells 0-{j}" for j in range(size)]
    return Workload.over_classes(np.tri(size), np.arange(size), names)


def ranges(n: int, ends: Any, names: Sequence[str] | None = None) -> Workload:
    """Sums over cells a … b, both inclusive and 0-based, one per row (a, b) of `ends`.

    Only the ends cut the domain, so m ranges have at most 2m − 1 classes, whatever n is.
    """
    size = _checked_size(n)
    pairs = _checked_ends(size, ends)
    cuts = np.unique(np.concatenate([pairs[:, 0], pairs[:, 1] + 1]))
    starts = cuts[:-1]
    require(
        8 * len(pairs) * len(starts), f"{len(pairs)} ranges over {len(starts)} classes", "ask fewer"
    )
    matrix = (pairs[:, :1] <= starts) & (starts <= pairs[:, 1:])
    cells = np.searchsorted(cuts, np.arange(size), side="right") - 1
    cells[cells == len(starts)] = UNUSED  # beyond the last end; before the first it is -1 already
    return Workload.over_classes(
        matrix.astype(np.float64), cells, names or _distinct([f"cells {a}-{b}" for a, b in pairs])
    )


def _distinct(names: list[str]) -> list[str] | None:
    return names if len(set(names)) == len(names) else None


def _checked_size(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n must be a whole number of cells, at least 1, not {n!r}")
    return int(n)


def _checked_ends(size: int, ends: Any) -> np.ndarray:
    try:
        pairs = np.asarray(ends)
    except ValueError:
        raise InputError("ends must have a row (first, last) per range") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
        raise InputError(f"ends must have a row (first, last) per range, not shape {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise InputError(f"ends must be whole numbers, not {pairs.dtype}")
    is_bad = (pairs[:, 0] > pairs[:, 1]) | (pairs[:, 0] < 0) | (pairs[:, 1] >= size)
    if is_bad.any():
        i = int(np.flatnonzero(is_bad)[0])
        first, last = pairs[i]
        raise InputError(
            f"ends[{i}] is ({first}, {last}); ranges need 0 <= first <= last <= {size - 1}"
        )
    return pairs.astype(np.int64)
