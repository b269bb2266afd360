"""Arrays of another library give NumPy's numbers; array_api_strict allows nothing but the standard.

Its arrays refuse what only NumPy knows, and one of its devices refuses to be mixed with the other.
"""

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sparse
from workloads import FAMILIES, ranges

from leastnoise.strategy.ascent import Search, ascend
from leastnoise.strategy.augmented import Objective, augmented
from leastnoise.strategy.gaussian import Total, Worst, lower_bound
from leastnoise.strategy.goal import goal
from leastnoise.strategy.optimal import optimal
from leastnoise.strategy.problem import Problem
from leastnoise.workload.arrays import as_numpy, beside, like
from leastnoise.workload.matrices import dense
from leastnoise.workload.workload import Workload

OTHER = array_api_strict.Device("device1")


def strict(values: np.ndarray) -> Any:
    return array_api_strict.asarray(values)


def test_as_numpy_takes_arrays_lists_and_numbers() -> None:
    values = np.arange(6.0).reshape(2, 3)
    for given in (values, values.tolist(), strict(values)):
        taken = as_numpy(given)
        assert type(taken) is np.ndarray
        assert np.array_equal(taken, values)
    assert as_numpy(3).shape == ()


def test_like_follows_library_device_and_double_precision() -> None:
    made = like(np.arange(3), array_api_strict.asarray([1.0], device=OTHER))
    assert isinstance(made, type(strict(np.ones(1))))
    assert made.device == OTHER
    assert made.dtype == array_api_strict.float64
    assert type(like(np.arange(3), np.ones(1, dtype=np.float32))) is np.ndarray


@pytest.mark.parametrize(
    "queries", [np.ones((1, 2)), [[1, 2]], sparse.csr_array([[1.0, 2]]), Workload([[1, 2]])]
)
def test_matrices_stay_in_numpy_unless_queries_live_elsewhere(queries: object) -> None:
    matrix = np.ones((2, 2))
    assert beside(queries)(matrix) is matrix


def test_matrices_go_where_the_queries_live() -> None:
    placed = beside(array_api_strict.asarray([[1, 2]], device=OTHER))(np.ones((2, 2)))
    assert (placed.device, placed.dtype) == (OTHER, array_api_strict.float64)


def total(place: Callable[[np.ndarray], Any]) -> Total:
    return Total(place(FAMILIES["related"](9, 30)))


def worst(place: Callable[[np.ndarray], Any]) -> Worst:
    rng = np.random.default_rng(0)
    return Worst(place(rng.standard_normal((9, 4))), place(rng.standard_normal((4, 30))))


@pytest.mark.parametrize("objective", [total, worst])
@pytest.mark.parametrize("block", [2**19, 40])
def test_the_gaussian_loop_gives_the_same_numbers(
    objective: Callable[..., Total | Worst], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with columns in blocks, of which the last is narrower."""
    monkeypatch.setattr("leastnoise.strategy.gaussian._BLOCK", block)
    monkeypatch.setattr("leastnoise.strategy.gaussian._LARGE_BLOCK", block)
    ours, theirs = (
        ascend(one.evaluate, one.groups, one.power, Search(most_steps=5))
        for one in (objective(np.asarray), objective(strict))
    )
    for point, other in [(ours.highest, theirs.highest), (ours.lowest, theirs.lowest)]:
        assert type(other.root) is np.ndarray
        assert other.t == pytest.approx(point.t, rel=1e-9)
        assert other.achieved == pytest.approx(point.achieved, rel=1e-9)
        assert other.probabilities == pytest.approx(point.probabilities, rel=1e-6)


def test_the_bound_is_the_same() -> None:
    M, q = FAMILIES["related"](12, 50), np.random.default_rng(0).random(50)
    assert lower_bound(strict(M), q) == pytest.approx(lower_bound(M, q), rel=1e-12)


@pytest.mark.parametrize("exponent", [1, 2, 8])
def test_the_laplace_loss_is_the_same(exponent: int) -> None:
    W = FAMILIES["related"](6, 20)
    signs = np.random.default_rng(0).random((2, 3, 20))
    ours, theirs = Objective(W).loss(signs, exponent), Objective(strict(W)).loss(signs, exponent)
    assert (theirs.value, theirs.largest) == pytest.approx((ours.value, ours.largest), rel=1e-10)
    assert type(theirs.gradient) is np.ndarray
    assert theirs.gradient == pytest.approx(ours.gradient, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("mechanism", [optimal, augmented])
@pytest.mark.parametrize("objective", ["total", "worst"])
def test_drafts_are_made_of_numpy_whatever_they_were_found_with(
    mechanism: Callable[..., Any], objective: str
) -> None:
    asked = Problem(Workload(ranges(4, 6)), goal(objective, None, 4))
    ours, theirs = (mechanism(asked, Search(place=place)) for place in (np.asarray, strict))
    for part in theirs.parts:
        assert type(dense(part.coefficients)) is np.ndarray
    figures = [asked.goal.of(draft.row_squares) for draft in (ours, theirs)]
    assert figures[1] == pytest.approx(figures[0], rel=1e-4)
