"""The whole path on numeric input: proven Gaussian optima, their cost, figures by hand."""

from collections.abc import Iterator
from math import comb

import numpy as np

import leastnoise as ln
from benchmarks import recompute
from benchmarks.cases import in_process
from benchmarks.rows import Row, at_most, close_to, gap_at_most
from benchmarks.workloads import FAMILIES, family, marginals

SIZES = (128, 512, 1024, 4096, 8192)
EXAMPLE_1 = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
EXAMPLE_2 = np.array([[0, 2, 1, 1], [0, 1, 0, 2], [1, 0, 2, 2]])


def optimum(seed: int) -> Iterator[Row]:
    """m = 256, four families, five domain sizes, one thread."""
    seconds = bare = 0.0
    for n in SIZES:
        for name in FAMILIES:
            got = in_process("gaussian", name, 256, n, seed)
            yield gap_at_most(f"{name} 256 x {n}: Gaussian gap", 1e-4, got["gap"])
            yield at_most(f"{name} 256 x {n}: one thread", 12, got["seconds"], " s")
            seconds, bare = seconds + got["seconds"], bare + got["bare"]
    yield at_most("all of these: time / bare products and eigh", 2.5, seconds / bare)


def large(seed: int) -> Iterator[Row]:
    """m = 1024, n = 8192, two threads, in bounded memory."""
    for kind in ("normal", "WDiscrete"):
        got = in_process("large", kind, seed, threads=2)
        limit = 3 * got["W"] + 300
        yield gap_at_most(f"{kind} 1024 x 8192: Gaussian gap", 1e-3, got["gap"])
        yield at_most(f"{kind} 1024 x 8192: two threads", 120, got["seconds"], " s")
        yield at_most(f"{kind} 1024 x 8192: peak memory", limit, got["peak"], " MB")


def million(seed: int) -> Iterator[Row]:
    """1,000 random ranges over 10⁶ cells."""
    got = in_process("many_ranges", seed)
    yield at_most("1,000 ranges over 10^6 cells: plan", 20, got["seconds"], " s")
    yield at_most("1,000 ranges over 10^6 cells: peak memory", 1024, got["peak"], " MB")
    yield gap_at_most("1,000 ranges over 10^6 cells: Gaussian gap", 1e-4, got["gap"])


def by_hand(seed: int) -> Iterator[Row]:
    """The examples of the paper's introduction, at ε = 1."""
    one = {name: ln.plan(EXAMPLE_1, epsilon=1, mechanism=name) for name in ("nor", "nod")}
    two = {name: ln.plan(EXAMPLE_2, epsilon=1, mechanism=name) for name in ("nor", "nod")}
    yield close_to("example 1: noise on results", 24, one["nor"].expected_error)
    by_cell = 2.0 * float((EXAMPLE_1**2).sum())  # a plan always merges cells first
    yield close_to("example 1: noise on data, cell by cell", 16, by_cell)
    yield close_to("example 1: noise on data, merged cells", 8, one["nod"].expected_error)
    yield close_to("example 2: noise on results", 150, two["nor"].expected_error)
    yield close_to("example 2: noise on data", 40, two["nod"].expected_error)
    best = ln.plan(EXAMPLE_2, rho="1/2")
    error = recompute.unit_error(best)
    yield close_to("example 2: Gaussian optimum at sigma 1", 15.6427, error, relative=1e-5)
    yield gap_at_most("example 2: Gaussian gap", 1e-4, recompute.gap(best))


def all_marginals(seed: int) -> Iterator[Row]:
    """By symmetry the uniform q is optimal, so the first step must end the search."""
    for sizes, ways in (((4,) * 5, 2), ((4,) * 5, 3), ((2,) * 10, 2), ((10, 7, 4, 2), 2)):
        steps: list[int] = []
        plan = ln.plan(
            marginals(sizes, ways),
            rho="1/2",
            max_total=10**6,
            callback=lambda progress, steps=steps: steps.append(progress.step),
        )
        label = f"{comb(len(sizes), ways)} {ways}-way marginals of {'x'.join(map(str, sizes))}"
        yield gap_at_most(f"{label}: gap", 1e-9, recompute.gap(plan))
        yield at_most(f"{label}: steps", 1, len(steps))


def exactness(seed: int) -> Iterator[Row]:
    """Integer workloads are rebuilt exactly from what is measured."""
    for name in ("WDiscrete", "WRange", "WMarginal"):
        plan = ln.plan(family(name, 256, 1024, seed), epsilon=1, delta="1e-6", noise="gaussian")
        yield at_most(f"{name} 256 x 1024: max|W - B L_q|", 1e-9, recompute.misfit(plan))


def release(seed: int) -> Iterator[Row]:
    """A planned tree of 8,191 nodes over 4,096 cells."""
    got = in_process("tree_release", 4096)
    yield at_most(f"release of a {got['rows']:.0f} x 4096 tree", 5, got["seconds"], " s")
    yield at_most("its farthest answer, in standard errors", 12, got["off"])


SECTIONS = (by_hand, all_marginals, exactness, release, million, optimum, large)
