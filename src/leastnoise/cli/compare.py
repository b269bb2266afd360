"""leastnoise compare: every mechanism side by side."""

from pathlib import Path
from typing import Annotated

import typer

import leastnoise as ln
from leastnoise.cli import options
from leastnoise.cli.progress import shown_progress
from leastnoise.cli.screen import screen
from leastnoise.compare import BUDGET
from leastnoise.data.files import read_counts, read_weights, read_workload
from leastnoise.errors import InputError


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
    calibration: options.Calibration = "analytic",
    max_total: options.MaxTotal = 2**32,
    deadline: options.Deadline = None,
    seed: options.Seed = 0,
    budget: Annotated[
        float, typer.Option(help="Seconds for each mechanism; a slower one is listed, not run.")
    ] = BUDGET,
    counts: Annotated[
        Path | None, typer.Option(help="Public or made-up counts to rehearse MWEM on.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Price every mechanism for the queries in W, best first.

    The last line is a bound that none can beat.
    """
    if as_json and as_csv:
        raise InputError("give --json or --csv, not both")
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
            calibration=calibration,
            counts=None if counts is None else read_counts(counts),
            budget=budget,
            max_total=max_total,
            deadline=deadline,
            callback=callback,
            seed=seed,
        )
    if as_json:
        print(result.to_json())
    elif as_csv:
        print(result.to_csv(), end="")
    else:
        screen().print(str(result))
