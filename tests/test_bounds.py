"""The paper's bounds by hand and by NumPy, in one row with the certified one."""

from math import factorial

import numpy as np
import pytest
from workloads import FAMILIES, STATES, WEIGHTED_STATES, error, nuclear

import leastnoise as ln
from leastnoise.errors import InputError

WORKLOADS = {
    "states": STATES,
    "weighted states": WEIGHTED_STATES,
    "prefixes": np.tri(12),
    **{family: make(8, 24) for family, make in FAMILIES.items()},
}


@pytest.mark.parametrize("n", [1, 2, 6])
def test_cell_by_cell_by_hand(n: int) -> None:
    """All singular values are 1, so everything but the Laplace lower bound is n."""
    bounds = ln.bounds(np.eye(n))
    assert bounds.rank == n
    assert (bounds.condition, bounds.coherence) == pytest.approx((1, 1))
    upper = (bounds.laplace_upper, bounds.gaussian_upper, bounds.achieved)
    assert upper == pytest.approx((n, n, n))
    assert (bounds.gaussian_lower, bounds.certified) == pytest.approx((n, n))
    assert bounds.laplace_lower == pytest.approx(n**3 * (2**n / factorial(n)) ** (2 / n))


def test_one_query_of_three_cells_by_hand() -> None:
    """λ = √3, V = (1, 1, 1)/√3: ρ²·Σλ² = 1, which is what measuring the sum costs."""
    bounds = ln.bounds([[1, 1, 1]])
    assert (bounds.rank, bounds.condition) == (1, pytest.approx(1))
    assert bounds.coherence == pytest.approx(1 / np.sqrt(3))
    assert (bounds.gaussian_lower, bounds.gaussian_upper) == pytest.approx((1, 1))
    assert bounds.laplace_upper == pytest.approx(3)
    assert bounds.laplace_lower == pytest.approx(1 / 3 * (2 * np.sqrt(3)) ** 2)


@pytest.mark.parametrize("name", ["states", "weighted states", "ranges", "related"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_merging_cells_changes_no_bound(name: str, is_weighted: bool) -> None:
    """Cells that no query tells apart, and cells in none, count each in the paper's formulas: here
    by NumPy over all of them."""
    W = np.hstack([WORKLOADS[name], WORKLOADS[name][:, [0, 0, 1]]])
    W = np.hstack([W, np.zeros((len(W), 2))])
    weights = np.arange(1.0, len(W) + 1) if is_weighted else np.ones(len(W))
    bounds = ln.bounds(W, weights=weights)
    _, values, V = np.linalg.svd(np.sqrt(weights)[:, None] * W, full_matrices=False)
    values, V = values[values > 1e-9 * values[0]], V[values > 1e-9 * values[0]]
    s, n, rho = len(values), W.shape[1], np.linalg.norm(V, axis=0).max()
    assert (bounds.rank, bounds.coherence) == (s, pytest.approx(rho))
    assert bounds.condition == pytest.approx(values[0] / values[-1])
    assert bounds.laplace_upper == pytest.approx(np.square(values).sum())
    assert bounds.gaussian_upper == pytest.approx(rho**2 * np.square(values).sum())
    assert bounds.gaussian_lower == pytest.approx(values.sum() ** 2 / n)
    volume = 2**s / factorial(s) * values.prod()
    assert bounds.laplace_lower == pytest.approx(s**4 / n * volume ** (2 / s))


@pytest.mark.parametrize("name", WORKLOADS)
def test_bounds_stand_in_order(name: str) -> None:
    bounds, slack = ln.bounds(WORKLOADS[name]), 1 + 1e-9
    assert bounds.gaussian_lower <= bounds.certified * slack
    assert bounds.certified <= bounds.achieved * slack
    assert bounds.achieved <= bounds.gaussian_upper * slack
    assert bounds.gaussian_upper <= bounds.laplace_upper * slack


@pytest.mark.parametrize("name", ["ranges", "related"])
def test_the_certified_bound_is_that_of_a_plan(name: str) -> None:
    """At unit noise: ρ = 1/2 has σ₁ = 1."""
    bounds, plan = ln.bounds(WORKLOADS[name]), ln.plan(WORKLOADS[name], rho="1/2")
    assert bounds.certified == pytest.approx(plan.certificate.lower_bound, rel=1e-9)
    assert bounds.certified > bounds.gaussian_lower * (1 + 1e-3)
    assert bounds.gaussian_lower == pytest.approx(
        nuclear(WORKLOADS[name], np.ones(24)) ** 2, rel=1e-9
    )


@pytest.mark.parametrize("name", ["weighted states", "related"])
def test_each_upper_bound_is_what_a_strategy_costs(name: str) -> None:
    """Laplace: noise on data, ‖W‖²_F = Σλ². Gaussian: B = ρ·UΣ, L = V/ρ, of Δ₂ = 1."""
    W = WORKLOADS[name]
    bounds = ln.bounds(W)
    on_data = ln.plan(W, epsilon=1, mechanism="nod").expected_error
    assert on_data == pytest.approx(2 * bounds.laplace_upper)
    _, values, V = np.linalg.svd(W, full_matrices=False)
    by_hand = error(W, V[values > 1e-9] / bounds.coherence, 2)
    assert by_hand == pytest.approx(bounds.gaussian_upper)


def test_in_words() -> None:
    words = str(ln.bounds([[1, 1, 1]])).splitlines()
    assert words[0] == "rank 1, condition 1, coherence 0.5774; errors at unit noise"
    assert (
        words[1].split()
        == "Laplace at most 3; of the order of 4 or more (constant unknown)".split()
    )
    assert words[2].split() == "Gaussian at most 1, at least 1".split()
    assert words[3].startswith("  proven    at least ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"queries": "W.npy"}, "two-dimensional"),
        ({"queries": [[0, 0]]}, "all zero"),
        ({"queries": STATES, "weights": [1]}, "weights must be one number per query, 3 in all"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.bounds(**arguments)
