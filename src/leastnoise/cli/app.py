"""The application: verbs, and what a person sees when something goes wrong."""

import sys

import typer
from rich.console import Console

import leastnoise
from leastnoise.cli.compare import compare
from leastnoise.cli.demo import demo
from leastnoise.cli.plan import plan
from leastnoise.cli.release import release
from leastnoise.errors import LeastnoiseError

app = typer.Typer(
    help="Answer a batch of counting queries under differential privacy, with the least noise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (demo, plan, compare, release):
    app.command(verb.__name__)(verb)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"leastnoise {leastnoise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def main() -> None:
    """Run a verb; errors become one sentence on standard error and exit status 2."""
    try:
        app()
    except LeastnoiseError as error:
        _say(str(error))
        sys.exit(2)
    except MemoryError:
        _say("memory ran out; ask fewer queries or cells")
        sys.exit(2)
    except KeyboardInterrupt:
        _say("interrupted; nothing was written")
        sys.exit(130)


def _say(sentence: str) -> None:
    Console(stderr=True, soft_wrap=True).print(
        f"leastnoise: {sentence}", markup=False, highlight=False
    )
