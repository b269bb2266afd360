"""leastnoise release: a plan and counts in, private answers out."""

from pathlib import Path
from typing import Annotated

import typer

from leastnoise.cli.screen import screen
from leastnoise.records.folder import require_free
from leastnoise.records.planfile import load


def release(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="Folder that leastnoise plan wrote.")
    ],
    counts: Annotated[
        Path,
        typer.Argument(metavar="COUNTS", help="An integer per cell: .npy, .npz or .csv."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the answers to.")],
    ledger: Annotated[
        Path | None, typer.Option(metavar="<file>", help="Ledger that is charged first.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="<name>", help="Dataset in the ledger, if it has several."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="<text>", help="Name of this release; the same again is free."),
    ] = None,
) -> None:
    """Answer the queries of PLAN from COUNTS, once.

    With a ledger the promise is charged before COUNTS is opened, and the same id again gives
    the same answers without opening it. Without one each run spends the promise again.
    """
    made = load(plan)
    require_free(out)
    answered = made.release(counts, ledger=ledger, id=id, dataset=dataset)
    answered.save(out)
    console = screen()
    console.print(str(answered))
    console.print(f"Written to {out}.")
