"""Folders that are whole or not there: written beside their place, then renamed into it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leastnoise.errors import FileError


def require_free(path: Path, mark: str | None = None) -> None:
    """Refuse a place that is taken; a folder holding the file `mark` may be replaced."""
    if path.is_dir() and mark is not None and (path / mark).is_file():
        return
    if path.exists() or path.is_symlink():
        raise FileError(f"{path} exists already; give another place with --out")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise FileError(f"{parent} is no folder; make it first")
    if not os.access(parent, os.W_OK):
        raise FileError(f"{parent} may not be written to; give another place with --out")


@contextmanager
def whole_folder(path: Path, mark: str | None = None) -> Iterator[Path]:
    """A temporary folder to write into; it takes its place only if the block ends well."""
    require_free(path, mark)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.absolute().parent))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield temporary
        _move(temporary, path)
    except OSError as error:
        raise FileError(f"{path} could not be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _move(temporary: Path, path: Path) -> None:
    """Rename into place; what stood there moves aside first and goes only afterwards."""
    temporary.chmod(0o755)
    if not path.exists():
        temporary.rename(path)
        return
    aside = temporary.with_name(temporary.name + "-old")
    path.rename(aside)
    temporary.rename(path)
    shutil.rmtree(aside, ignore_errors=True)
