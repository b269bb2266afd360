"""The matrix mechanism as a semidefinite program: another way to the same optimum."""

import numpy as np
import pytest
from workloads import STATES, WEIGHTED_STATES, ranges, related

import leastnoise as ln
from leastnoise.errors import InputError, PlanError, TooLargeError
from leastnoise.strategy import semidefinite

TINY = {
    "states": (STATES, None),
    "weighted states": (WEIGHTED_STATES, None),
    "weights": (WEIGHTED_STATES, [4, 1, 0.25]),
    "prefixes": (np.tri(12), None),
    "ranges": (ranges(8, 16), None),
    "real": (related(6, 10), None),
    "uneven": (np.diag([1, 1000, 0.001]) + np.tri(3), None),
}


@pytest.mark.parametrize("name", TINY)
def test_both_ways_lead_to_one_optimum(name: str) -> None:
    W, weights = TINY[name]
    program, loop = (
        ln.plan(W, rho=1, mechanism=mechanism, weights=weights)
        for mechanism in ("matrix", "optimal")
    )
    assert program.expected_error == pytest.approx(loop.expected_error, rel=1e-4)
    assert program.expected_error >= loop.certificate.lower_bound * (1 - 1e-9)


def test_more_classes_than_it_is_for_are_refused_with_what_to_use() -> None:
    says = "at most 40 classes of cells, not 41; mechanism='optimal' finds the same optimum"
    with pytest.raises(TooLargeError, match=says):
        ln.plan(np.tri(41), rho=1, mechanism="matrix")


def test_cells_that_are_told_apart_count_and_not_cells() -> None:
    plan = ln.plan(np.repeat(WEIGHTED_STATES, 20, axis=1), rho=0.5, mechanism="matrix")
    assert plan.workload.shape == (3, 80)
    assert plan.expected_error == pytest.approx(15.6427, rel=1e-4)


def test_pure_epsilon_is_refused_with_what_to_give() -> None:
    says = "mechanism 'matrix' is for gaussian noise, .*; give delta above 0, or rho"
    with pytest.raises(InputError, match=says):
        ln.plan(STATES, epsilon=1, mechanism="matrix")
    assert ln.plan(STATES, epsilon=1, delta=1e-6, mechanism="matrix").noise == "gaussian"


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semidefinite, "find_spec", lambda name: None)
    with pytest.raises(PlanError, match="needs cvxpy; pip install cvxpy"):
        ln.plan(STATES, rho=1, mechanism="matrix")
