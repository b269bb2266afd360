"""leastnoise plan: queries and a promise in, a priced plan out."""

from pathlib import Path
from typing import Annotated

import typer

import leastnoise as ln
from leastnoise.cli import options
from leastnoise.cli.progress import shown_progress
from leastnoise.cli.screen import screen
from leastnoise.data.files import read_weights, read_workload
from leastnoise.records.folder import require_free
from leastnoise.records.planfile import MARK
from leastnoise.show.tables import accuracy_table, candidate_table


def plan(
    workload: options.WorkloadFile,
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    rho: options.Rho = None,
    mechanism: options.Mechanism = "auto",
    noise: options.NoiseKind = "auto",
    objective: options.Objective = "total",
    weights: options.Weights = None,
    max_rows: options.MaxRows = 1,
    neighbors: options.Neighbors = "add_remove",
    max_total: options.MaxTotal = 2**32,
    deadline: options.Deadline = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write the plan to.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also every query and every candidate.")
    ] = False,
) -> None:
    """Find the most accurate strategy for the queries in W.

    It is priced too, and needs no data for that.
    """
    if out is not None:
        require_free(out, MARK)
    with shown_progress() as callback:
        made = ln.plan(
            read_workload(workload),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mechanism=mechanism,
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
    if out is not None:
        made.save(out)  # before a closed pipe can end the run
    console = screen()
    console.print(made.summary())
    if verbose:
        console.print(f"\n{accuracy_table(made)}\n\n{candidate_table(made.candidates)}\n")
    if out is not None:
        console.print(f"  written    {out}")
