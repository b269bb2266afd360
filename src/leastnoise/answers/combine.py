"""Answers to any queries from what was measured, however many measurements there are.

Each measurement y_g = L_g·x + z_g with noise of standard deviation s_g. Of all B with Σ B_g·L_g = W
the one of least variance Σ s_g²·‖B_g‖² is that of generalised least squares (Aitken 1935),

    [B₁s₁  B₂s₂  …] = W·[L₁/s₁; L₂/s₂; …]⁺

It exists for the queries that are sums of rows of the L_g: those are covered. What is left of the
others, W − B·L, is their part beyond everything measured.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg as linalg
import scipy.sparse as sparse

from leastnoise.answers.measured import Part
from leastnoise.errors import InputError, PlanError
from leastnoise.memory import require
from leastnoise.strategy.strategy import Block, Strategy, rebuild
from leastnoise.workload.fit import REBUILT
from leastnoise.workload.matrices import Matrix, dense, row_sizes, row_sums
from leastnoise.workload.rational import sharpened
from leastnoise.workload.workload import UNUSED, Workload

COVERED = 1e-4
"""What is left of a covered query is below this fraction of its largest entry, in any case."""

_SMALLEST = 1e-11  # of the largest singular value: rounding of doubles
_NAMED = 5  # queries in a refusal


class Estimate:
    """Generalised least squares for a workload, over the classes that all of it tells apart."""

    def __init__(self, workload: Workload, parts: Sequence[Part]) -> None:
        _require_one_domain(workload, parts)
        self.workload, self.parts = workload, tuple(parts)
        self.rows, blocks, self.cells = over_classes(workload, parts)
        scales = [np.sqrt(part.noise.variance) for part in parts for _ in part.strategy.blocks]
        measured = [one * (1 / scale) for one, scale in zip(blocks, scales, strict=True)]
        L = sparse.csr_array(sparse.vstack(measured))
        B, self.left = _least_squares(dense(self.rows), L, 1 / min(scales), _most(parts))
        widths = np.cumsum([one.shape[0] for one in blocks])[:-1]
        self._B = [one / scale for one, scale in zip(np.split(B, widths, 1), scales, strict=True)]

    @property
    def off(self) -> np.ndarray:
        """What is left of each query at most, in any cell."""
        return np.abs(self.left).max(axis=1)

    @property
    def is_covered(self) -> np.ndarray:
        """Which queries are sums of what was measured.

        Where L was rounded to a lattice, by ½ at most, a sum of the rows that were meant leaves up
        to ½‖Bᵢ‖₁, which is told as bias; twice that is allowed, because B is not quite the same.
        """
        rounding = np.sum([row_sums(one) for one in self._B], axis=0)
        sizes = row_sizes(self.workload.matrix)
        return self.off <= REBUILT * sizes + np.minimum(COVERED * sizes, rounding)

    @property
    def rest(self) -> Workload:
        """What is left of the queries that are not covered: all that is new about them."""
        names = [self.workload.names[i] for i in np.flatnonzero(~self.is_covered)]
        left = sharpened(self.left[~self.is_covered])
        return Workload.over_classes(left, self.cells, names)

    @property
    def bias(self) -> np.ndarray:
        """How far each answer may be shifted, were it covered."""
        return _most(self.parts) * self.off

    def rebuilt(self) -> tuple[Part, ...]:
        """The parts with the B of these queries."""
        factors = iter(self._B)
        return tuple(
            replace(
                part,
                strategy=Strategy(
                    tuple(Block(one.cells, one.L, next(factors)) for one in part.strategy.blocks),
                    part.strategy.k,
                ),
            )
            for part in self.parts
        )


def answered_by(workload: Workload, parts: Sequence[Part]) -> tuple[tuple[Part, ...], np.ndarray]:
    """The parts with B for these queries, and the bias; refused where any is not covered."""
    estimate = Estimate(workload, parts)
    missing = [
        repr(name)
        for name, is_covered in zip(workload.names, estimate.is_covered, strict=True)
        if not is_covered
    ]
    if missing:
        more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
        raise PlanError(
            f"{len(missing):,} of {len(workload):,} queries are not covered by what was measured: "
            f"{', '.join(missing[:_NAMED])}{more}; leave them out, or plan them with "
            f"ln.plan(queries, given=release)"
        )
    return estimate.rebuilt(), estimate.bias


def _require_one_domain(workload: Workload, parts: Sequence[Part]) -> None:
    cells = len(parts[0].strategy.blocks[0].cells)
    if workload.shape[1] != cells:
        raise InputError(
            f"the queries must be over the {cells} cells of the release, not {workload.shape[1]}"
        )


def bias_of(workload: Workload, parts: Sequence[Part]) -> np.ndarray:
    """How far each answer may be shifted by the B that parts have: n_max·maxⱼ |W − Σ B_g·L_g|."""
    left, blocks, _ = over_classes(workload, parts)
    factors = [block.B for part in parts for block in part.strategy.blocks]
    off = dense(left)
    for B, L in zip(factors, blocks, strict=True):
        off = off - dense(B @ L)
    return _most(parts) * np.abs(off).max(axis=1)


def over_classes(
    workload: Workload, parts: Sequence[Part]
) -> tuple[sparse.csr_array, list[sparse.csr_array], np.ndarray]:
    """W and every L over classes of cells that none of them tells apart, and each cell's class."""
    blocks = [block for part in parts for block in part.strategy.blocks]
    where, cells = _classes([block.cells for block in blocks] + [workload.cells])
    measured = [_columns(one.L, place) for one, place in zip(blocks, where[:-1], strict=True)]
    return _columns(workload.matrix, where[-1]), measured, cells


def _classes(maps: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Cells that all maps agree on, as one class: its place in each map, and the class of each
    cell. The first map decides the order."""
    used = np.any([one != UNUSED for one in maps], axis=0)
    where, classes = np.unique(np.stack(maps)[:, used], axis=1, return_inverse=True)
    cells = np.full(len(used), UNUSED)
    cells[used] = classes.reshape(-1)
    return where, cells


def _columns(matrix: Matrix, where: np.ndarray) -> sparse.csr_array:
    """A column for each class; zero where the matrix has none."""
    used = np.flatnonzero(where != UNUSED)
    pick = sparse.csr_array(
        (np.ones(len(used)), (where[used], used)), shape=(matrix.shape[1], len(where))
    )
    return sparse.csr_array(sparse.csr_array(matrix) @ pick)


def _most(parts: Sequence[Part]) -> int:
    return max(part.max_total for part in parts)


def _least_squares(
    W: np.ndarray, L: sparse.csr_array, lattice: float, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """B = W·L⁺ and what is left, W − B·L.

    Rounding L to a lattice adds directions as long as ½(√r + √n) of its units. They are left out
    first, because noise along them is worth nothing; a query that needs them, as where the lattice
    is coarse and L exact, gets them if that serves it better.
    """
    rows, columns = L.shape
    require(
        8 * 4 * (rows * columns + len(W) * (rows + columns)),
        f"an estimate from {rows} measurements of {columns} classes",
        "ask for fewer queries, or fewer kinds of cells",
    )
    diagonal = L[:columns].diagonal()
    if rows >= columns and L[:columns].nnz == columns and diagonal.all():
        B = dense(rebuild(sparse.csr_array(W), L))
        return B, W - np.asarray(B @ L)
    left, sizes, right = linalg.svd(L.toarray(), full_matrices=False, check_finite=False)
    smallest = _SMALLEST * sizes[0]
    rounding = (np.sqrt(rows) + np.sqrt(columns)) / 2 * lattice
    best, off = _with(W, L, left, sizes, right, max(smallest, rounding))
    entries = np.abs(W).max(axis=1)
    if (np.abs(off).max(axis=1) > REBUILT * entries).any():
        all_of, off_all = _with(W, L, left, sizes, right, smallest)
        is_better = _mean_square(all_of, off_all, most) < _mean_square(best, off, most)
        best[is_better], off[is_better] = all_of[is_better], off_all[is_better]
    return best, off


def _with(
    W: np.ndarray,
    L: sparse.csr_array,
    left: np.ndarray,
    sizes: np.ndarray,
    right: np.ndarray,
    above: float,
) -> tuple[np.ndarray, np.ndarray]:
    """B and what is left with the directions longer than `above`."""
    kept = sizes > above
    B = ((W @ right[kept].T) / sizes[kept]) @ left[:, kept].T
    return B, W - np.asarray(B @ L)


def _mean_square(B: np.ndarray, off: np.ndarray, most: int) -> np.ndarray:
    """Variance and squared bias of each answer."""
    return np.asarray(np.square(B).sum(axis=1) + np.square(most * np.abs(off).max(axis=1)))
