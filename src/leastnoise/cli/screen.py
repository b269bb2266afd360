"""Standard output for people and for pipes."""

from rich.console import Console

_WIDE = 1_000  # where no screen sets a width, nothing is wrapped


def screen() -> Console:
    """A console that prints names and paths as they are: "[low]" is no style, ":x:" no emoji."""
    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = _WIDE
    return console
