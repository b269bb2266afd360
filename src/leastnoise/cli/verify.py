"""leastnoise verify: a release folder checked by itself."""

from pathlib import Path
from typing import Annotated

import typer

import leastnoise as ln
from leastnoise.cli.screen import screen


def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that leastnoise release wrote.")
    ],
) -> None:
    """Check the release in DIR, from DIR alone.

    Everything in it that follows from something else is computed anew. Prints what was checked, or
    refuses at the first thing that does not hold.
    """
    screen().print(str(ln.verify(folder)))
