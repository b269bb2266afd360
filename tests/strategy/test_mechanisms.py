"""What every mechanism must do, for each row of the table: a new one is tested by being there."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from workloads import FAMILIES, STATES, WEIGHTED_STATES, error, ranges

import leastnoise as ln
from leastnoise.errors import InputError, PlanError
from leastnoise.strategy.choose import MECHANISMS

each = pytest.mark.parametrize("mechanism", MECHANISMS)

PROMISES = {
    "pure": ({"epsilon": 1}, "laplace", 2.0),
    "zcdp": ({"rho": "1/2"}, "gaussian", 1.0),
}
"""Keyword arguments, the noise that follows, the variance of one measurement at Δ = 1."""

each_suitable = pytest.mark.parametrize(
    ("mechanism", "promise"),
    [
        (name, promise)
        for name, mechanism in MECHANISMS.items()
        for promise, (_, kind, _) in PROMISES.items()
        if kind in mechanism.noises
    ],
)


def a_promise(mechanism: str) -> dict[str, object]:
    """One that some noise of the mechanism keeps."""
    return next(
        given for given, kind, _ in PROMISES.values() if kind in MECHANISMS[mechanism].noises
    )


WORKLOADS = {
    "states": STATES,
    "weighted states": WEIGHTED_STATES,
    "one": np.array([[3]]),
    "zero row": np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]]),
    "dependent rows": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2], [1, 1, 2]]),
    "thirds and tenths": np.array([[1 / 3, 1 / 3, 2 / 3, 0], [0.1, 0, 0.2, 0.7]]),
    "tall": ranges(20, 6),
    "discrete": FAMILIES["discrete"](10, 24),
    "ranges": ranges(10, 24),
    "marginals": FAMILIES["marginals"](12, 32),
}
"""Each rational, so that integers answer it without bias."""

INTEGERS = hnp.arrays(
    np.int64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.integers(-3, 3),
).filter(np.any)


def off(plan: ln.Plan, W: np.ndarray) -> float:
    """max|W − BL| over the original cells."""
    return float(np.abs(W - plan.strategy.B @ plan.strategy.L).max())


def plan_or_refusal(W: np.ndarray, **arguments: object) -> ln.Plan | str:
    try:
        return ln.plan(W, **arguments)
    except PlanError as refusal:
        return str(refusal)


@each
@given(W=INTEGERS)
@settings(max_examples=20, deadline=None)
def test_integer_queries_are_rebuilt(mechanism: str, W: np.ndarray) -> None:
    plan = ln.plan(W, mechanism=mechanism, **a_promise(mechanism))
    assert off(plan, W) <= 1e-9 * np.abs(W).max()


@pytest.mark.parametrize("name", WORKLOADS)
@each_suitable
def test_rational_queries_are_rebuilt_and_priced_as_numpy_does(
    mechanism: str, name: str, promise: str
) -> None:
    """Unmerged: L and B are over the original cells. B is checked beside ‖W·L⁺‖²_F, because least
    squares is the best reconstruction for each query."""
    W, (arguments, kind, variance) = WORKLOADS[name], PROMISES[promise]
    plan = ln.plan(W, mechanism=mechanism, **arguments)
    L, B = plan.strategy.L, plan.strategy.B
    order = 1 if kind == "laplace" else 2
    delta = np.linalg.norm(L, ord=order, axis=0).max()
    assert plan.noise == kind
    assert plan.mechanism == mechanism
    assert off(plan, W) <= 1e-9 * np.abs(W).max()
    assert plan.std**2 == pytest.approx(variance * delta**2 * np.square(B).sum(axis=1), rel=1e-9)
    least = variance * error(W, L, order)
    assert plan.expected_error >= least * (1 - 1e-6)
    # B = I; and that of all cells, for a cell of each class
    if mechanism not in ("nor", "marginals", "kronecker"):
        assert plan.expected_error == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("objective", ["total", "worst"])
@each_suitable
def test_nobody_beats_the_bound(mechanism: str, promise: str, name: str, objective: str) -> None:
    arguments = {**PROMISES[promise][0], "objective": objective}
    if promise == "pure":
        arguments["delta"] = 1e-6
    plan = ln.plan(WORKLOADS[name], mechanism=mechanism, **arguments)
    assert 0 < lower_bound(name, tuple(arguments.items())) <= plan.expected_error * (1 + 1e-12)


@cache
def lower_bound(name: str, arguments: tuple[tuple[str, object], ...]) -> float:
    return ln.plan(WORKLOADS[name], mechanism="optimal", **dict(arguments)).certificate.lower_bound


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("objective", ["total", "worst"])
@each_suitable
def test_weights_weigh_squared_errors(
    mechanism: str, promise: str, objective: str, seed: int
) -> None:
    weights = np.random.default_rng(seed).uniform(0, 5, 12)
    weights[seed] = 0
    W, (arguments, kind, variance) = ranges(12, 20), PROMISES[promise]
    plan = ln.plan(W, mechanism=mechanism, weights=weights, objective=objective, **arguments)
    assert off(plan, W) <= 1e-9
    B, L = plan.strategy.B, plan.strategy.L
    delta = np.linalg.norm(L, ord=1 if kind == "laplace" else 2, axis=0).max()
    by_hand = [w * variance * delta**2 * (b @ b) for w, b in zip(weights, B, strict=True)]
    figure = sum(by_hand) if objective == "total" else max(by_hand)
    assert plan.expected_error == pytest.approx(figure, rel=1e-9)


@each
@pytest.mark.parametrize("shrink", [1e-3, 1e-8, 1e-10, 1e-12])
def test_a_tiny_row_is_answered_or_refused_but_never_0(mechanism: str, shrink: float) -> None:
    W = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]]) * np.array([[1], [shrink], [1.0]])
    outcome = plan_or_refusal(W, mechanism=mechanism, **a_promise(mechanism))
    if isinstance(outcome, str):
        assert "'q2'" in outcome
        return
    rebuilt = (outcome.strategy.B @ outcome.strategy.L)[1]
    told = outcome.measurable.bias[1] / (shrink * 2**32)  # of what the largest answer can be
    assert rebuilt / shrink == pytest.approx([1, 0, 0, 0], abs=1e-9 + told)
    assert told < 0.5


@each
def test_copies_of_cells_and_unasked_cells_change_no_error(mechanism: str) -> None:
    plain = ln.plan(WEIGHTED_STATES, mechanism=mechanism, **a_promise(mechanism))
    copied = np.hstack([WEIGHTED_STATES[:, [0, 0, 1, 2, 1, 3, 3]], np.zeros((3, 2))])
    plan = ln.plan(copied, mechanism=mechanism, **a_promise(mechanism))
    exactly = 1e-6 if mechanism == "lrm" else 1e-9  # its γ is over the cells: it stops elsewhere
    assert plan.std == pytest.approx(plain.std, rel=exactly)
    assert not plan.strategy.L[:, 7:].any()


@pytest.mark.parametrize(
    "mechanism", sorted({*MECHANISMS} - {"wavelet", "hierarchical", "marginals"})
)
def test_the_order_of_cells_and_queries_hardly_matters(mechanism: str) -> None:
    """Not at all to a formula or an optimum; a search starts elsewhere."""
    plain = ln.plan(WEIGHTED_STATES, mechanism=mechanism, **a_promise(mechanism))
    plan = ln.plan(
        WEIGHTED_STATES[[2, 0, 1]][:, [3, 0, 1, 2]], mechanism=mechanism, **a_promise(mechanism)
    )
    tolerance = 2e-2 if mechanism in ("augmented", "lrm") else 1e-4
    assert plan.expected_error == pytest.approx(plain.expected_error, rel=tolerance)


@each
def test_real_queries_say_how_far_off_rounding_leaves_them(mechanism: str) -> None:
    W = FAMILIES["related"](8, 24)
    plan = ln.plan(W, mechanism=mechanism, **a_promise(mechanism))
    distance = np.abs(W - plan.strategy.B @ plan.strategy.L).max(axis=1)
    assert plan.measurable.bias == pytest.approx(2.0**32 * distance, rel=1e-3, abs=1e-3)
    assert (distance < 1e-6).all()


@each
def test_sparse_and_dense_queries_have_one_plan(mechanism: str) -> None:
    W = ranges(12, 40)
    plain = ln.plan(W, mechanism=mechanism, **a_promise(mechanism))
    other = ln.plan(sparse.coo_matrix(W), mechanism=mechanism, **a_promise(mechanism))
    assert other.std == pytest.approx(plain.std, rel=1e-9)
    assert np.allclose(other.strategy.L, plain.strategy.L)


@each
def test_the_callers_matrix_is_left_alone(mechanism: str) -> None:
    W = WEIGHTED_STATES / 3
    before = W.copy()
    ln.plan(W, mechanism=mechanism, **a_promise(mechanism))
    assert np.array_equal(W, before)


@each
def test_unknown_names_are_told_the_known_ones(mechanism: str) -> None:
    with pytest.raises(InputError, match=rf"one of 'auto', .*'{mechanism}'.*, not 'best'"):
        ln.plan(STATES, epsilon=1, mechanism="best")
