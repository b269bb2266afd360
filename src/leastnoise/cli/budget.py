"""leastnoise budget: make a ledger's budgets, and see what is left of them."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from leastnoise.cli import options
from leastnoise.cli.screen import screen
from leastnoise.records import ledger
from leastnoise.release.privacy import promise
from leastnoise.show.budget import budget_text, statement_table
from leastnoise.show.text import promise_text

_SHOW = "show"


class _ShowUnlessToldOtherwise(TyperGroup):
    """leastnoise budget FILE is leastnoise budget show FILE."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        if not arguments or arguments[0] not in (*self.commands, *context.help_option_names):
            arguments = [_SHOW, *arguments]
        return super().parse_args(context, arguments)


budget = typer.Typer(
    cls=_ShowUnlessToldOtherwise,
    name="budget",
    help="Show what is spent and left in FILE, or create a budget.",
    subcommand_metavar="FILE | create FILE",
    rich_markup_mode=None,
)

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger, an SQLite file.")]


@budget.command()
def create(
    file: _File,
    dataset: Annotated[
        str, typer.Option(metavar="<name>", help="Name of the people that it protects.")
    ],
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    rho: options.Rho = None,
    max_rows: options.MaxRows = 1,
    neighbors: options.Neighbors = "add_remove",
) -> None:
    """Give a dataset a budget, in a new ledger or in one that lacks it.

    It cannot be changed afterwards. Nothing else makes a ledger.
    """
    promised = promise(epsilon, delta, rho, max_rows, neighbors)
    ledger.create(file, dataset, promised)
    screen().print(f"{budget_text(dataset, promise_text(promised, 'laplace'))}; kept in {file}")


@budget.command(_SHOW, hidden=True)
def show(file: _File) -> None:
    """Show what is spent and left of every budget in FILE, release by release."""
    console = screen()
    for statement in ledger.statements(file):
        console.print(f"{statement_table(statement)}\n")
    console.print(f"{file} ends with entry {ledger.last_hash(file)};")
    console.print("noted elsewhere, that tells this ledger from an older copy of it.")
