"""Interrupts, closed pipes, full disks and narrow encodings."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leastnoise as ln

Run = Callable[..., Any]

CALL = f"{shlex.quote(sys.executable)} -c 'import sys, leastnoise.cli as c; sys.exit(c.main())' "
SENTENCE = "leastnoise: interrupted; no folder was left half written\n"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which "leastnoise" is our command line; its status is the verb's."""
    script = f'leastnoise() {{ {CALL} "$@"; }}\n{line}\nexit ${{PIPESTATUS[0]}}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=os.environ | environment
    )


@pytest.mark.usefixtures("folder")
def test_a_closed_pipe_is_no_traceback_and_loses_no_plan() -> None:
    done = shell("leastnoise plan W.csv --epsilon 1 --out plan | true")
    assert done.stderr == ""
    assert Path("plan/plan.json").is_file()


@pytest.mark.usefixtures("folder")
def test_head() -> None:
    done = shell("leastnoise compare W.csv --epsilon 1 | head -1")
    assert done.stdout.startswith("mechanism ")
    assert done.stderr == ""


@pytest.mark.usefixtures("folder")
def test_a_full_disk_under_the_output() -> None:
    done = shell("leastnoise compare W.csv --epsilon 1 > /dev/full")
    assert done.stderr == (
        "leastnoise: standard output cannot be written or read: No space left on device\n"
    )
    assert done.returncode == 2


@pytest.mark.usefixtures("folder")
def test_an_encoding_without_epsilon() -> None:
    done = shell("leastnoise plan W.csv --epsilon 1", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert r"\u03b5 = 1 for one record" in done.stdout


def test_ctrl_c(folder: Path) -> None:
    """A search of many seconds, interrupted in its first."""
    np.save("large.npy", np.random.default_rng(0).standard_normal((500, 2500)))
    arguments = ["plan", "large.npy", "--epsilon", "1", "--out", "plan"]
    script = "import sys, leastnoise.cli as c; print('ready', flush=True); sys.exit(c.main())"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", SENTENCE)
    assert process.returncode == 130
    assert [path.name for path in folder.iterdir() if "plan" in path.name] == []


@pytest.fixture
def interrupted_save(leastnoise: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Plan once more, Ctrl-C coming while the arrays are half written; nothing may change."""

    def half(path: Path, **_: object) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    def save() -> None:
        before = sorted(folder.iterdir())
        monkeypatch.setattr(np, "savez", half)
        assert leastnoise("plan", "W.csv", "--epsilon", 1, "--out", "plan") == (130, "", SENTENCE)
        assert sorted(folder.iterdir()) == before

    return save


def test_an_interrupt_while_writing_leaves_nothing(interrupted_save: Run, folder: Path) -> None:
    interrupted_save()
    assert not (folder / "plan").exists()


def test_an_interrupt_while_replacing_keeps_the_earlier_plan(
    leastnoise: Run, interrupted_save: Run
) -> None:
    assert leastnoise("plan", "W.csv", "--epsilon", 2, "--out", "plan").status == 0
    interrupted_save()
    assert ln.load("plan").epsilon == 2
