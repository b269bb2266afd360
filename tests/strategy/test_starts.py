"""Where the Laplace search starts: proposals at their best scale, and what is left out."""

import numpy as np
import pytest
from workloads import FAMILIES, ranges

from leastnoise.strategy.ascent import Search
from leastnoise.strategy.goal import goal
from leastnoise.strategy.low_rank import low_rank
from leastnoise.strategy.objective import Objective
from leastnoise.strategy.problem import Problem
from leastnoise.strategy.starts import complements, starts
from leastnoise.strategy.strategy import Draft, Part
from leastnoise.workload.workload import Workload


def problem(W: np.ndarray) -> Problem:
    return Problem(Workload(W), goal("total", None, len(W)))


def proposed(asked: Problem, drafts: tuple[Draft, ...] = ()) -> dict[str, np.ndarray]:
    """(P, N) by label, without the random ones."""
    found = starts(Objective(asked.reduced.matrix), asked, drafts, np.random.default_rng(0))
    return {one.label: one.signs for one in found if "random" not in one.label}


def theta(signs: np.ndarray) -> np.ndarray:
    return np.asarray(signs[0] - signs[1:].sum(axis=0))


@pytest.mark.parametrize("family", ["discrete", "ranges", "marginals"])
def test_complements_span_the_queries(family: str) -> None:
    W = FAMILIES[family](10, 16).astype(float)
    rows = complements(W)
    assert np.linalg.matrix_rank(rows) == np.linalg.matrix_rank(np.vstack([rows, W]))
    assert np.array_equal(rows[0], np.ones(16))


def test_complements_have_few_entries_none_beyond_one() -> None:
    """Of 1 and −1, mostly −1: a 1 in their place, or 2 before they are scaled."""
    W = FAMILIES["discrete"](10, 64).astype(float)
    rows = complements(W)[1:]
    assert np.abs(rows).max() == 1
    assert np.count_nonzero(rows, axis=1).max() == (W == 1).sum(axis=1).max()


def test_complements_of_a_total_are_the_total() -> None:
    assert complements(np.ones((3, 5))).tolist() == [[1] * 5]


@pytest.mark.parametrize("family", ["discrete", "ranges", "related"])
def test_a_draft_is_reached_by_a_large_scale_of_it(family: str) -> None:
    """With its short columns kept short: then its error is that of [I; t·L] for t → ∞."""
    asked = problem(FAMILIES[family](8, 16))
    draft = low_rank(asked, Search(), noise="laplace", fallback=False)
    objective = Objective(asked.reduced.matrix)
    L = draft.parts[0].measured / draft.sensitivities[0]
    slack = 1 - np.abs(L).sum(axis=0)
    signs = np.stack([np.maximum(L, 0), np.maximum(-L, 0)]) + slack / (2 * len(L))
    own = asked.goal.of(draft.row_squares) * draft.sensitivities[0] ** 2
    assert objective.total(1e4 * signs)[0] == pytest.approx(own, rel=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_a_start_is_as_good_as_the_draft_it_is_from(seed: int) -> None:
    """Some of whose columns are short, so that the best of two kinds at eight scales is."""
    asked = problem(ranges(8, 24, seed))
    draft = low_rank(asked, Search(seed=seed), noise="laplace", fallback=False)
    own = asked.goal.of(draft.row_squares) * draft.sensitivities[0] ** 2
    objective = Objective(asked.reduced.matrix)
    found = proposed(asked, (draft,))
    assert {"lrm", "lrm, columns kept"} <= set(found)
    errors = [objective.total(found[one])[0] for one in ("lrm", "lrm, columns kept")]
    assert min(errors) <= 1.01 * own


def test_rows_of_one_class_are_left_out() -> None:
    asked = problem(np.tri(6))
    L = np.vstack([3 * np.eye(6), np.tri(6)[2:]])
    draft = Draft("mine", (Part(asked.workload.cells, L, None, np.tri(6), is_exact=False),))
    found = theta(proposed(asked, (draft,))["mine"])
    assert found.shape == (4, 6)
    assert np.array_equal(found != 0, np.tri(6)[2:] != 0)


def test_no_start_is_far_above_noise_on_data_and_cells_alone_are_none() -> None:
    """Cells one by one: whatever else is measured costs more than it gives."""
    asked = problem(np.eye(40))
    draft = Draft(
        "mine", (Part(asked.workload.cells, np.ones((40, 40)), None, np.eye(40), is_exact=False),)
    )
    objective = Objective(asked.reduced.matrix)
    on_data = objective.total(np.zeros((2, 1, 40)))[0]
    for signs in proposed(asked, (draft,)).values():
        assert objective.total(signs)[0] < 1.5 * on_data
    assert "the queries" not in proposed(asked)


def test_a_start_is_at_the_best_of_its_scales() -> None:
    asked = problem(np.tri(16))
    objective = Objective(asked.reduced.matrix)
    for label, signs in proposed(asked).items():
        here, size = objective.total(signs)[0], signs.sum(axis=(0, 1)).max()
        for scale in (0.1, 1, 10, 100):
            assert here <= objective.total(signs * scale / size)[0] * (1 + 1e-12), label
