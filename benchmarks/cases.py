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
import scipy.sparse

import leastnoise as ln
from benchmarks import recompute
from benchmarks.workloads import (
    all_ranges,
    family,
    identity_and_total,
    marginals,
    tree,
    windows,
)

OTHERS = ("nod", "nor", "wavelet", "hierarchical", "marginals", "am")
"""Mechanisms for Laplace noise that need no long search."""


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


def laplace(name: str, m: str, n: str, seed: str, deadline: str = "60") -> dict[str, float]:
    """Plan one family for pure ε, in so many seconds of search."""
    W = family(name, int(m), int(n), int(seed))
    started = perf_counter()
    plan = ln.plan(W, epsilon=1, deadline=float(deadline))
    seconds = perf_counter() - started
    return {"error": recompute.unit_error(plan, norm=1), "seconds": seconds}


def pure(name: str, m: str, n: str, seed: str) -> dict[str, float]:
    """Plan one family for pure ε with all its starts, and recompute its error and bound."""
    return _priced(family(name, int(m), int(n), int(seed)))


def pure_structured(name: str, n: str) -> dict[str, float]:
    """The same for ranges or prefixes."""
    return _priced(ln.prefixes(int(n)) if name == "prefixes" else all_ranges(int(n)))


def _priced(W: Any) -> dict[str, float]:
    started = perf_counter()
    plan = ln.plan(W, epsilon=1)
    seconds, peak = perf_counter() - started, _peak_megabytes()
    size = plan.workload.shape[0] * plan.workload.shape[1] * 8 / 2**20
    return {
        "error": recompute.unit_error(plan, norm=1),
        "bound": recompute.unit_bound(plan),
        "seconds": seconds,
        "peak": peak,
        "W": size,
    }


def pure_own(kind: str, size: str, more: str, seed: str) -> dict[str, Any]:
    """The automatic plan beside the best of the others."""
    return _beside_others(_own_workload(kind, size, more, int(seed)))


def pure_seed(name: str, m: str, n: str, seed: str) -> dict[str, Any]:
    return _beside_others(family(name, int(m), int(n), int(seed)))


def _beside_others(W: np.ndarray) -> dict[str, Any]:
    got = _priced(W)
    others = {name: _alone(W, name) for name in OTHERS}
    best = min(others, key=lambda name: others[name])
    return got | {"best": others[best], "best_name": best}


def _alone(W: np.ndarray, mechanism: str) -> float:
    return recompute.unit_error(ln.plan(W, epsilon=1, mechanism=mechanism), norm=1)


def _own_workload(kind: str, size: str, more: str, seed: int) -> np.ndarray:
    sizes = tuple(map(int, size.split(",")))
    if kind == "windows":
        return windows(sizes[0], int(more))
    if kind == "identity_and_total":
        return identity_and_total(sizes[0])
    if kind == "marginals":
        return np.vstack([marginals(sizes, int(ways)) for ways in more.split(",")])
    ranges = family("WRange", int(more), int(np.prod(sizes)), seed)
    return np.vstack([marginals(sizes, 2), ranges])


def pure_reached(name: str, m: str, n: str, figure: str, seed: str) -> dict[str, float]:
    """Seconds from the call of `plan` until a search for Laplace noise has this figure."""
    reached: list[float] = []
    started = perf_counter()

    def hear(progress: Any) -> None:
        if progress.mechanism == "augmented" and progress.achieved <= float(figure):
            reached.append(perf_counter() - started)

    ln.plan(family(name, int(m), int(n), int(seed)), epsilon=1, callback=hear)
    return {"reached": reached[0] if reached else float("inf")}


def low_rank(name: str, m: str, n: str, seed: str) -> dict[str, float]:
    """LRM without fallback: relaxed, for the misfit at which it stopped; and closed to W = BL."""
    W = family(name, int(m), int(n), int(seed))
    noises = {"pure": {"epsilon": 1}, "delta": {"rho": "1/2"}}
    own: dict[str, Any] = {"mechanism": "lrm", "fallback": False}
    got: dict[str, float] = {}
    for kind, promise in noises.items():
        relaxed = ln.plan(W, relaxed=True, max_total=2**20, **own, **promise)
        got[f"{kind}_misfit"] = recompute.misfit_norm(relaxed)
    started = perf_counter()
    closed = ln.plan(W, **own, **noises["pure"])
    got["seconds"] = perf_counter() - started
    got["pure"] = recompute.unit_error(closed, norm=1)
    error = recompute.unit_error(ln.plan(W, **own, **noises["delta"]))
    return got | {"delta_ratio": error / recompute.unit_bound(ln.plan(W, rho="1/2"))}


def long_domain(mechanism: str, seed: str) -> dict[str, float]:
    """200 sparse queries over 10⁵ cells."""
    W = scipy.sparse.random_array((200, 10**5), density=0.02, rng=int(seed), format="csr")
    W.data[:] = 1
    started = perf_counter()
    plan = ln.plan(W, epsilon=1, mechanism=mechanism)
    return {"seconds": perf_counter() - started, "classes": plan.workload.classes}


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
