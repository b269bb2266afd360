"""A release killed at every line that it runs, and what is left behind then.

python -m benchmarks.kill9 FOLDER [wrong] prints one line of JSON: how many points were killed, in
which state the ledger was found, and what should not have been. "wrong" reads the counts before
the charge, and stops where that is found.
"""

import json
import os
import shutil
import signal
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import leastnoise as ln
from leastnoise.data import files
from leastnoise.errors import PrivacyError
from leastnoise.plan import Plan
from leastnoise.records import ledger
from leastnoise.release.privacy import promise

WATCHED = (
    "plan.py", "accounting.py", "ledger.py", "chain.py", "measure.py", "noise.py", "files.py",
    "folder.py", "releasefolder.py", "counts.py",
)  # fmt: skip
SOURCES = str(Path(ln.__file__).parent)


def watch_readings(mark: Path) -> None:
    """Leave a byte in `mark` whenever counts are opened."""
    original = files.read_counts

    def read_counts(path: Path) -> Any:
        with mark.open("ab") as file:
            file.write(b"x")
        return original(path)

    files.read_counts = read_counts


def read_first() -> None:
    """The mistake that the ledger is there to prevent."""
    original = Plan.checked

    def checked(self: Plan, counts: Any) -> Any:
        at_hand = original(self, counts)()
        return lambda: at_hand

    Plan.checked = checked


def kill_at(point: int) -> None:
    """Send SIGKILL to this process at the point-th line that it runs of the watched files.

    A line counts the first time it is run, because a loop leaves behind nothing new.
    """
    seen: set[tuple[str, int, str]] = set()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(SOURCES) or Path(path).name not in WATCHED:
            return None
        seen.add((path, frame.f_lineno, event))
        if len(seen) == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def run(plan: Plan, folder: Path) -> ln.Release:
    release = plan.release(folder / "counts.npy", ledger=folder / "budget.db", id="once")
    release.save(folder / "out")
    return release


def killed(plan: Plan, folder: Path, point: int) -> bool:
    """Release in a child that dies at this point; False when it came to its end instead."""
    child = os.fork()
    if child == 0:
        kill_at(point)
        run(plan, folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("the release failed by itself")
    return False


def left_behind(plan: Plan, folder: Path) -> tuple[str, list[str]]:
    """The state of the ledger after a death, and what is wrong, then and after one more try."""
    mark, out = folder / "mark", folder / "out"
    wrong = []
    [before] = ledger.statements(folder / "budget.db")
    opened = len(mark.read_bytes()) if mark.exists() else 0
    charges = len(before.spendings)
    state = "free" if not charges else "answered" if before.spendings[0].answered else "unfinished"
    if opened and not charges:
        wrong.append("data was read without a charge")
    if out.exists():
        ln.verify(out)
        shutil.rmtree(out)
    try:
        run(plan, folder)
        refused = False
    except PrivacyError:
        refused = True
    [after] = ledger.statements(folder / "budget.db")
    again = (len(mark.read_bytes()) if mark.exists() else 0) - opened
    if len(after.spendings) > 1:
        wrong.append("one key was charged twice")
    if refused != (state == "unfinished"):
        wrong.append(f"a retry was {'refused' if refused else 'granted'} when {state}")
    if again != (state == "free"):
        wrong.append(f"a retry read the data {again} times when {state}")
    return state, wrong


def main(folder: Path, is_wrong: bool) -> dict[str, Any]:
    plan = ln.plan(np.array([[1, 1, 0], [0, 1, 1]]), epsilon="1/2", mechanism="nod")
    if is_wrong:
        read_first()
    watch_readings(folder / "run" / "mark")
    plan.release([1, 2, 3]).save(folder / "warm")  # loads everything that is loaded when needed
    states: Counter[str] = Counter()
    wrong: list[str] = []
    for point in count(1):
        place = folder / "run"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        np.save(place / "counts.npy", np.array([3, 2, 10]))
        ledger.create(place / "budget.db", "patients", promise(epsilon=1))
        if not killed(plan, place, point):
            break
        state, found = left_behind(plan, place)
        states[state] += 1
        wrong += found
        if is_wrong and wrong:
            break
    return {"points": point, "states": dict(states), "wrong": sorted(set(wrong))}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2:] == ["wrong"])))
