"""MWEM, rehearsed: a round by hand, many rounds cell by cell, and that it cannot be released."""

import numpy as np
import pytest
from workloads import STATES, ranges

import leastnoise as ln
from leastnoise.errors import InputError, PrivacyError

QUIET = 10**9  # ε at which noise is out of sight


def mwem(W: object, epsilon: object = 1, **options: object) -> ln.Rehearsal:
    return ln.plan(W, epsilon=epsilon, mechanism="mwem", **options)


def cell_by_cell(
    W: np.ndarray, x: np.ndarray, epsilon: float, rounds: int, runs: int, seed: int
) -> np.ndarray:
    """Hardt, Ligett & McSherry's algorithm for one run after the other, over cells, on the same
    random numbers. The largest of scores plus Gumbel noise is a draw with P ∝ exp(score)."""
    random, largest = np.random.default_rng(seed), np.abs(W).max()
    Q, total = W / largest, x.sum()
    draws = [
        (random.gumbel(size=(runs, len(W))), random.laplace(0, 2 * rounds / epsilon, runs))
        for _ in range(rounds)
    ]
    answers = []
    for run in range(runs):
        A, average = np.full(len(x), total / len(x)), 0
        for gumbel, laplace in draws:
            scores = epsilon / (2 * rounds) * np.abs(Q @ A - Q @ x) / 2
            q = Q[np.argmax(scores + gumbel[run])]
            measured = q @ x + laplace[run]
            A = A * np.exp(q * (measured - q @ A) / (2 * total))
            A = A * total / A.sum()
            average = average + A / rounds
        answers.append(W @ average)
    return np.array(answers)


def test_one_round_by_hand() -> None:
    """One query, of the first of two cells: 20 of 40 at first, 30 really. Its cell is multiplied by
    exp((30 − 20)/80), then both are scaled to a total of 40."""
    grown = np.exp(10 / 80)
    answers = ln.rehearse(mwem([[1, 0]], QUIET, rounds=1), [30, 10], runs=3)
    assert answers == pytest.approx(np.full((3, 1), 40 * grown / (1 + grown)), rel=1e-6)


def test_a_coefficient_other_than_one_by_hand() -> None:
    """As before, asked with a factor of −5: queries are scaled into [−1, 1] and back."""
    grown = np.exp(10 / 80)
    answers = ln.rehearse(mwem([[-5, 0]], QUIET, rounds=1), [30, 10], runs=1)
    assert answers[0, 0] == pytest.approx(-5 * 40 * grown / (1 + grown), rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "spent"),
    [({}, 1), ({"max_rows": 2}, 0.5), ({"neighbors": "change_one"}, 0.5), ({"rounds": 3}, 1)],
)
def test_many_rounds_as_a_plain_reading_gives_them(
    arguments: dict[str, object], spent: float
) -> None:
    """Over cells, of which some are alike to all queries and some are in none."""
    W = np.hstack(
        [np.repeat([[1, 0, 2], [0, 1, -1], [3, 1, 1]], [3, 1, 2], axis=1), np.zeros((3, 2))]
    )
    x = np.array([40, 3, 0, 20, 7, 1, 12, 5])
    answers = ln.rehearse(mwem(W, 1, **arguments), x, runs=4, seed=9)
    expected = cell_by_cell(W, x, spent, arguments.get("rounds", 10), runs=4, seed=9)
    assert answers == pytest.approx(expected, rel=1e-9)


def test_the_total_is_kept() -> None:
    W = np.vstack([np.ones(6), ranges(5, 6)])
    answers = ln.rehearse(mwem(W, "1/10"), [5, 0, 9, 2, 2, 30], runs=50)
    assert answers[:, 0] == pytest.approx(np.full(50, 48))
    assert answers[:, 1:].min() > 0


@pytest.mark.parametrize(
    ("W", "is_seen"), [([[1, 1, 0], [1, 1, 1]], False), ([[1, 1, 0], [0, 1, 1]], True)]
)
def test_how_records_are_spread_within_a_class_is_not_seen(W: object, is_seen: bool) -> None:
    """The first two cells are one class or not; ten records are in them either way."""
    here, there = (ln.rehearse(mwem(W, 2), counts, seed=2) for counts in ([9, 1, 4], [2, 8, 4]))
    assert np.array_equal(here, there) != is_seen


def test_on_a_sparse_table_at_a_small_epsilon_it_beats_noise_on_data_and_a_blind_guess() -> None:
    """Running totals of 64 cells, all 100 records in one. The guess: they are spread evenly."""
    W, x = np.tri(64), np.zeros(64, dtype=int)
    x[5] = 100
    off = ln.rehearse(mwem(W, "1/10", rounds=5), x, runs=200) - W @ x
    error = np.square(off).sum(axis=1).mean()
    assert error < 0.95 * np.square(W @ np.full(64, 100 / 64) - W @ x).sum()
    assert error < 0.5 * ln.plan(W, epsilon="1/10", mechanism="nod").expected_error


@pytest.mark.parametrize("counts", [None, [1, 2, 3, 4], [1, 2], [987_654_321] * 4, "x"])
def test_it_is_never_released(counts: object) -> None:
    with pytest.raises(PrivacyError, match=r"'mwem' is a rehearsal: .* use ln.rehearse on public"):
        mwem(STATES).release(counts)


def test_its_error_is_not_known_beforehand() -> None:
    plan = mwem(STATES, rounds=4)
    assert np.isnan(plan.expected_error)
    assert np.isnan(plan.std).all()
    assert plan.certificate is None
    assert str(plan) == "mwem in 4 rounds: a rehearsal, whose error depends on the data"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"rounds": -1}, "rounds must be at least 1, not -1"),
        ({"rounds": 1.5}, "rounds must be an integer of at least 1, not float"),
        ({"rounds": True}, "rounds must be an integer of at least 1, not bool"),
        ({"rounds": "ten"}, "rounds must be an integer of at least 1, not str"),
        ({"rounds": None}, "rounds must be an integer of at least 1, not NoneType"),
        ({"round": 3}, "round is no argument of plan; mechanism='mwem' takes rounds"),
        ({"branching": 2}, "branching is no argument of plan; mechanism='mwem' takes rounds"),
    ],
)
def test_settings_that_make_no_sense_are_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mwem(STATES, **arguments)


@pytest.mark.parametrize(
    "promise", [{"rho": 1}, {"epsilon": 1, "delta": 1e-4, "noise": "gaussian"}]
)
def test_other_noise_is_refused(promise: dict[str, object]) -> None:
    with pytest.raises(
        InputError, match="mechanism 'mwem' is for laplace noise; give epsilon, and no other noise"
    ):
        ln.plan(STATES, mechanism="mwem", **promise)


def test_an_empty_table_is_empty() -> None:
    assert ln.rehearse(mwem([[1, 1]]), [0, 0], runs=1)[0, 0] == 0
