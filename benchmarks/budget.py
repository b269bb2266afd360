"""Budgets that are not overspent, folders that are checked. python -m benchmarks.budget"""

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import leastnoise as ln
from benchmarks.racing import ROOM
from benchmarks.rows import Row, at_least, at_most, within
from leastnoise.errors import FileError, PrivacyError
from leastnoise.records import ledger
from leastnoise.release.privacy import promise

ROUNDS = 1_000
RUNS = 4_000
STATES = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
OTHERS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]])
COUNTS = np.array([100, 50, 30, 20])


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in memory, if there is such a place: these rows are not about the speed of disks."""
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as path:
        yield Path(path)


def exactly(figure: str, expected: int, found: int) -> Row:
    return Row(figure, f"= {expected:,}", f"{found:,}", found == expected)


def in_process(name: str, *arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", f"benchmarks.{name}", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def race(seed: int) -> Iterator[Row]:
    """8 processes, 24 attempts, room for 10; round after round on a new ledger."""
    with folder() as place:
        found = in_process("racing", place, ROUNDS)
    text = f"8 processes race for a ledger with room for {ROOM}: rounds that grant {ROOM}"
    yield exactly(text, ROUNDS, found.get(str(ROOM), 0))


def kill(seed: int) -> Iterator[Row]:
    """SIGKILL at every line of a release on a ledger, and one more try after it."""
    with folder() as place:
        found = in_process("kill9", place)
    states = ", ".join(f"{count} {state}" for state, count in sorted(found["states"].items()))
    yield at_least(f"kill -9: lines at which a release died ({states})", 300, found["points"])
    yield exactly(
        "kill -9: data read without a charge, or a key charged twice", 0, len(found["wrong"])
    )


def fit(seed: int) -> Iterator[Row]:
    """Ten tenths, and the same key twice."""
    with folder() as place:
        book, table = place / "budget.db", place / "counts.npy"
        ledger.create(book, "patients", promise(epsilon=1))
        np.save(table, COUNTS)
        plan = ln.plan(STATES, epsilon="1/10")
        granted = sum(_is_granted(plan, table, book, str(i)) for i in range(13))
        yield exactly("releases of 0.1 that fit a budget of 1, of 13", 10, granted)
        left = ledger.statements(book)[0].balance.epsilon_left
        yield Row("what is left then", "= 0", str(left), left == 0)
        plan.release(table, ledger=book, id="0").save(place / "first")
        table.unlink()
        plan.release(table, ledger=book, id="0").save(place / "second")
        files = sorted(one.name for one in (place / "first").iterdir())
        same = [
            (place / "first" / f).read_bytes() == (place / "second" / f).read_bytes() for f in files
        ]
        yield exactly("files of 5 alike to the byte, the table being deleted", 5, sum(same))


def _is_granted(plan: ln.Plan, table: Path, book: Path, id: str) -> bool:
    try:
        plan.release(table, ledger=book, id=id)
    except PrivacyError:
        return False
    return True


def mutations(seed: int) -> Iterator[Row]:
    """Every fact, array and cell of a release folder changed by itself."""
    with folder() as place:
        release = ln.plan(STATES, epsilon=1).release(COUNTS)
        release.save(place / "whole")
        changes = [*_facts(place / "whole"), *_arrays(place / "whole"), *_cells(place / "whole")]
        found = sum(_is_found(place, change) for change in changes)
        text = "single fields of a release folder changed: those that verify finds"
        yield exactly(text, len(changes), found)
        ln.verify(place / "whole")


def _is_found(place: Path, change: Callable[[Path], None]) -> bool:
    shutil.copytree(place / "whole", place / "copy")
    change(place / "copy")
    try:
        ln.verify(place / "copy")
    except FileError:
        return True
    finally:
        shutil.rmtree(place / "copy")
    return False


def _facts(whole: Path) -> Iterator[Callable[[Path], None]]:
    facts = json.loads((whole / "release.json").read_text())

    def leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            inside = isinstance(one, dict | list)
            yield from leaves(one, (*path, key)) if inside else [(*path, key)]

    def change(copy: Path, path: tuple[Any, ...]) -> None:
        content = json.loads((copy / "release.json").read_text())
        parent = content
        for key in path[:-1]:
            parent = parent[key]
        value = parent[path[-1]]
        parent[path[-1]] = not value if isinstance(value, bool) else f"{value}0"
        (copy / "release.json").write_text(json.dumps(content))

    for path in leaves(facts, ()):
        yield lambda copy, path=path: change(copy, path)


def _arrays(whole: Path) -> Iterator[Callable[[Path], None]]:
    def change(copy: Path, name: str, at: int) -> None:
        with np.load(copy / "measurements.npz") as arrays:
            content = {one: arrays[one].copy() for one in arrays.files}
        content[name].reshape(-1)[at] += 1
        np.savez(copy / "measurements.npz", **content)

    with np.load(whole / "measurements.npz") as arrays:
        for name in arrays.files:
            for at in {0, arrays[name].size - 1}:
                yield lambda copy, name=name, at=at: change(copy, name, at)


def _cells(whole: Path) -> Iterator[Callable[[Path], None]]:
    with (whole / "answers.csv").open(newline="") as file:
        rows = list(csv.reader(file))

    def change(copy: Path, i: int, j: int) -> None:
        content = [list(row) for row in rows]
        content[i][j] += "1"
        with (copy / "answers.csv").open("w", newline="") as file:
            csv.writer(file).writerows(content)

    for i, row in enumerate(rows):
        for j in range(len(row)):
            yield lambda copy, i=i, j=j: change(copy, i, j)


def combined(seed: int) -> Iterator[Row]:
    """Queries that an earlier release answers in part: both measured anew, again and again."""
    for old, new in (("laplace", "laplace"), ("gaussian", "gaussian"), ("laplace", "gaussian")):
        promises = {"laplace": {"epsilon": 1}, "gaussian": {"rho": "1/4"}}
        first = ln.plan(STATES, **promises[old])
        plan = ln.plan(OTHERS, given=first.release(COUNTS), **promises[new])
        off = np.array([_again(plan, first).answers for _ in range(RUNS)]) - OTHERS @ COUNTS
        ratio = float((np.square(off).mean(axis=0) / plan.std**2).mean())
        label = f"{new} noise given {old} noise"
        spread = 6 * np.sqrt(5 / RUNS)
        yield within(f"{label}: squared error / predicted, {RUNS:,} releases", 1, spread, ratio)
        release = plan.release(COUNTS)
        for part, which in zip(release.parts, ("new", "old"), strict=True):
            worst = _ratio(release, replace(release, parts=(part,)))
            yield at_most(f"{label}: largest std / that of the {which} part alone", 0.95, worst)


def _again(plan: ln.Plan, first: ln.Plan) -> ln.Release:
    numbers = first.release(COUNTS).measurements
    return replace(plan, given=tuple(replace(one, numbers=numbers) for one in plan.given)).release(
        COUNTS
    )


def _ratio(release: ln.Release, part: ln.Release) -> float:
    """The largest std of the combined answers ÷ that of the part, where the part has an answer."""
    ratios = []
    for query, std in zip(OTHERS, release.std, strict=True):
        try:
            ratios.append(float(std / part.answer([query]).std[0]))
        except ln.PlanError:
            continue
    return max(ratios)


SECTIONS = (fit, mutations, combined, kill, race)


if __name__ == "__main__":
    from benchmarks.__main__ import main

    sys.exit(main(SECTIONS))
