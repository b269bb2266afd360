"""leastnoise release: a plan and counts in, private answers out."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import leastnoise as ln
from leastnoise.data.files import read_counts
from leastnoise.records.folder import require_free
from leastnoise.show.tables import answer_table


def release(
    plan: Annotated[Path, typer.Argument(help="Folder that leastnoise plan wrote.")],
    counts: Annotated[
        Path, typer.Argument(help="Counts, an integer per cell: .npy, .npz or .csv.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the answers to.")],
) -> None:
    """Answer the plan's queries from the counts, once. Each run spends the promise again."""
    made = ln.load(plan)
    require_free(out)
    answered = made.release(read_counts(counts))
    answered.save(out)
    console = Console(highlight=False)
    console.print(answer_table(answered))
    console.print(
        f"Written to {out}. Unaccounted: no ledger keeps count of what this release spent.",
        markup=False,
        soft_wrap=True,
    )
