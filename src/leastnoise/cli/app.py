"""The application: verbs, and what a person sees when something goes wrong."""

import sys
from io import TextIOWrapper
from typing import Any

import typer
from rich.console import Console

import leastnoise
from leastnoise.cli.budget import budget
from leastnoise.cli.compare import compare
from leastnoise.cli.demo import demo
from leastnoise.cli.experiment import experiment
from leastnoise.cli.plan import plan
from leastnoise.cli.release import release
from leastnoise.cli.verify import verify
from leastnoise.errors import LeastnoiseError

BAD_INPUT, INTERRUPTED = 2, 130

_UsageError: Any = typer.BadParameter.__base__  # typer does not export it by its name

app = typer.Typer(
    help="Answer a batch of counting queries under differential privacy, with the least noise.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (demo, plan, compare, release, experiment):
    app.command(verb.__name__)(verb)
app.add_typer(budget)
app.command(verify.__name__)(verify)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"leastnoise {leastnoise.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> int:
    """Run a verb and return its status; an error becomes one sentence on standard error."""
    _print_whatever_fits()
    try:
        status = app(prog_name="leastnoise", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except _UsageError as error:
        return _refuse(_usage(error))
    except LeastnoiseError as error:
        return _refuse(str(error))
    except MemoryError:
        return _refuse("memory ran out; ask fewer queries or cells")
    except OSError as error:
        place = error.filename or "standard output"
        return _refuse(f"{place} cannot be written or read: {error.strerror or error}")
    if status == INTERRUPTED:
        _say("interrupted; no folder was left half written")
    return status or 0


def _print_whatever_fits() -> None:
    """A character that a screen's encoding lacks, such as ε, is printed as its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _usage(error: Any) -> str:
    """Typer's complaint in our form, and where to read on."""
    complaint = error.format_message().rstrip(".")
    command = error.ctx.command_path if error.ctx else "leastnoise"
    return f"{complaint[0].lower()}{complaint[1:]}; see {command} --help"


def _refuse(sentence: str) -> int:
    _say(sentence)
    return BAD_INPUT


def _say(sentence: str) -> None:
    console = Console(stderr=True, soft_wrap=True, markup=False, emoji=False, highlight=False)
    console.print("leastnoise:", " ".join(sentence.splitlines()))
