"""The paper's experiments: all of them in minutes, the long ones within hours, none of it twice."""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from benchmarks.rows import Row, at_most, close_to, within
from leastnoise.experiments.figure import names, read
from leastnoise.experiments.rows import load_table, without_time

QUICK_SECONDS = 15 * 60
LONG_SECONDS = 2 * 60 * 60
MEMORY_MIB = 4096
JOBS = 2


def quick_experiments(seed: int) -> Iterator[Row]:
    """Every figure at its small sizes on two cores, and whether errors are those predicted."""
    with tempfile.TemporaryDirectory() as folder:
        yield at_most(
            "24 experiments, --quick", QUICK_SECONDS, _run("all", folder, seed, "--quick"), " s"
        )
        tables = [load_table(Path(folder, f"{name}-quick.csv")) for name in names()]
        rows = [row for table in tables for row in table]
        yield close_to("figures drawn", len(names()), len([*Path(folder).glob("*.svg")]))
        ratios = [row.error / row.expected for row in rows if row.expected > 0]
        yield within(
            "20 runs: error / predicted, mean of all rows", 1, 0.01, float(np.mean(ratios))
        )
        deviations = [
            abs(row.error - row.expected) / row.error_std for row in rows if row.error_std > 0
        ]
        share = float(np.mean(np.array(deviations) > 4))
        yield at_most("rows more than four standard errors off", 0.02, share)


def resumed(seed: int) -> Iterator[Row]:
    """kill -9 in the middle of a run: the next one measures the rest, and nothing twice."""
    with tempfile.TemporaryDirectory() as folder:
        points = Path(folder, "points")
        process = subprocess.Popen(
            _command("n-wrange-epsilon", folder, seed, "--quick"), start_new_session=True
        )
        while len([*points.glob("*.json")]) < 5 and process.poll() is None:
            sleep(0.02)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kept = {path: path.stat().st_mtime_ns for path in points.glob("*.json")}
        whole = len(read("n-wrange-epsilon", quick=True).n) * 10
        yield at_most("points when killed, of all", 0.9, len(kept) / whole)
        _run("n-wrange-epsilon", folder, seed, "--quick")
        again = sum(path.stat().st_mtime_ns != then for path, then in kept.items())
        yield at_most(f"of {len(kept)} finished points measured again", 0, again)
        yield close_to("points at the end", whole, len([*points.glob("*.json")]))


def repeated(seed: int) -> Iterator[Row]:
    """The same seed twice: strategies (their predictions), errors and drawings."""
    name = "n-wrange-delta"
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for folder in (one, two):
            _run(name, folder, seed, "--quick")
        tables = [load_table(Path(folder, f"{name}-quick.csv")) for folder in (one, two)]
        rows = [Counter(map(repr, map(without_time, table))) for table in tables]
        differ = (rows[0] - rows[1]) + (rows[1] - rows[0])
        yield close_to("rows that differ between two runs", 0, differ.total())
        drawings = {Path(folder, f"{name}-quick.svg").read_bytes() for folder in (one, two)}
        yield close_to("different drawings of two runs", 1, len(drawings))


def long_experiments(seed: int) -> Iterator[Row]:
    """The figures by n up to 8,192, both definitions. Only where --only asks for it."""
    chosen = [name for name in names() if name.startswith("n-")]
    with tempfile.TemporaryDirectory() as folder:
        seconds = sum(_run(name, folder, seed) for name in chosen)
        yield at_most("figures by n up to 8,192, two cores", LONG_SECONDS, seconds, " s")
        rows = [row for name in chosen for row in load_table(Path(folder, f"{name}.csv"))]
        peak = JOBS * max(row.peak_mib for row in rows)
        yield at_most("memory of both processes", MEMORY_MIB, peak, " MiB")


def _run(name: str, folder: str, seed: int, *options: str) -> float:
    started = monotonic()
    subprocess.run(_command(name, folder, seed, *options), check=True, stdout=subprocess.DEVNULL)
    return monotonic() - started


def _command(name: str, folder: str, seed: int, *options: str) -> list[str]:
    program = str(Path(sys.executable).with_name("leastnoise"))
    where = ["--out", folder, "--jobs", str(JOBS), "--seed", str(seed)]
    return [program, "experiment", name, *where, *options]


SECTIONS = (quick_experiments, resumed, repeated)
LONG = (long_experiments,)
