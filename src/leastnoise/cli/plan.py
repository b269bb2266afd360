"""leastnoise plan: queries and a promise in, a priced plan out."""

import json
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

import leastnoise as ln
from leastnoise.cli import options
from leastnoise.cli.progress import shown_progress
from leastnoise.cli.screen import screen
from leastnoise.data.files import read_weights, read_workload
from leastnoise.errors import InputError, PlanError
from leastnoise.records.folder import require_free
from leastnoise.records.planfile import MARK
from leastnoise.rehearsal.mwem import Rehearsal
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
    calibration: options.Calibration = "analytic",
    max_total: options.MaxTotal = 2**32,
    deadline: options.Deadline = None,
    seed: options.Seed = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="<name=value>", help="What the mechanism itself takes."),
    ] = None,
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
            calibration=calibration,
            max_total=max_total,
            deadline=deadline,
            callback=callback,
            seed=seed,
            **_settings(setting or []),
        )
    if isinstance(made, Rehearsal):
        raise PlanError("mechanism 'mwem' is a rehearsal, not a plan; see compare --counts")
    if out is not None:
        made.save(out)  # before a closed pipe can end the run
    console = screen()
    console.print(made.summary())
    if verbose:
        console.print(f"\n{accuracy_table(made)}\n\n{candidate_table(made.candidates)}\n")
    if out is not None:
        console.print(f"  written    {out}")


def _settings(given: list[str]) -> dict[str, Any]:
    """branching=4, relaxed=true: numbers and truth values as in JSON, anything else as text."""
    return dict(_setting(one) for one in given)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals):
        raise InputError(f"--set takes name=value, such as branching=4, not {text!r}")
    if name in signature(ln.plan).parameters:
        raise InputError(f"--set is for what a mechanism itself takes, not for {name}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
