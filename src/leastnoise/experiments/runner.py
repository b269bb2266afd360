"""All points of some figures that are not there yet, side by side on every core.

A finished point is a file at once, so whatever stops a run, the next one goes on from there. Each
process computes on one thread: two searches of one thread are faster than one of two, and what a
seed gives does not depend on how many cores there are.
"""

import os
import platform
import resource
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import monotonic

from leastnoise.errors import InputError
from leastnoise.experiments.figure import Figure
from leastnoise.experiments.histograms import histograms
from leastnoise.experiments.point import Point, measured
from leastnoise.experiments.rows import Row, load_point, load_table, save_point, save_table

POINTS = "points"


@dataclass(frozen=True)
class Progress:
    """So many points of all are done; `share` of the predicted work, and the seconds left."""

    done: int
    points: int
    share: float
    left: float
    last: str


def run(
    figures: Sequence[Figure],
    out: Path,
    *,
    data: Path | None = None,
    seed: int = 0,
    jobs: int = 0,
    show: Callable[[Progress], None] = lambda progress: None,
    finished: Callable[[Figure, list[Row]], None] = lambda figure, rows: None,
) -> None:
    """Measure what is missing; each figure's table is written when its last point is there.

    `finished` is given the rows as they stand in the table: what is drawn from them can be drawn
    from it again.
    """
    require_extra()
    known = histograms(data)
    (out / POINTS).mkdir(parents=True, exist_ok=True)
    wanted = {figure.name: figure.points(known, seed) for figure in figures}
    points = list(dict.fromkeys(point for some in wanted.values() for point in some))
    rows = {point: load_point(_file(out, point)) for point in points}
    missing = [point for point in points if rows[point] is None]
    waiting = list(figures)
    measuring = _measured(missing, data, jobs, out, rows)
    with closing(measuring):
        for progress in _reported(measuring, missing, len(points)):
            show(progress)
            unfinished = {point for point in points if rows[point] is None}
            for figure in [one for one in waiting if unfinished.isdisjoint(wanted[one.name])]:
                waiting.remove(figure)
                its = [row for point in wanted[figure.name] for row in rows[point] or []]
                save_table(figure.rows(its), out, figure.name)
                finished(figure, load_table(out / f"{figure.name}.csv"))


def _measured(
    missing: Sequence[Point], data: Path | None, jobs: int, out: Path,
    rows: dict[Point, list[Row] | None],
) -> Generator[Point | None]:  # fmt: skip
    """None at first, then each point as it is done, in whatever order that is."""
    from joblib import Parallel, delayed, parallel_config

    yield None
    # joblib runs a single job in this process, on every thread: one of two with one task is alike.
    how = {"n_jobs": 2, "pre_dispatch": 1} if jobs == 1 else {"n_jobs": jobs or -1}
    with parallel_config(backend="loky", inner_max_num_threads=1):
        work = Parallel(**how, return_as="generator_unordered", batch_size=1)
        done = work(delayed(_in_worker)(point, data) for point in missing)
        try:
            for point, found in done:
                save_point(found, _file(out, point))
                rows[point] = found
                yield point
        finally:
            with warnings.catch_warnings(action="ignore"):  # that tasks are left is no news
                done.close()


def _reported(
    points: Iterator[Point | None], missing: Sequence[Point], total: int
) -> Iterator[Progress]:
    """How far the work has come; the time left is learnt from the time taken."""
    started, all_work = monotonic(), sum(point.work for point in missing)
    done, work = total - len(missing), 0.0
    for point in points:
        if point is not None:
            done, work = done + 1, work + point.work
        share = work / all_work if all_work else 1.0
        left = (monotonic() - started) * (1 / share - 1) if share else float("inf")
        yield Progress(done, total, share, left, point.label if point else "")


def _in_worker(point: Point, data: Path | None) -> tuple[Point, list[Row]]:
    wanted = [name for name, _ in point.datasets]
    found = measured(point, [one for one in _histograms(data) if one.name in wanted])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return point, [
        replace(row, finished=now, machine=machine(), versions=versions(), peak_mib=peak)
        for row in found
    ]


_histograms = cache(histograms)


def _file(out: Path, point: Point) -> Path:
    return out / POINTS / f"{point.key}.json"


@cache
def machine() -> str:
    """Cores and processor, as far as the system tells."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{os.cpu_count()} cores, {model}, {platform.system()}"


@cache
def versions() -> str:
    """Of what computes."""
    some = ", ".join(f"{name} {version(name)}" for name in ("leastnoise", "numpy", "scipy"))
    return f"{some}, Python {platform.python_version()}"


def require_extra() -> None:
    """What only experiments need."""
    try:
        import joblib  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"experiments need {error.name}; pip install 'leastnoise[experiments]'"
        ) from None
