"""leastnoise compare: every mechanism side by side."""

import leastnoise as ln
from leastnoise.cli import options
from leastnoise.cli.progress import shown_progress
from leastnoise.cli.screen import screen
from leastnoise.data.files import read_weights, read_workload


def compare(
    workload: options.WorkloadFile,
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    rho: options.Rho = None,
    noise: options.NoiseKind = "auto",
    objective: options.Objective = "total",
    weights: options.Weights = None,
    max_rows: options.MaxRows = 1,
    neighbors: options.Neighbors = "add_remove",
    max_total: options.MaxTotal = 2**32,
    deadline: options.Deadline = None,
    seed: options.Seed = 0,
) -> None:
    """Price every mechanism for the queries in W, best first.

    The last line is a bound that none can beat.
    """
    with shown_progress() as callback:
        result = ln.compare(
            read_workload(workload),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            noise=noise,
            objective=objective,
            weights=None if weights is None else read_weights(weights),
            max_rows=max_rows,
            neighbors=neighbors,
            max_total=max_total,
            deadline=deadline,
            callback=callback,
            seed=seed,
        )
    screen().print(str(result))
