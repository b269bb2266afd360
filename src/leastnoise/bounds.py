"""Bounds that hold for a workload whatever the promise: the paper's, and the certified one."""

from typing import Any

from leastnoise.strategy.ascent import Search
from leastnoise.strategy.bounds import Bounds, workload_bounds
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.arrays import beside
from leastnoise.workload.workload import as_workload


def bounds(queries: Any, *, weights: Any = None) -> Bounds:
    """Appendix B of the paper for these queries, its κ and coherence, and the certified bound."""
    workload = as_workload(queries)
    problem = Problem(workload, goal("total", weights, len(workload)))
    return workload_bounds(problem, Search(place=beside(queries)))
