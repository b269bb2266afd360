"""Usefulness: theorems by hand, the simulated ε against closed forms, and that it is enough."""

from functools import cache
from math import log, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from workloads import STATES, WEIGHTED_STATES, ranges

import leastnoise as ln
from leastnoise.errors import InputError, LeastnoiseError
from leastnoise.release.calibrate import unit_sigma
from leastnoise.release.privacy import promise

DELTA = 1e-4
PROMISES = {
    "laplace": {"epsilon": 1},
    "gaussian": {"epsilon": 1, "delta": DELTA, "noise": "gaussian"},
}

each_noise = pytest.mark.parametrize("noise", PROMISES)
each_norm = pytest.mark.parametrize("norm", ["l1", "l2", "max"])


@cache
def cells(n: int, noise: str = "laplace") -> ln.Plan:
    """Noise on each of n cells: B = L = I."""
    return ln.plan(np.eye(n), mechanism="nod", **PROMISES[noise])


@pytest.mark.parametrize(
    ("noise", "norm", "theorem"),
    [
        ("laplace", "l1", 2 * (3 * log(2) + log(10)) / 7),
        ("laplace", "max", 2 * (log(2) + log(4 / 3) + log(6 / 5) + log(10)) / 7),
        ("laplace", "l2", None),
        ("gaussian", "l2", sqrt(6 * log(2 / DELTA) * (1.5 * log(3) + log(10))) / 7),
        ("gaussian", "max", sqrt((6 * log(3) + 3 * log(3)) * log(2 / DELTA) / 0.1) / 7),
        ("gaussian", "l1", None),
    ],
)
def test_theorems_by_hand(noise: str, norm: str, theorem: float | None) -> None:
    """Three cells, ξ = 7, η = 1/10; every norm of B is 1."""
    found = ln.usefulness(cells(3, noise), 7, 0.1, norm)
    assert found.theorem == (theorem if theorem is None else pytest.approx(theorem, rel=1e-6))
    assert (found.norm, found.xi, found.eta) == (norm, 7, 0.1)


@pytest.mark.parametrize(
    ("noise", "norm", "largest"),
    [
        ("laplace", "l1", 1),
        ("laplace", "max", np.inf),
        ("gaussian", "l2", 2),
        ("gaussian", "max", np.inf),
    ],
)
def test_theorems_grow_with_the_norm_of_b(noise: str, norm: str, largest: float) -> None:
    """|||B||| at Δ = 1, over two cells for which B = W = [1 2; 0 1] tells the norms apart."""
    W = np.array([[1.0, 2], [0, 1]])
    plan = ln.plan(W, mechanism="nod", **PROMISES[noise])
    plain = ln.usefulness(cells(2, noise), 7, 0.1, norm).theorem
    found = ln.usefulness(plan, 7, 0.1, norm).theorem
    assert found == pytest.approx(plain * np.linalg.norm(W, largest), rel=1e-6)


@each_norm
@pytest.mark.parametrize(("xi", "eta"), [(1, 0.05), (20, 0.01), (0.5, 0.5)])
def test_one_cell_under_laplace_noise_has_a_closed_form(xi: float, eta: float, norm: str) -> None:
    """P(|z| ≥ ξ) = exp(−εξ) = η at ε = ln(1/η)/ξ; the simulated limit is on the safe side."""
    closed = log(1 / eta) / xi
    found = ln.usefulness(cells(1), xi, eta, norm).tight
    assert closed * 0.999 < found < closed * 1.08


@pytest.mark.parametrize(("xi", "eta"), [(10, 0.05), (40, 0.2)])
def test_one_cell_under_gaussian_noise_has_the_epsilon_of_its_sigma(xi: float, eta: float) -> None:
    """σ = ξ/z with z the normal quantile; ε is what the calibration would ask this σ for."""
    found = ln.usefulness(cells(1, "gaussian"), xi, eta).tight
    sigma = unit_sigma(promise(found, DELTA))
    wanted = xi / NormalDist().inv_cdf(1 - eta / 2)
    assert wanted * 0.96 < sigma < wanted * 1.001


@each_noise
@each_norm
def test_the_simulated_epsilon_is_below_the_theorem_s(noise: str, norm: str) -> None:
    plan = ln.plan(ranges(8, 24), **PROMISES[noise])
    found = ln.usefulness(plan, 50, 0.05, norm)
    assert found.tight > 0
    if (noise, norm) in (("laplace", "l2"), ("gaussian", "l1")):
        assert found.theorem is None
    else:
        assert found.tight < found.theorem


@each_norm
def test_the_simulated_epsilon_is_enough_and_hardly_more(norm: str) -> None:
    """Planned with it, rehearsed: errors of ξ or more come η of the time at most, and not much
    less. Four standard deviations of 20,000 runs are 0.6%. Δ₁ is 3.2 and Δ₂ 2.0 here."""
    xi, eta, options = 30, 0.05, {"mechanism": "optimal"}
    tight = ln.usefulness(ln.plan(WEIGHTED_STATES, epsilon=1, **options), xi, eta, norm).tight
    plan = ln.plan(WEIGHTED_STATES, epsilon=tight, **options)
    off = ln.rehearse(plan, np.zeros(4, dtype=int), 20_000, seed=1)
    sizes = np.linalg.norm(off, {"l1": 1, "l2": 2, "max": np.inf}[norm], axis=1)
    assert 0.035 < (sizes >= xi).mean() <= eta + 0.006


def test_gaussian_epsilon_is_enough_too() -> None:
    xi, eta = 60, 0.05
    options = {"delta": DELTA, "noise": "gaussian", "mechanism": "optimal"}
    tight = ln.usefulness(ln.plan(WEIGHTED_STATES, epsilon=1, **options), xi, eta).tight
    plan = ln.plan(WEIGHTED_STATES, epsilon=tight, **options)
    off = np.abs(ln.rehearse(plan, np.zeros(4, dtype=int), 20_000, seed=1)).max(axis=1)
    assert 0.035 < (off >= xi).mean() <= eta + 0.006


@each_noise
def test_more_accuracy_and_more_certainty_cost_more(noise: str) -> None:
    plan = cells(3, noise)

    def tight(xi: float, eta: float) -> float:
        return ln.usefulness(plan, xi, eta, runs=5_000).tight

    assert tight(8, 0.05) > tight(16, 0.05) > tight(32, 0.05)
    assert tight(16, 0.01) > tight(16, 0.05) > tight(16, 0.2)


def test_laplace_epsilon_is_inverse_to_the_accuracy() -> None:
    coarse, fine = (ln.usefulness(cells(3), xi, 0.05) for xi in (10, 1))
    assert fine.tight == pytest.approx(10 * coarse.tight)
    assert fine.theorem == pytest.approx(10 * coarse.theorem)


@pytest.mark.parametrize("promise_more", [{"max_rows": 3}, {"neighbors": "change_one"}])
def test_people_with_several_records_cost_more(promise_more: dict[str, object]) -> None:
    factor = {"max_rows": 3, "neighbors": 2}[next(iter(promise_more))]
    plan = ln.plan(STATES, epsilon=1, mechanism="nod", **promise_more)
    one = ln.usefulness(ln.plan(STATES, epsilon=1, mechanism="nod"), 10)
    found = ln.usefulness(plan, 10)
    assert found.tight == pytest.approx(factor * one.tight)
    assert found.theorem == pytest.approx(factor * one.theorem)


def test_the_epsilon_of_the_plan_does_not_matter_and_the_seed_hardly_does() -> None:
    plans = [ln.plan(STATES, epsilon=epsilon, mechanism="nod") for epsilon in (0.01, 5)]
    first, second = (ln.usefulness(plan, 10) for plan in plans)
    assert first.tight == pytest.approx(second.tight, rel=1e-6)
    other = ln.usefulness(plans[0], 10, seed=1)
    assert other.tight != first.tight
    assert other.tight == pytest.approx(first.tight, rel=0.05)


def test_in_words() -> None:
    plain = str(ln.usefulness(cells(3), 1000, 0.05))
    assert plain.startswith("all errors together (max) below 1,000 but for 0.05 of the time: ε = ")
    assert "the paper's theorem asks for ε = 0.0" in plain
    assert str(ln.usefulness(cells(3), 10, 0.05, "l2")).endswith("the paper's theorem has none")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"plan": "plan"}, "usefulness takes a plan; make one with ln.plan"),
        ({"xi": 0}, "xi must be a positive number, not 0"),
        ({"xi": -1}, "xi must be a positive number, not -1"),
        ({"xi": np.nan}, "xi must be a positive number, not nan"),
        ({"xi": np.inf}, "xi must be a positive number, not inf"),
        ({"xi": "7"}, "xi must be a positive number, not '7'"),
        ({"xi": True}, "xi must be a positive number, not True"),
        ({"eta": 0}, "eta must lie between 0 and 1, such as 0.05, not 0"),
        ({"eta": 1}, "eta must lie between 0 and 1, such as 0.05, not 1"),
        ({"eta": np.nan}, "eta must lie between 0 and 1, such as 0.05, not nan"),
        ({"eta": "5%"}, "eta must lie between 0 and 1, such as 0.05, not '5%'"),
        ({"norm": "l3"}, "norm must be 'l1', 'l2' or 'max', not 'l3'"),
        ({"norm": 2}, "norm must be 'l1', 'l2' or 'max', not 2"),
        ({"eta": 1e-6}, "20000 runs are too few for eta = 1e-06; give more with runs="),
        ({"norm": ["l1"]}, "norm must be 'l1', 'l2' or 'max', not "),
        ({"runs": 0}, "runs"),
        ({"runs": "x"}, "runs"),
        ({"runs": 1.5}, "runs"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"runs": 10}, "10 runs are too few for eta = 0.05; give more with runs="),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.usefulness(**{"plan": cells(3), "xi": 7, **arguments})


def test_what_has_no_epsilon_is_refused() -> None:
    with pytest.raises(InputError, match="plan with epsilon, not rho"):
        ln.usefulness(ln.plan(STATES, rho=1), 10)
    with pytest.raises(InputError, match="usefulness takes a plan"):
        ln.usefulness(ln.plan(STATES, epsilon=1, mechanism="mwem"), 10)
    with pytest.raises(InputError, match=r"no epsilon up to 1,000 .* ask for a larger xi"):
        ln.usefulness(cells(3, "gaussian"), 1e-3)


@pytest.mark.parametrize("xi", [np.int64(3), np.float32(3)])
def test_numbers_of_any_type_are_accuracies(xi: object) -> None:
    assert ln.usefulness(cells(3), xi).tight == ln.usefulness(cells(3), 3).tight


def test_a_biased_plan_is_refused() -> None:
    """Its bias, up to 2**32, is no noise: errors of ξ or more would come oftener than η."""
    plan = ln.plan(STATES, epsilon=1, mechanism="lrm", rank=1, fallback=False)
    assert plan.is_relaxed
    with pytest.raises(LeastnoiseError):
        ln.usefulness(plan, 10)
