"""Families by name against the matrices they stand for, written out cell by cell."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workloads import range_ends

import leastnoise as ln
from leastnoise.errors import InputError, TooLargeError

ENDS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).map(
                lambda pair: tuple(sorted(pair))
            ),
            min_size=1,
            max_size=6,
        ),
    )
)


@given(ENDS)
@settings(deadline=None)
def test_ranges_are_one_between_their_ends(case: tuple[int, list[tuple[int, int]]]) -> None:
    n, ends = case
    written_out = [[1.0 if a <= cell <= b else 0.0 for cell in range(n)] for a, b in ends]
    workload = ln.ranges(n, ends)
    assert workload.dense().tolist() == written_out
    assert workload.classes == ln.Workload(written_out).classes
    assert workload.classes <= 2 * len(ends) - 1


@pytest.mark.parametrize("n", [1, 2, 7])
def test_prefixes_and_identity(n: int) -> None:
    triangle = [[1.0 if cell <= i else 0.0 for cell in range(n)] for i in range(n)]
    square = [[1.0 if cell == i else 0.0 for cell in range(n)] for i in range(n)]
    assert ln.prefixes(n).dense().tolist() == triangle
    assert ln.identity(n).dense().tolist() == square


def test_names_say_which_cells() -> None:
    assert ln.ranges(9, [(0, 3), (2, 2)]).names == ("cells 0-3", "cells 2-2")
    assert ln.ranges(9, [(0, 3), (0, 3)]).names == ("q1", "q2")
    assert ln.ranges(9, [(0, 3)], names=["young"]).names == ("young",)
    assert ln.prefixes(2).names == ("cells 0-0", "cells 0-1")
    assert ln.identity(2).names == ("cell 0", "cell 1")


def test_ranges_over_a_million_cells_are_small() -> None:
    ends = range_ends(100, 10**6)
    tracemalloc.start()
    try:
        workload = ln.ranges(10**6, ends)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert workload.shape == (100, 10**6)
    assert workload.classes <= 199
    assert most < 60e6  # written out it would be 800 MB
    first, last = ends[17]
    row = workload.matrix[17, workload.cells] * (workload.cells >= 0)
    assert np.flatnonzero(row).tolist() == list(range(first, last + 1))


@pytest.mark.parametrize("n", [0, -3, 2.0, True, "5", None, np.inf])
def test_n_is_a_positive_integer(n: object) -> None:
    for family in (ln.identity, ln.prefixes, lambda size: ln.ranges(size, [(0, 0)])):
        with pytest.raises(InputError, match=r"^n must be a whole number of cells"):
            family(n)


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ([(3, 2)], r"ends\[0\] is \(3, 2\); ranges need 0 <= first <= last <= 9"),
        ([(0, 9), (0, 10)], r"ends\[1\] is \(0, 10\)"),
        ([(-1, 2)], r"ends\[0\] is \(-1, 2\)"),
        ([(0.0, 2.5)], "ends must be whole numbers"),
        ([("a", "b")], "ends must be whole numbers"),
        ([(False, True)], "ends must be whole numbers"),
        ([(0, 1, 2)], r"ends must have a row \(first, last\)"),
        ([0, 1], r"ends must have a row \(first, last\)"),
        ([], r"ends must have a row \(first, last\)"),
        ([(0, 2**63)], "ends"),
        ([(0, 1), (2,)], r"ends must have a row \(first, last\)"),
    ],
)
def test_bad_ends_are_named(ends: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ln.ranges(10, ends)


def test_families_that_would_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leastnoise.memory.free_bytes", lambda: 2**20)
    with pytest.raises(TooLargeError, match=r"prefixes\(1000\) needs about"):
        ln.prefixes(1000)
    with pytest.raises(TooLargeError, match=r"300 ranges over \d+ classes needs about"):
        ln.ranges(10**5, range_ends(300, 10**5))
    ln.identity(10**5)
