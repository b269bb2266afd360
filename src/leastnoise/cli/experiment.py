"""leastnoise experiment: a figure of the paper, from its settings to a drawing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from leastnoise.cli.screen import screen
from leastnoise.errors import FileError, InputError

if TYPE_CHECKING:
    from leastnoise.experiments.figure import Figure
    from leastnoise.experiments.rows import Row
    from leastnoise.experiments.runner import Progress


def experiment(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A figure, all, or a .toml file; none lists them."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, in minutes.")] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for tables, figures and finished points.")
    ] = Path("experiments"),
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with search_logs.txt, nettrace.txt and social_network.txt."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Points side by side; 0 takes every core.")] = 0,
    seed: Annotated[int, typer.Option(help="Of workloads, searches and noise.")] = 0,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Draw what the folder holds; measure nothing.")
    ] = False,
) -> None:
    """Run the experiments of Yuan et al. (TODS 2015) on real histograms.

    One that was interrupted goes on where it stopped.
    """
    from leastnoise.experiments.figure import names, read
    from leastnoise.experiments.runner import require_extra

    if jobs < 0 or seed < 0:
        raise InputError("--jobs and --seed must be at least 0")
    known = names()
    if name is None:
        for one in known:
            screen().print(f"{one:<20} {read(one).title}")
        return
    require_extra()
    figures = [read(one, quick=quick) for one in (known if name == "all" else [name])]
    if redraw:
        _redraw(figures, out)
    else:
        _run(figures, out, data, seed, jobs)


def _run(figures: "Sequence[Figure]", out: Path, data: Path | None, seed: int, jobs: int) -> None:
    from leastnoise.experiments.draw import draw
    from leastnoise.experiments.gallery import write_gallery
    from leastnoise.experiments.runner import run

    console = screen()

    def finished(figure: "Figure", rows: "list[Row]") -> None:
        draw(figure, rows, out)
        console.print(f"{figure.name}: {len(rows)} rows in {out / figure.name}.csv, and drawn")

    with _shown() as show:
        run(figures, out, data=data, seed=seed, jobs=jobs, show=show, finished=finished)
    write_gallery(figures, out)


def _redraw(figures: "Sequence[Figure]", out: Path) -> None:
    from leastnoise.experiments.draw import draw
    from leastnoise.experiments.gallery import write_gallery
    from leastnoise.experiments.rows import load_table

    there = [figure for figure in figures if (out / f"{figure.name}.csv").exists()]
    if not there:
        raise FileError(f"{out} holds no tables to draw; run the experiment without --redraw")
    for figure in there:
        draw(figure, load_table(out / f"{figure.name}.csv"), out)
    write_gallery(figures, out)
    screen().print(f"{len(there)} figures drawn in {out}")


@contextmanager
def _shown() -> "Iterator[Callable[[Progress], None]]":
    """A bar on standard error: points done, time left, and what was measured last."""
    columns = (
        BarColumn(),
        TextColumn("{task.fields[points]} points, {task.fields[left]} left, {task.description}"),
    )
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=1.0, points="0", left="?")

        def show(progress: "Progress") -> None:
            bar.update(
                task,
                completed=progress.share,
                points=f"{progress.done} of {progress.points}",
                left=_time(progress.left),
                description=progress.last,
            )

        yield show


def _time(seconds: float) -> str:
    """About so long: ?, 40 s, 12 min, 1.5 h."""
    if seconds == float("inf"):
        return "?"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
