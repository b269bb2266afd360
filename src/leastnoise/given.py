"""A plan for what an earlier release does not answer, whose answers are made of both.

Two ways of asking for the rest are planned, and the one with less error is kept: the queries
that are not covered as they are, and what is left of them beyond everything measured. Given a + b,
the queries a and b are (a − b)/2 away from what is known; measuring that alone, at the same noise,
leaves each a variance of 1/2 where measuring both leaves 2/3.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from leastnoise.answers.combine import Estimate
from leastnoise.answers.measured import Part
from leastnoise.answers.release import Release
from leastnoise.errors import InputError, PlanError
from leastnoise.plan import Plan
from leastnoise.request import Request
from leastnoise.strategy.goal import Goal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.workload import Workload


def planned_given(asked: Request, given: Release, planned: Callable[[Problem], Plan]) -> Plan:
    """The plan of least expected error that measures only the rest of the queries."""
    if not isinstance(given, Release):
        raise InputError("given must be a release, such as ln.load gives")
    workload, goal = asked.problem.workload, asked.problem.goal
    parts = given.kept()
    known = Estimate(workload, parts)
    if known.is_covered.all():
        raise PlanError(
            "the release answers all these queries already; release.answer(queries) costs nothing"
        )
    index = np.flatnonzero(~known.is_covered)
    weights = goal.weights[index]
    aim = Goal(goal.objective, weights if weights.any() else np.ones(len(index)))
    names = [workload.names[i] for i in index]
    as_they_are = Workload.over_classes(workload.matrix[index], workload.cells, names)
    plans = [planned(Problem(rest, aim)) for rest in (as_they_are, known.rest)]
    combined = [_combined(plan, asked.problem, parts) for plan in plans]
    return min(combined, key=lambda plan: plan.expected_error)


def _combined(plan: Plan, problem: Problem, parts: tuple[Part, ...]) -> Plan:
    """The plan's measurements and those made before, as one estimate of all queries."""
    new = Part(plan.strategy, plan.measurable.noise, plan.privacy, plan.max_total, (), None)
    estimate = Estimate(problem.workload, (new, *parts))
    if not estimate.is_covered.all():
        raise PlanError(f"mechanism {plan.mechanism!r} does not measure all that is left to answer")
    new, *before = estimate.rebuilt()
    return replace(
        plan,
        workload=problem.workload,
        goal=problem.goal,
        measurable=replace(plan.measurable, strategy=new.strategy, bias=estimate.bias),
        certificate=None,
        given=tuple(before),
    )
