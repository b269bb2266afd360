"""leastnoise plan: queries and a promise in, a priced plan out."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import leastnoise as ln
from leastnoise.cli import options
from leastnoise.cli.progress import shown_progress
from leastnoise.data.files import read_weights, read_workload
from leastnoise.records.folder import require_free
from leastnoise.records.planfile import MARK
from leastnoise.show.tables import accuracy_table, candidate_table


def plan(
    workload: options.WorkloadFile,
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    rho: options.Rho = None,
    mechanism: Annotated[str, typer.Option(help="auto, optimal, nod or nor.")] = "auto",
    noise: options.NoiseKind = "auto",
    weights: options.Weights = None,
    max_rows: options.MaxRows = 1,
    neighbors: options.Neighbors = "add_remove",
    max_total: options.MaxTotal = 2**32,
    deadline: options.Deadline = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write the plan to.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also every query and every candidate.")
    ] = False,
) -> None:
    """Find the most accurate strategy for the queries in W and price it, without any data."""
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
            weights=None if weights is None else read_weights(weights),
            max_rows=max_rows,
            neighbors=neighbors,
            max_total=max_total,
            deadline=deadline,
            callback=callback,
        )
    console = Console(soft_wrap=True, highlight=False)
    console.print(made.summary(), markup=False)
    if verbose:
        console.print(accuracy_table(made), candidate_table(made.candidates))
    if out is not None:
        made.save(out)
        console.print(f"  written    {out}", markup=False)
