"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

Epsilon = Annotated[str | None, typer.Option(help="Privacy budget ε, such as 1, 0.1 or 1/3.")]
Delta = Annotated[str, typer.Option(help="δ of (ε, δ); 0 is pure differential privacy.")]
Rho = Annotated[str | None, typer.Option(help="Budget ρ of zero-concentrated privacy, for ε.")]
NoiseKind = Annotated[str, typer.Option("--noise", help="auto, laplace or gaussian.")]
Weights = Annotated[
    Path | None, typer.Option(help="File with a weight per query, on its squared error.")
]
MaxRows = Annotated[int, typer.Option(help="Records that one person may have.")]
Neighbors = Annotated[str, typer.Option(help="add_remove or change_one.")]
MaxTotal = Annotated[int, typer.Option(help="The most records the table can have.")]
Deadline = Annotated[float | None, typer.Option(help="Seconds to search at most.")]
WorkloadFile = Annotated[
    Path, typer.Argument(metavar="W", help="Queries x cells: .npy, .npz (also sparse) or .csv.")
]
