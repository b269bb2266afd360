"""leastnoise compare: every mechanism side by side."""

from rich.console import Console

import leastnoise as ln
from leastnoise.cli import options
from leastnoise.cli.progress import shown_progress
from leastnoise.data.files import read_weights, read_workload


def compare(
    workload: options.WorkloadFile,
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    rho: options.Rho = None,
    noise: options.NoiseKind = "auto",
    weights: options.Weights = None,
    max_rows: options.MaxRows = 1,
    neighbors: options.Neighbors = "add_remove",
    deadline: options.Deadline = None,
) -> None:
    """Price the queries in W under every mechanism and noise, best first, beside the bound."""
    with shown_progress() as callback:
        result = ln.compare(
            read_workload(workload),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            noise=noise,
            weights=None if weights is None else read_weights(weights),
            max_rows=max_rows,
            neighbors=neighbors,
            deadline=deadline,
            callback=callback,
        )
    Console(soft_wrap=True, highlight=False).print(str(result), markup=False)
