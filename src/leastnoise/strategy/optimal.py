"""The Gaussian solvers as a mechanism: rows that are independent, strategy, certificate."""

import numpy as np

from leastnoise.memory import require
from leastnoise.strategy.ascent import Search, Summit, ascend
from leastnoise.strategy.gaussian import Total, Worst, lower_bound
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Bound, Draft, Part
from leastnoise.workload.matrices import dense
from leastnoise.workload.reduce import Reduction


def optimal(problem: Problem, search: Search) -> Draft:
    """The Gaussian optimum of the problem's goal and its certificate."""
    _require_memory(*problem.workload.matrix.shape)
    reduced = problem.reduced
    solve = _total if problem.goal.objective == "total" else _worst
    coefficients, bound, summit = solve(problem, reduced, search)
    part = Part(
        problem.workload.cells, coefficients, reduced.basis, reduced.combine, reduced.is_exact
    )
    return Draft("optimal", (part,), bound=bound, steps=summit.steps)


def _total(
    problem: Problem, reduced: Reduction, search: Search
) -> tuple[np.ndarray, Bound, Summit]:
    objective = Total(search.place(reduced.matrix))
    summit = ascend(objective.evaluate, objective.groups, objective.power, search)
    q = summit.highest.probabilities
    bound = Bound(lower_bound(objective.matrix, q), q)
    return summit.lowest.root @ reduced.rotated, bound, summit


def _worst(
    problem: Problem, reduced: Reduction, search: Search
) -> tuple[np.ndarray, Bound, Summit]:
    rank = reduced.combine.shape[1]
    basis = np.eye(rank) if reduced.basis is None else dense(reduced.basis)
    combine = problem.goal.row_factors[:, None] * dense(reduced.combine)
    objective = Worst(search.place(combine), search.place(basis))
    summit = ascend(objective.evaluate, objective.groups, objective.power, search)
    p, q = np.split(summit.highest.probabilities, [len(combine)])
    bound = Bound(lower_bound(objective.triangle(p) @ objective.basis, q), q, p)
    return summit.lowest.root, bound, summit


def _require_memory(queries: int, classes: int) -> None:
    """Some six matrices of the workload's rank and classes, eight square ones of its rank."""
    rank = min(queries, classes)
    needed = 8 * (6 * rank * classes + 8 * rank**2 + 2 * queries * rank)
    require(needed, f"optimising {queries} queries over {classes} classes", "ask fewer queries")
