"""A line that shows how far a long search has come; nothing where nobody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from leastnoise.strategy.ascent import Progress

_PATIENCE = 1.0  # seconds before a search counts as long


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None]]:
    """A callback for `ln.plan` that keeps one status line on standard error up to date."""
    console = Console(stderr=True)
    with console.status("reading") as status:

        def show(progress: Progress) -> None:
            if progress.seconds > _PATIENCE:
                status.update(_line(progress))

        yield show


def _line(progress: Progress) -> str:
    """How close the search is, where a bound tells, else the error it has reached."""
    start = f"{progress.mechanism}, step {progress.step}, {progress.seconds:.0f} s: "
    if progress.lower > 0:
        return start + f"at most {100 * progress.gap:.3g}% above the least possible error"
    return start + f"error {progress.achieved:,.6g} at unit noise"
