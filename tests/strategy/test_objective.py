"""The total of the variances and its gradient, in both forms, with both signs and with one."""

from typing import Any

import array_api_strict
import numpy as np
import pytest

from leastnoise.strategy.objective import Objective

ROWS = pytest.mark.parametrize("rows", [2, 3, 9])
"""Over 6 classes: without the Gram matrix of the columns, and twice with it."""


def strict(values: np.ndarray) -> Any:
    return array_api_strict.asarray(values)


def instance(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """W and (P, N) of four rows."""
    random = np.random.default_rng(seed)
    return random.standard_normal((rows, 6)), random.random((2, 4, 6))


def test_the_gram_matrix_is_made_where_it_saves_products() -> None:
    grams = [Objective(instance(rows)[0]).gram for rows in (2, 3, 9)]
    assert [gram is None for gram in grams] == [True, False, False]


@ROWS
@pytest.mark.parametrize("seed", range(3))
def test_the_total_is_the_loss_at_exponent_one(rows: int, seed: int) -> None:
    W, signs = instance(rows, seed)
    value, gradient = Objective(W).total(signs)
    loss = Objective(W).loss(signs, 1)
    assert value == pytest.approx(loss.value, rel=1e-12)
    assert gradient == pytest.approx(loss.gradient, rel=1e-9, abs=1e-11)


@ROWS
def test_p_alone_is_p_with_no_n(rows: int) -> None:
    W, signs = instance(rows)
    signs[1] = 0
    both, alone = Objective(W).total(signs), Objective(W).total(signs[:1])
    assert alone[1].shape == (1, 4, 6)
    assert alone[0] == pytest.approx(both[0], rel=1e-12)
    assert alone[1] == pytest.approx(both[1][:1], rel=1e-12)


@ROWS
@pytest.mark.parametrize("parts", [1, 2])
def test_the_gradient_is_that_of_finite_differences(rows: int, parts: int) -> None:
    W, signs = instance(rows)
    signs = signs[:parts]
    gradient = Objective(W).total(signs)[1]
    for where in np.ndindex(*signs.shape):
        step = np.zeros_like(signs)
        step[where] = 1e-6
        up, down = (Objective(W).total(signs + sign * step)[0] for sign in (1, -1))
        assert gradient[where] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)


@ROWS
def test_the_total_is_what_numpy_inverts(rows: int) -> None:
    """L = [I; P − N]·diag(1/d), written out."""
    W, signs = instance(rows)
    L = np.vstack([np.eye(6), signs[0] - signs[1]]) / (1 + signs.sum(axis=(0, 1)))
    assert Objective(W).total(signs)[0] == pytest.approx(
        np.square(W @ np.linalg.pinv(L)).sum(), rel=1e-10
    )


@ROWS
@pytest.mark.parametrize("parts", [1, 2])
def test_arrays_of_the_standard_give_the_same_total(rows: int, parts: int) -> None:
    W, signs = instance(rows)
    (ours, slope), (theirs, other) = (
        Objective(matrix).total(signs[:parts]) for matrix in (W, strict(W))
    )
    assert theirs == pytest.approx(ours, rel=1e-10)
    assert type(other) is np.ndarray
    assert other == pytest.approx(slope, rel=1e-8, abs=1e-10)
