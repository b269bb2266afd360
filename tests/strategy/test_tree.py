"""Trees of sums: their nodes, their reconstruction against NumPy's, and the branching factor."""

import numpy as np
import pytest
import scipy.sparse as sparse
from workloads import error, ranges

import leastnoise as ln
from leastnoise.errors import InputError
from leastnoise.strategy.ascent import Search
from leastnoise.strategy.goal import goal
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.strategy import Draft
from leastnoise.strategy.tree import Tree, hierarchical, node_sums, reconstruction
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

SIZES = (1, 2, 3, 5, 7, 8, 13, 16, 100)
NOISES = {"laplace": 1, "gaussian": 2}

each_noise = pytest.mark.parametrize("noise", NOISES)


def draft(
    W: np.ndarray, noise: str = "laplace", objective: str = "total", **options: object
) -> Draft:
    asked = Problem(Workload(W), goal(objective, None, len(W)))
    return hierarchical(asked, Search(), noise=noise, **options)


def told_apart(n: int) -> np.ndarray:
    """Four queries that tell n cells apart."""
    return np.random.default_rng(n).standard_normal((4, n))


def by_hand(n: int, branching: int, root: bool) -> np.ndarray:
    """A row of ones for each node, level by level, each node a run of `branching` ones below."""
    level, rows = np.eye(n), []
    while True:
        is_top = len(level) == 1
        if root or not is_top or n == 1:
            rows.append(level)
        if is_top:
            return np.vstack(rows)
        starts = range(0, len(level), branching)
        level = np.vstack([level[start : start + branching].sum(axis=0) for start in starts])


def test_the_tree_of_three_leaves() -> None:
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert node_sums(Tree((3, 2, 1), 2), 3).toarray().tolist() == rows


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("branching", [2, 3, 10])
@pytest.mark.parametrize("root", [True, False])
def test_nodes_are_measured_and_rebuilt_by_least_squares(
    n: int, branching: int, root: bool
) -> None:
    """B = W·L⁺ as NumPy computes it, so that no linear unbiased reconstruction has less error."""
    W = told_apart(n)
    (part,) = draft(W, branching=branching, root=root).parts
    L = dense(part.coefficients)
    assert np.array_equal(L, by_hand(n, branching, root))
    assert part.known == pytest.approx(W @ np.linalg.pinv(L), abs=1e-10)


def test_the_reconstruction_of_a_total_by_hand() -> None:
    """Two leaves and their sum: the sum of the leaves (variance 2) counts half of the root."""
    B = reconstruction(Tree((2, 1), 2), np.array([[1.0, 1]]))
    assert B[0] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


@pytest.mark.parametrize("branching", [2, 3, 10])
def test_a_record_is_in_one_node_of_each_level(branching: int) -> None:
    found = draft(told_apart(100), branching=branching, root=True)
    levels = {2: 8, 3: 6, 10: 3}[branching]
    assert found.sensitivities == pytest.approx((levels, np.sqrt(levels)))


def test_the_binary_tree_on_ranges_costs_what_numpy_says() -> None:
    W = ranges(16, 64)
    plan = ln.plan(W, epsilon=1, mechanism="hierarchical", branching=2, root=True)
    L = by_hand(plan.workload.classes, 2, root=True)
    assert plan.expected_error == pytest.approx(2 * error(plan.workload.matrix, L, 1), rel=1e-9)
    assert plan.note == "branching 2, with its root"


WORKLOADS = {
    "prefixes": np.tri(24),
    "ranges": ranges(20, 24),
    "cells": np.eye(9),
    "total": np.vstack([np.ones(12), 0.01 * np.eye(12)]),
}


@pytest.mark.parametrize("objective", ["total", "worst"])
@pytest.mark.parametrize("name", WORKLOADS)
@each_noise
def test_the_default_is_the_best_of_the_trees_of_each_depth(
    noise: str, name: str, objective: str
) -> None:
    """For each depth the least branching that reaches it, priced by NumPy."""
    W, order = Workload(WORKLOADS[name]).matrix, NOISES[noise]
    classes = W.shape[1]

    def price(L: np.ndarray) -> float:
        variances = np.square(W @ np.linalg.pinv(L)).sum(axis=1)
        figure = variances.sum() if objective == "total" else variances.max()
        return figure * np.linalg.norm(L, ord=order, axis=0).max() ** 2

    depths = range(1, classes.bit_length() + 1)
    least = {next(b for b in range(2, classes + 1) if b**depth >= classes) for depth in depths}
    best = min(price(by_hand(classes, b, root)) for b in least for root in (True, False))
    found = draft(WORKLOADS[name], noise, objective)
    chosen = price(dense(found.parts[0].coefficients))
    assert chosen <= best * (1 + 1e-9)


def test_the_default_is_the_best_of_all_branchings() -> None:
    """Of two halves of four cells: 4 at a depth that 3 reaches too, and 12.8 against 16."""
    W = np.vstack([np.kron(np.eye(2), np.ones(4)), 1e-3 * np.eye(8)])
    default, other = (
        ln.plan(W, epsilon=1, mechanism="hierarchical", **options).expected_error
        for options in ({}, {"branching": 4})
    )
    assert default <= other * (1 + 1e-9)


@pytest.mark.parametrize("branching", [10**30, 2**63, np.int8(16)])
def test_any_whole_number_is_a_branching(branching: object) -> None:
    plan = ln.plan(np.tri(400), epsilon=1, mechanism="hierarchical", branching=branching)
    assert plan.note.startswith(f"branching {min(branching, 2**31)}, ")


@each_noise
def test_a_tree_is_chosen_for_the_noise_it_is_measured_with(noise: str) -> None:
    """Many levels cost Laplace noise their number squared, Gaussian noise their number."""
    levels = draft(np.vstack([np.tri(40), np.eye(40)]), noise).sensitivities[0]
    assert levels == {"laplace": 2, "gaussian": 3}[noise]


@pytest.mark.parametrize("branching", [None, 2, 12])
def test_a_root_is_measured_or_not_as_is_wished(branching: int | None) -> None:
    """Here it pays to measure it: the total is what is asked."""
    W = WORKLOADS["total"]
    notes = {
        root: draft(W, branching=branching, root=root).note.split(", ")[1]
        for root in (True, False, None)
    }
    assert notes == {True: "with its root", False: "without its root", None: "with its root"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"branching": 1}, "branching must be a whole number of at least 2, not 1"),
        ({"branching": -2}, "branching must be a whole number of at least 2, not -2"),
        ({"branching": 2.0}, "branching must be a whole number of at least 2, not 2.0"),
        ({"branching": True}, "branching must be a whole number of at least 2, not True"),
        ({"branching": "4"}, "branching must be a whole number of at least 2, not '4'"),
        ({"root": "yes"}, "root must be True or False, not 'yes'"),
        ({"root": 2}, "root must be True or False, not 2"),
        ({"root": 0}, "root must be True or False, not 0"),
        ({"root": 1}, "root must be True or False, not 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.plan(np.tri(4), epsilon=1, mechanism="hierarchical", **options)


def test_many_cells_of_a_sparse_workload_are_no_burden() -> None:
    """Nothing of size n × n is made: here that would be 30 GB."""
    W = sparse.random(20, 100_000, density=0.05, random_state=np.random.default_rng(0))
    plan = ln.plan(W, epsilon=1, mechanism="hierarchical")
    assert plan.workload.classes > 60_000
    assert sparse.issparse(plan.workload.matrix)
    assert (plan.std > 0).all()
    assert (plan.bias < 0.01 * plan.std).all()
