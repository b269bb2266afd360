"""Plans of torch tensors, on a GPU where there is one: a row per stage, seconds beside a bare loop.

python -m benchmarks.device [--queries 4096] [--cells 65536] [--plan]
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
import torch

import leastnoise as ln
from leastnoise.strategy.ascent import Search, ascend
from leastnoise.strategy.gaussian import Total, lower_bound

GAP = 1e-4


def main() -> None:
    """Solve one WRelated workload of rank min(queries, cells)/2 and print where the time goes."""
    parser = argparse.ArgumentParser(prog="benchmarks.device", description=__doc__)
    parser.add_argument("--queries", type=int, default=4096)
    parser.add_argument("--cells", type=int, default=65536)
    parser.add_argument("--plan", action="store_true", help="also the whole of ln.plan")
    options = parser.parse_args()
    place = "cuda" if torch.cuda.is_available() else "cpu"
    print(
        f"{torch.cuda.get_device_name() if place == 'cuda' else 'CPU'}, torch {torch.__version__}"
    )
    rank = min(options.queries, options.cells) // 2
    rng = np.random.default_rng(0)
    left = torch.asarray(rng.standard_normal((options.queries, rank)), device=place)
    right = torch.asarray(rng.standard_normal((rank, options.cells)), device=place)
    matrix = torch.linalg.qr(left, mode="r")[1] @ right
    with timed("first use of the device"):
        ascend(Total(matrix[:, :64]).evaluate, (64,), Total.power, Search(most_steps=1))
        wait()
    solve(matrix)
    bare(matrix, "the plain update, bare")
    if options.plan:
        whole(left @ right)


def solve(matrix: Any) -> None:
    objective = Total(matrix)
    with timed(f"loop to a gap of {GAP}"):
        summit = ascend(objective.evaluate, objective.groups, Total.power, Search(gap=GAP))
        wait()
    with timed("certified bound"):
        bound = lower_bound(matrix, summit.highest.probabilities)
    print(f"{summit.steps} steps, gap {summit.lowest.achieved / bound - 1:.2e}")


def bare(matrix: Any, label: str) -> None:
    """q ← q·(g/t)^p with one eigendecomposition and two products a step, nothing else."""
    q = torch.full_like(matrix[0], 1 / matrix.shape[1])
    steps, lower, power, eigh = 0, 0.0, 2.0, 0.0
    with timed(label):
        while True:
            scaled = matrix * torch.sqrt(q)
            kernel = scaled @ scaled.T
            wait()
            started = perf_counter()
            values, vectors = torch.linalg.eigh(kernel)
            wait()
            eigh += perf_counter() - started
            values = values.clip(min=1e-13 * float(values[-1]))
            root = (vectors * values**-0.25) @ vectors.T
            g = ((root @ matrix) ** 2).sum(dim=0)
            t = float(torch.sqrt(values).sum())
            steps, lower = steps + 1, max(lower, t * t)
            if t * float(g.max()) / lower - 1 <= GAP or steps == 500:
                break
            q = q * (g / t) ** power
            q = q / q.sum()
    print(f"{steps} steps, {eigh:.2f} s in eigendecompositions")


def whole(queries: Any) -> None:
    with timed("ln.plan, from the tensor to priced integers"):
        plan = ln.plan(queries, rho="1/2", mechanism="optimal")
    print(f"gap {plan.certificate.gap:.2e}")


@contextmanager
def timed(label: str) -> Iterator[None]:
    """Print how long the block took, the device's work included."""
    started = perf_counter()
    yield
    wait()
    print(f"{label:<48} {perf_counter() - started:8.2f} s", flush=True)


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
