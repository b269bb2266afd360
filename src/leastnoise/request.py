"""What is asked, checked, before anything is computed."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from time import monotonic
from typing import Any

import numpy as np

from leastnoise.errors import InputError
from leastnoise.pricing import noises
from leastnoise.release.privacy import Privacy, promise, whole
from leastnoise.strategy.ascent import Progress, Search, checked_seed
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.arrays import beside
from leastnoise.workload.workload import Workload, as_workload


@dataclass(frozen=True)
class Request:
    """What is asked, checked: the problem, the promise, and how to search."""

    problem: Problem
    privacy: Privacy
    noises: tuple[str, ...]
    search: Search
    max_total: int


def request(
    queries: Any,
    *,
    epsilon: Any = None,
    delta: Any = 0,
    rho: Any = None,
    noise: str = "auto",
    objective: str = "total",
    weights: Any = None,
    max_rows: int = 1,
    neighbors: str = "add_remove",
    calibration: str = "analytic",
    max_total: int = 2**32,
    deadline: float | None = None,
    callback: Callable[[Progress], object] | None = None,
    seed: int = 0,
) -> Request:
    """The arguments of `plan`, each checked, before anything is computed."""
    stop_at = np.inf if deadline is None else monotonic() + _seconds(deadline)
    privacy = promise(epsilon, delta, rho, max_rows, neighbors, calibration)
    kinds = noises(privacy, noise)
    workload = as_workload(queries)
    require_countable(workload, whole(max_total, "max_total"))
    problem = Problem(workload, goal(objective, weights, len(workload)))
    search = Search(
        stop_at=stop_at, callback=callback, place=beside(queries), seed=checked_seed(seed)
    )
    return Request(problem, privacy, kinds, search, max_total)


def _seconds(deadline: Any) -> float:
    if isinstance(deadline, bool) or not isinstance(deadline, Real) or not float(deadline) > 0:
        raise InputError(f"deadline must be a positive number of seconds, not {deadline!r}")
    return float(deadline)


def require_countable(workload: Workload, max_total: int) -> None:
    """Counts of n cells, each clipped to max_total, must add up without wrapping around."""
    cells = workload.shape[1]
    if cells * max_total >= 2**63:
        raise InputError(f"max_total must be below 2**63 / {cells} cells, not {max_total}")
