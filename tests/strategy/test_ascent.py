"""The loop by itself: what it keeps of a climb, and how time is shared."""

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np
import pytest

from leastnoise.strategy.ascent import Point, Search, ascend


def scripted(
    script: Sequence[tuple[float, float]], seen: list[np.ndarray]
) -> Callable[[np.ndarray], Point]:
    """An objective that answers with t and error from a script, and random ratios."""
    steps, random = iter(script), np.random.default_rng(0)

    def evaluate(probabilities: np.ndarray) -> Point:
        seen.append(probabilities)
        t, achieved = next(steps)
        return Point(probabilities, random.uniform(0.1, 3, 5), t, achieved, np.eye(1))

    return evaluate


def test_the_highest_and_the_lowest_are_kept_though_later_steps_are_worse() -> None:
    seen: list[np.ndarray] = []
    script = [(1.0, 9.0), (2.0, 8.0), (1.5, 5.0), (1.2, 7.0), (1.9, 6.0)]
    found = ascend(scripted(script, seen), (2, 3), 1.0, Search(most_steps=5))
    assert (found.highest.t, found.lowest.achieved, found.steps) == (2.0, 5.0, 5)
    assert found.highest.probabilities is seen[1]
    assert found.lowest.probabilities is seen[2]


def test_each_group_of_probabilities_sums_to_one_from_uniform_on() -> None:
    seen: list[np.ndarray] = []
    ascend(scripted([(1.0 + i, 1e9) for i in range(30)], seen), (2, 3), 2.0, Search(most_steps=30))
    assert seen[0].tolist() == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])
    assert not np.allclose(seen[1], seen[0])
    for probabilities in seen:
        assert (probabilities > 0).all()
        assert [probabilities[:2].sum(), probabilities[2:].sum()] == pytest.approx([1, 1])


def test_a_climb_ends_where_the_gap_closes() -> None:
    script = [(1.0, 2.0), (1.2, 1.8), (1.3, 1.7), (1.4, 1.6)]
    assert ascend(scripted(script, []), (5,), 1.0, Search(gap=0.3)).steps == 2
    assert ascend(scripted(script, []), (5,), 1.0, Search(gap=0.01)).steps == 3


def test_a_cell_grows_when_its_ratio_says_so() -> None:
    """The first step is the plain one: q ∝ q·ratio^power."""
    seen: list[np.ndarray] = []

    def evaluate(q: np.ndarray) -> Point:
        seen.append(q)
        return Point(q, np.array([1.0, 2.0, 0.5]), 1.0, 10.0, np.eye(1))

    ascend(evaluate, (3,), 2.0, Search(most_steps=2))
    assert seen[1] == pytest.approx(np.array([1, 4, 0.25]) / 5.25)


@pytest.mark.parametrize(("left", "searches", "expected"), [(10, 4, 2.5), (10, 1, 10), (-5, 2, 0)])
def test_a_share_is_an_even_part_of_what_is_left(
    left: float, searches: int, expected: float
) -> None:
    now = monotonic()
    share = Search(stop_at=now + left, seed=3).share(searches)
    assert share.stop_at - now == pytest.approx(expected, abs=0.1)
    assert share.seed == 3


def test_a_share_of_forever_is_forever() -> None:
    assert Search().share(3).stop_at == np.inf
