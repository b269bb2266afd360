"""The command line, called in this process: what it prints, and the status it ends with."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from leastnoise.cli import main


class Result(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the verbs run. W.csv asks two queries of three cells, counts.csv answers (5, 12)."""
    monkeypatch.chdir(tmp_path)
    Path("W.csv").write_text("1,1,0\n0,1,1\n")
    Path("counts.csv").write_text("3\n2\n10\n")
    return tmp_path


@pytest.fixture
def leastnoise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """leastnoise("plan", "W.csv", "--epsilon", 1), as from a shell in `folder`."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer sets its own

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["leastnoise", *map(str, arguments)])
        return Result(main(), *capsys.readouterr())

    return run


@pytest.fixture
def refusal(leastnoise: Run, folder: Path) -> Callable[..., str]:
    """The one sentence with which a call is refused, nothing being printed or written."""

    def refused(*arguments: object) -> str:
        before = sorted(folder.iterdir())
        status, out, err = leastnoise(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("leastnoise: ")
        assert err.count("\n") == 1
        assert len(err) < 400
        assert sorted(folder.iterdir()) == before
        return err

    return refused
