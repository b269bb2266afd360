"""A line that shows how far a long search has come; nothing where nobody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from leastnoise.strategy.gaussian import Progress

_PATIENCE = 1.0  # seconds before a search counts as long


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None]]:
    """A callback for `ln.plan` that keeps one status line on standard error up to date."""
    console = Console(stderr=True)
    with console.status("reading") as status:

        def show(progress: Progress) -> None:
            if progress.seconds > _PATIENCE:
                status.update(
                    f"step {progress.step}, {progress.seconds:.0f} s: at most "
                    f"{100 * progress.gap:.3g}% above the least possible error"
                )

        yield show
