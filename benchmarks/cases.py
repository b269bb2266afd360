"""Runs that need a process of their own: a set number of threads, a peak memory that is theirs.

python -m benchmarks.cases NAME ARGUMENTS…      prints one line of JSON
"""

import json
import os
import resource
import subprocess
import sys
from time import perf_counter
from typing import Any

import numpy as np

import leastnoise as ln
from benchmarks import recompute
from benchmarks.workloads import family, tree


def in_process(name: str, *arguments: object, threads: int = 1) -> dict[str, Any]:
    """The case's result, run alone with so many BLAS threads."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    command = [sys.executable, "-m", "benchmarks.cases", name, *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | limits, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def gaussian(name: str, m: str, n: str, seed: str) -> dict[str, float]:
    """Plan one family; then repeat the solver's products and eigendecompositions bare."""
    W = family(name, int(m), int(n), int(seed))
    steps: list[int] = []
    started = perf_counter()
    plan = ln.plan(W, rho="1/2", callback=lambda progress: steps.append(progress.step))
    seconds = perf_counter() - started
    bare = _bare_seconds(plan, len(steps))
    return {"gap": recompute.gap(plan), "seconds": seconds, "bare": bare, "steps": len(steps)}


def _bare_seconds(plan: ln.Plan, steps: int) -> float:
    """Seconds for `steps` × (Gram product, eigendecomposition, product) at the solver's sizes."""
    rank, classes = plan.strategy.blocks[0].L.shape
    matrix = np.random.default_rng(0).standard_normal((rank, classes))
    started = perf_counter()
    for _ in range(steps):
        kernel = matrix @ matrix.T
        _, vectors = np.linalg.eigh(kernel)
        vectors @ matrix
    return perf_counter() - started


def laplace(name: str, m: str, n: str, seed: str) -> dict[str, float]:
    """Plan one family for pure ε."""
    W = family(name, int(m), int(n), int(seed))
    started = perf_counter()
    plan = ln.plan(W, epsilon=1)
    seconds = perf_counter() - started
    return {"error": recompute.unit_error(plan, norm=1), "seconds": seconds}


def worst(name: str, m: str, n: str, seed: str) -> dict[str, float]:
    """Plan one family for its worst query."""
    W = family(name, int(m), int(n), int(seed))
    started = perf_counter()
    plan = ln.plan(W, rho="1/2", objective="worst")
    return {"seconds": perf_counter() - started, "gap": recompute.gap(plan)}


def worst_prefixes(n: str) -> dict[str, float]:
    """γ₂ of prefix sums, from both sides."""
    plan = ln.plan(ln.prefixes(int(n)), rho="1/2", objective="worst")
    lower, achieved = recompute.unit_bound(plan) ** 0.5, recompute.unit_error(plan) ** 0.5
    return {"lower": lower, "achieved": achieved}


def large(kind: str, seed: str) -> dict[str, float]:
    """1024 × 8192, whole: seconds, gap and this process's peak memory."""
    rng = np.random.default_rng(int(seed))
    if kind == "normal":
        W = rng.standard_normal((1024, 8192))
    else:
        W = family("WDiscrete", 1024, 8192, int(seed))
    started = perf_counter()
    plan = ln.plan(W, rho="1/2")
    seconds = perf_counter() - started
    peak = _peak_megabytes()  # before the recomputation takes its own memory
    return {"gap": recompute.gap(plan), "seconds": seconds, "peak": peak, "W": W.nbytes / 2**20}


def many_ranges(seed: str) -> dict[str, float]:
    """1,000 ranges over a million cells."""
    ends = np.sort(np.random.default_rng(int(seed)).integers(0, 10**6, (1000, 2)), axis=1)
    started = perf_counter()
    plan = ln.plan(ln.ranges(10**6, ends), rho="1/2")
    seconds = perf_counter() - started
    return {"seconds": seconds, "peak": _peak_megabytes(), "gap": recompute.gap(plan)}


def tree_release(leaves: str) -> dict[str, float]:
    """A release of a planned tree: every node measured on its own."""
    plan = ln.plan(tree(int(leaves)), epsilon=1, mechanism="nor")
    counts = np.arange(int(leaves))
    started = perf_counter()
    release = plan.release(counts)
    seconds = perf_counter() - started
    off = np.abs(release.answers - plan.workload.matrix @ counts) / release.std
    return {"seconds": seconds, "rows": len(release.answers), "off": float(off.max())}


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    case, *given = sys.argv[1:]
    print(json.dumps(globals()[case](*given)))
