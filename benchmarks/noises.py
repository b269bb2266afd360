"""Both noises, the worst query, and intervals that hold the truth as often as they say."""

from collections.abc import Iterator

import numpy as np

import leastnoise as ln
from benchmarks import recompute
from benchmarks.cases import in_process
from benchmarks.rows import Row, at_least, at_most, gap_at_most, within
from benchmarks.spine import EXAMPLE_2
from benchmarks.workloads import FAMILIES

LAPLACE = {"WDiscrete": 37_300, "WRange": 10_600, "WMarginal": 16_384, "WRelated": 3.365e7}
"""‖B‖²_F at Δ₁ = 1 to be reached at 256 x 1024, seed 0."""

RELEASES = 10_000
CONFIDENCES = (0.9, 0.95, 0.99)


def laplace(seed: int) -> Iterator[Row]:
    """Pure ε: ‖B‖²_F at Δ₁ = 1, on one thread."""
    for name, limit in LAPLACE.items():
        got = in_process("laplace", name, 256, 1024, seed, 10)
        yield at_most(f"{name} 256 x 1024: Laplace |B|^2 at Delta_1 = 1", limit, got["error"])
    got = in_process("laplace", "WRange", 256, 8192, seed, 2)
    yield at_most("WRange 256 x 8192: Laplace |B|^2 at Delta_1 = 1", 11_700, got["error"])
    yield at_most("WRange 256 x 8192, deadline=2: one thread", 3, got["seconds"], " s")
    best = ln.plan(EXAMPLE_2, epsilon=1)
    error = 2 * recompute.unit_error(best, norm=1)
    yield at_most("example 2: Laplace error at epsilon = 1", 38.01, error)


def worst(seed: int) -> Iterator[Row]:
    """The largest variance: proven optima for Gaussian noise, on one thread."""
    for name in FAMILIES:
        got = in_process("worst", name, 256, 1024, seed)
        yield gap_at_most(f"{name} 256 x 1024: worst-query gap", 1e-3, got["gap"])
        yield at_most(f"{name} 256 x 1024: worst query, one thread", 10, got["seconds"], " s")
    got = in_process("worst_prefixes", 1024)
    yield at_least("1024 prefixes: gamma_2 lower bound", 2.961, got["lower"])
    yield at_most("1024 prefixes: gamma_2 achieved", 2.963, got["achieved"])


def choice(seed: int) -> Iterator[Row]:
    """With δ both noises are planned; for counts alone Laplace is the quieter one."""
    plan = ln.plan(np.eye(100), epsilon=1, delta=1e-6)
    is_laplace = plan.noise == "laplace"
    yield Row("identity at (1, 1e-6): noise", "laplace", plan.noise, is_laplace)
    bound = 2 * recompute.unit_bound(plan)
    achieved = 2 * recompute.unit_error(plan, norm=1)
    yield at_most("identity at (1, 1e-6): bound / achieved", 1, bound / achieved)


def coverage(seed: int) -> Iterator[Row]:
    """10,000 real releases: how often single- and many-term answers fall into their intervals.

    Within four standard deviations of a share, √(c(1 − c)/10,000): by chance 1 in 16,000.
    """
    queries = np.vstack([np.eye(24), np.tril(np.ones((24, 24)))])
    counts = np.arange(24) * 5
    for kind, promise in (("laplace", {"epsilon": 1}), ("gaussian", {"rho": "1/2"})):
        plan = ln.plan(queries, mechanism="nod", **promise)
        errors = _errors(plan, counts, queries @ counts)
        for query, terms in ((0, 1), (47, 24)):
            for confidence in CONFIDENCES:
                half = _half_width(plan, counts, confidence)[query]
                held = float(np.mean(np.abs(errors[:, query]) <= half))
                slack = 4 * np.sqrt(confidence * (1 - confidence) / RELEASES)
                label = f"{kind}, {terms} term{'s' * (terms > 1)}: coverage of {confidence:.0%}"
                yield within(label, confidence, float(slack), held)


def _errors(plan: ln.Plan, counts: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.array([plan.release(counts).answers - truth for _ in range(RELEASES)])


def _half_width(plan: ln.Plan, counts: np.ndarray, confidence: float) -> np.ndarray:
    low, high = plan.release(counts).interval(confidence)
    return (high - low) / 2


SECTIONS = (laplace, worst, choice, coverage)
