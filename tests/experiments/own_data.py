"""A folder as a user may have it: three files, one integer a line."""

from pathlib import Path

OWN = {"search_logs": [3, 0, 5, 1, 2], "nettrace": [9, 1, 0, 0], "social_network": [0, 1, 1]}


def folder(path: Path, **texts: str) -> Path:
    """The folder; `texts` replace what a file holds."""
    for name, counts in OWN.items():
        lines = texts.get(name, "".join(f"{count}\n" for count in counts))
        (path / f"{name}.txt").write_text(lines)
    return path
