"""Options that several verbs share. Lists of names come from where the names are defined."""

from pathlib import Path
from typing import Annotated

import typer

from leastnoise.release.privacy import CALIBRATIONS, NEIGHBORS
from leastnoise.strategy.choose import MECHANISMS
from leastnoise.strategy.goal import OBJECTIVES


def _one_of(*names: str) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}."


_NUMBER = "<number>"  # as text, so that 0.1 and 1/3 stay exact

WorkloadFile = Annotated[
    Path, typer.Argument(metavar="W", help="Queries x cells: .npy, .npz (also sparse) or .csv.")
]
Epsilon = Annotated[
    str | None, typer.Option(metavar=_NUMBER, help="Privacy budget ε, such as 1, 0.1 or 1/3.")
]
Delta = Annotated[
    str, typer.Option(metavar=_NUMBER, help="δ of (ε, δ); 0 is pure differential privacy.")
]
Rho = Annotated[
    str | None, typer.Option(metavar=_NUMBER, help="Budget ρ of zero-concentrated privacy, for ε.")
]
Mechanism = Annotated[str, typer.Option(help=_one_of("auto", *MECHANISMS, "mwem"))]
NoiseKind = Annotated[str, typer.Option("--noise", help="auto, laplace or gaussian.")]
Objective = Annotated[str, typer.Option(help=f"Error to make small: {_one_of(*OBJECTIVES)}")]
Weights = Annotated[
    Path | None, typer.Option(help="File with a weight per query, on its squared error.")
]
MaxRows = Annotated[int, typer.Option(help="Records that one person may have.")]
Neighbors = Annotated[str, typer.Option(help=_one_of(*NEIGHBORS))]
Calibration = Annotated[str, typer.Option(help=f"Of Gaussian noise: {_one_of(*CALIBRATIONS)}")]
MaxTotal = Annotated[int, typer.Option(help="The most records the table can have.")]
Deadline = Annotated[float | None, typer.Option(help="Seconds to search at most.")]
Seed = Annotated[int, typer.Option(help="Of the random starts of a search, never of noise.")]
