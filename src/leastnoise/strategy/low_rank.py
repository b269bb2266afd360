"""The low-rank mechanism: W = B·L with r rows, by the paper's Algorithms 1 to 3 (`multipliers`).

The iteration ends with ‖W − BL‖_F ≤ γ. L is then closed to W = B·L exactly and the best B for it
refitted, so that answers are unbiased; a relaxed decomposition is measured as it was left
(Yuan, Zhang, Winslett, Xiao, Yang & Hao, *Optimizing batch linear queries under exact and
approximate differential privacy*, TODS 2015; docs/paper.md).
"""

from math import ceil
from typing import Any

import numpy as np
import scipy.linalg as linalg
import scipy.sparse as sparse

from leastnoise.errors import InputError
from leastnoise.memory import require
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.multipliers import STEPS, TURNS, Found, Multipliers, Settings
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.spanning import closed, spanning
from leastnoise.strategy.strategy import Draft, Part, measured_by_class
from leastnoise.workload.matrices import dense

_RANKS = {"laplace": 1.2, "gaussian": 1.0}  # rows of L, as a multiple of the rank
_LARGEST_GAMMA = 1e300
_SPANNED = 1e-8  # of a row of M: what may be left of it


def low_rank(
    problem: Problem,
    search: Search,
    *,
    noise: str,
    gamma: float = 0.01,
    rank: int | None = None,
    fallback: bool = True,
    relaxed: bool = False,
) -> Draft:
    """The decomposition found; noise on data instead if that is better and `fallback` allows it.

    `relaxed` measures B·L as the iteration leaves it, within γ of W and biased; so does a `rank`
    below that of the queries, for which no exact decomposition exists.
    """
    matrix = problem.reduced.matrix
    settings = _settings(matrix, noise, gamma, rank, relaxed, fallback)
    rows, classes = settings.rows, matrix.shape[1]
    require(8 * 8 * rows * classes, f"{rows} x {classes} low-rank strategies", "give a lower rank")
    copies = np.bincount(problem.workload.cells[problem.workload.cells >= 0])
    found = Multipliers(matrix, settings, search, np.sqrt(copies)).found()
    draft = _relaxed(problem, found) if settings.is_relaxed else _exact(problem, found, noise)
    return _better(problem, draft, noise) if fallback else draft


def low_rank_work(problem: Problem, rank: int | None = None) -> float:
    """Operations: some hundred outer steps, each of a few products with L and two with M."""
    rows = rank or _RANKS["laplace"] * len(problem.reduced.matrix)
    return low_rank_operations(rows, problem.workload.classes)


def low_rank_operations(rows: float, classes: int) -> float:
    """The same for so many rows of L."""
    gradients = 100 * TURNS * STEPS
    return gradients * (2 * rows**2 * classes + 30 * rows * classes)


def _settings(
    matrix: np.ndarray, noise: str, gamma: Any, rank: Any, relaxed: Any, fallback: Any
) -> Settings:
    is_number = isinstance(gamma, int | float | np.number) and not isinstance(gamma, bool)
    if not (is_number and 0 <= gamma < _LARGEST_GAMMA):
        raise InputError(f"gamma must be a number of at least 0 and finite, not {gamma!r}")
    if not isinstance(fallback, bool):
        raise InputError(f"fallback must be True or False, not {fallback!r}")
    if not isinstance(relaxed, bool):
        raise InputError(f"relaxed must be True or False, not {relaxed!r}")
    least = len(matrix)
    if rank is None:
        rank = ceil(_RANKS[noise] * least)
    is_whole = isinstance(rank, int | np.integer) and not isinstance(rank, bool)
    if not is_whole or rank < 1:
        raise InputError(f"rank must be a whole number of at least 1, not {rank!r}")
    if rank < least and gamma == 0:
        raise InputError(
            f"rank {rank} is below {least}, the rank of the queries, so W = BL is out of reach; "
            f"give a rank of at least {least}, or a gamma above 0"
        )
    return Settings(noise, float(gamma), int(rank), relaxed or rank < least)


def _exact(problem: Problem, found: Found, noise: str) -> Draft:
    """L closed to M = B·L; or the start, where time was up before the end was worth more."""
    ends = (closed(found.matrix, found.B, found.L), found.start)
    best = min(ends, key=lambda L: _error(found.matrix, L, noise))
    steps = len(found.history.misfits)
    return Draft("lrm", (spanning(problem, best),), steps=steps, history=found.history)


def _error(matrix: np.ndarray, L: np.ndarray, noise: str) -> float:
    """‖M·L⁺‖²_F·Δ²; infinite where L does not span the rows of M."""
    B = linalg.lstsq(L.T, matrix.T, check_finite=False)[0].T
    off = np.linalg.norm(matrix - B @ L, axis=1)
    if not (off <= _SPANNED * np.linalg.norm(matrix, axis=1)).all():
        return float("inf")
    largest = np.linalg.norm(L, ord=1 if noise == "laplace" else 2, axis=0).max()
    return float(np.square(B).sum() * largest**2)


def _relaxed(problem: Problem, found: Found) -> Draft:
    """B and L as they are: M ≈ B·L answers U·M = W only nearly."""
    one = sparse.csr_array(sparse.eye_array(len(found.L)))
    rebuilt = problem.reduced.unrotated(found.B)
    part = Part(problem.workload.cells, one, found.L, rebuilt, is_exact=False)
    off = dense(problem.workload.matrix) - rebuilt @ found.L
    misfit = float(np.linalg.norm(off * found.copies))
    note = f"relaxed: |W - BL| = {misfit:.3g}, answers are biased"
    steps = len(found.history.misfits)
    return Draft("lrm", (part,), None, steps, note, is_relaxed=True, history=found.history)


def _better(problem: Problem, draft: Draft, noise: str) -> Draft:
    """The draft, or noise on data with a note where its error under this noise is less."""
    on_data = measured_by_class(problem.workload)
    fallen = Draft(
        "lrm", (on_data,), steps=draft.steps, note="fell back to noise on data",
        history=draft.history,
    )  # fmt: skip
    is_good = draft.unit_error(problem.goal, noise) <= fallen.unit_error(problem.goal, noise)
    return draft if is_good else fallen
