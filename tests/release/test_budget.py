"""The gate: exact sums, what fits and what does not, and that what fits keeps the promise."""

from fractions import Fraction
from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld

import leastnoise as ln
from leastnoise.errors import PrivacyError
from leastnoise.release.budget import (
    PROMISES_SHARE,
    WAYS,
    Charge,
    balance,
    charge,
    fits,
    require_room,
)
from leastnoise.release.gaussian import analytic_sigma, least_epsilon
from leastnoise.release.privacy import Privacy, promise

F = Fraction
PURE = promise(epsilon=1)
APPROXIMATE = promise(epsilon=1, delta="1e-6")
CONCENTRATED = promise(rho="1/10")


def laplace(epsilon: str) -> Charge:
    return Charge(F(epsilon), F(0), None, F(0))


@cache
def gaussian(**given: str) -> Charge:
    plan = ln.plan(np.eye(4), noise="gaussian", mechanism="nod", **given)
    return charge(plan.measurable.integers, plan.measurable.noise, plan.privacy)


def admitted(budget: Privacy, asked: list[Charge]) -> list[Charge]:
    """Those of the charges that fit, asked for one after another."""
    spent: list[Charge] = []
    for one in asked:
        if fits(budget, spent, one):
            spent.append(one)
    return spent


def test_ten_tenths_are_one_and_the_eleventh_is_too_much() -> None:
    assert len(admitted(PURE, [laplace("1/10")] * 11)) == 10
    assert len(admitted(APPROXIMATE, [laplace("1/10")] * 11)) == 10
    assert sum([0.1] * 10) != 1, "floats would not have fitted"
    tiny = Charge(F(1, 10**300), F(0), None, F(0))
    assert not fits(PURE, [laplace("1/10")] * 10, tiny)


def test_thirds_are_exact_too() -> None:
    assert len(admitted(PURE, [laplace("1/3")] * 4)) == 3


def test_a_pure_budget_takes_no_gaussian_noise() -> None:
    with pytest.raises(PrivacyError, match="no room for Gaussian noise; plan with noise='laplace'"):
        require_room(PURE, [], gaussian(epsilon="1/10", delta="1e-6"))
    assert not admitted(PURE, [laplace("1")] * 2)[1:]


def test_laplace_noise_costs_epsilon_whatever_delta_was_promised() -> None:
    plan = ln.plan(np.eye(4), epsilon=1, delta="1e-6", noise="laplace", mechanism="nod")
    cost = charge(plan.measurable.integers, plan.measurable.noise, plan.privacy)
    assert cost == laplace("1")
    assert fits(PURE, [], cost)


def test_rho_adds_up_exactly_and_pure_epsilon_counts_as_half_its_square() -> None:
    assert len(admitted(CONCENTRATED, [gaussian(rho="1/100")] * 12)) == 10
    assert len(admitted(CONCENTRATED, [laplace("1/5")] * 7)) == 5  # (1/5)²/2 = 1/50
    mixed = [laplace("1/5"), gaussian(rho="1/50")] * 3
    assert len(admitted(CONCENTRATED, mixed)) == 5


@pytest.mark.parametrize("names", [{"rho": "1/7"}, {"epsilon": "1/2", "delta": "1e-5"}])
def test_what_a_gaussian_release_costs_is_its_rho_and_hardly_more(names: dict[str, str]) -> None:
    plan = ln.plan(np.triu(np.ones((5, 5))), noise="gaussian", max_rows=3, **names)
    integers, noise = plan.measurable.integers, plan.measurable.noise
    cost = charge(integers, noise, plan.privacy)
    spent = 9 * integers.delta2_squared / (2 * F(noise.scale) ** 2)
    assert spent <= cost.rho <= spent * (1 + F(1, 10**10))
    assert cost.lattice >= integers.rows / (20 * F(noise.scale) ** 2)
    if "rho" in names:
        assert cost.rho == F(names["rho"])


def test_the_whole_budget_fits_in_one_release_and_nothing_after_it() -> None:
    whole = gaussian(epsilon="1", delta="1e-6")
    assert fits(APPROXIMATE, [], whole)
    for more in (whole, laplace("1e-9"), gaussian(rho="1e-9")):
        assert not fits(APPROXIMATE, [whole], more)
    assert not fits(APPROXIMATE, [], gaussian(epsilon="1.0001", delta="1e-6"))
    assert not fits(APPROXIMATE, [], gaussian(epsilon="1", delta="1.0001e-6"))


def test_epsilon_before_the_first_gaussian_release_is_taken_off() -> None:
    half = gaussian(epsilon="1/2", delta="1e-6")
    assert fits(APPROXIMATE, [laplace("1/2")], half)
    assert not fits(APPROXIMATE, [laplace("0.5000001")], half)
    assert not fits(APPROXIMATE, [laplace("1")], gaussian(rho="1e-12"))


def test_releases_that_share_delta_fit_in_any_order() -> None:
    quarters = {"L": laplace("1/4"), "G": gaussian(epsilon="1/4", delta="2.5e-7")}
    for order in product("LG", repeat=4):
        asked = [quarters[one] for one in order]
        assert admitted(APPROXIMATE, asked) == asked, order


def test_many_gaussian_releases_add_up_in_rho() -> None:
    one = gaussian(epsilon="1/10", delta="1e-6")
    count = len(admitted(APPROXIMATE, [one] * 80))
    assert 55 <= count <= 65  # by their promises one of them would be all
    room = 1 / (2 * F(analytic_sigma(F(1), F("1e-6"))) ** 2)
    assert 0.8 * room < count * one.rho < room


def charges() -> list[Charge]:
    return [
        laplace("1/10"), laplace("1/4"), gaussian(epsilon="1/4", delta="1e-7"),
        gaussian(epsilon="1/2", delta="5e-7"), gaussian(rho="1/500"), gaussian(rho="1/5000"),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_admitted_keeps_the_promise(seed: int) -> None:
    """Google's accountant, told of every release that fitted, agrees."""
    random = np.random.default_rng(seed)
    asked = [charges()[i] for i in random.choice(6, 60, p=random.dirichlet(np.ones(6)))]
    spent = admitted(APPROXIMATE, asked)
    losses = [
        pld.from_privacy_parameters(common.DifferentialPrivacyParameters(float(one.epsilon)))
        if one.rho is None
        else pld.from_gaussian_mechanism(float(1 / (2 * one.rho)) ** 0.5)
        for one in spent
    ]
    whole = losses[0]
    for loss in losses[1:]:
        whole = whole.compose(loss)
    assert whole.get_delta_for_epsilon(1) <= 1e-6 * 1.01
    assert len(spent) < len(asked)


@pytest.mark.parametrize("budget", [PURE, APPROXIMATE, CONCENTRATED])
def test_what_is_left_fits_and_a_little_more_does_not(budget: Privacy) -> None:
    for spent in ([], [laplace("1/10")], [laplace("1/10"), gaussian(rho="1/500"), laplace("1/10")]):
        if not all(fits(budget, spent[:i], one) for i, one in enumerate(spent)):
            continue
        now = balance(budget, spent)
        more = F(1, 10**9)
        if now.epsilon_left:
            left = Charge(now.epsilon_left, F(0), None, F(0))
            assert fits(budget, spent, left)
            assert not fits(budget, spent, Charge(now.epsilon_left + more, F(0), None, F(0)))
        if now.rho_left:
            assert fits(budget, spent, Charge(None, F(0), now.rho_left, F(0)))
            assert not fits(budget, spent, Charge(None, F(0), now.rho_left + more, F(0)))


def test_a_coarse_lattice_takes_its_share_of_delta() -> None:
    fine, coarse = gaussian(rho="1/5000"), Charge(None, F(0), F(1, 5000), F(1, 10**9))
    assert fits(APPROXIMATE, [], fine)
    assert not fits(APPROXIMATE, [], coarse)
    shared = F("1e-6") * (1 - PROMISES_SHARE) / WAYS / 1000
    some = Charge(None, F(0), F(1, 5000), shared / 6)  # at ε = 1/4 (1 + e^ε)·τ is 0.38 of it
    assert fits(APPROXIMATE, [some], some)
    assert not fits(APPROXIMATE, [some, some], some)


def test_the_shares_of_delta_are_no_more_than_delta() -> None:
    assert PROMISES_SHARE + WAYS * ((1 - PROMISES_SHARE) / WAYS) == 1


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("1/10", "1e-9"), ("8", "1e-3")])
def test_epsilon_of_rho_is_the_inverse_of_the_noise_for_epsilon(epsilon: str, delta: str) -> None:
    rho = 1 / (2 * F(analytic_sigma(F(epsilon), F(delta))) ** 2)
    assert 0 <= least_epsilon(rho, F(delta)) / float(F(epsilon)) - 1 < 3e-6


def test_epsilon_of_rho_by_hand() -> None:
    """At ε = 0 the condition is erf(1/2√2σ) = δ."""
    delta = F(1, 10)
    sigma = 1 / (2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(1) / 10))
    assert least_epsilon(F(float(1 / (2 * sigma**2))) * (1 - F(1, 10**6)), delta) < 1e-5


def test_a_walk_that_stops_when_it_is_lucky_gains_nothing() -> None:
    """An analyst who asks on only while the losses look good: simulated against the promise.

    Two sums differ by 1. Gaussian answers of ρ each are asked for until the room is used up, or the
    loss has passed ε; then the analyst guesses. P(S) ≤ e^ε·Q(S) + δ must hold for the S guessed.
    """
    budget = promise(epsilon=1, delta="1/20")
    one = gaussian(rho="1/100")
    steps = len(admitted(budget, [one] * 100))
    runs, mu = 200_000, float(2 * one.rho) ** 0.5
    random = np.random.default_rng(0)
    losses = {}
    for name, shift in (("P", mu), ("Q", 0.0)):
        steps_taken = random.normal(shift, 1, (runs, steps)) * mu - mu**2 / 2
        walked = np.cumsum(steps_taken, axis=1)
        stopped = np.where((walked > 1).any(axis=1), (walked > 1).argmax(axis=1), steps - 1)
        losses[name] = walked[np.arange(runs), stopped]
    inside = (losses["P"] > 1).mean() - np.e * (losses["Q"] > 1).mean()
    assert 5 < steps
    assert 0 < inside < float(budget.delta)
