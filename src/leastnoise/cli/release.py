"""leastnoise release: a plan and counts in, private answers out."""

from pathlib import Path
from typing import Annotated

import typer

import leastnoise as ln
from leastnoise.cli.screen import screen
from leastnoise.data.files import read_counts
from leastnoise.records.folder import require_free


def release(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="Folder that leastnoise plan wrote.")
    ],
    counts: Annotated[
        Path,
        typer.Argument(metavar="COUNTS", help="An integer per cell: .npy, .npz or .csv."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the answers to.")],
) -> None:
    """Answer the queries of PLAN from COUNTS, once.

    Each run spends the promise again.
    """
    made = ln.load(plan)
    require_free(out)
    answered = made.release(read_counts(counts))
    answered.save(out)
    console = screen()
    console.print(str(answered))
    console.print(f"Written to {out}.")
