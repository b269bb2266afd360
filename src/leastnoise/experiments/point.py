"""One point of a figure: a workload, a mechanism, a search, and how far its answers are off.

A search serves every promise and every data set of the point: none of ours looks at either.
Measured is the paper's figure, the squared distance ‖ŷ − W·x‖² averaged over runs; beside it stands
what the plan predicts, Σ stdᵢ² + ‖(B·L − W)·x‖², where the second term is 0 for exact mechanisms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from importlib.metadata import version
from json import dumps
from math import ceil, isnan, nan
from time import process_time
from typing import Any

import numpy as np

import leastnoise as ln
from leastnoise.errors import LeastnoiseError
from leastnoise.experiments.histograms import Histogram
from leastnoise.experiments.rows import Row
from leastnoise.experiments.workloads import family
from leastnoise.plan import planned
from leastnoise.release.counts import class_counts
from leastnoise.request import Request, request
from leastnoise.strategy.choose import Attempt, attempts
from leastnoise.strategy.low_rank import low_rank_operations
from leastnoise.strategy.smoothing import smoothing_operations

LRM, LEAST_NOISE, OURS, BOUND, MWEM, ESM = "LRM", "LRM, least noise", "ours", "bound", "MWEM", "ESM"

GAMMA, SHARE = 0.01, 0.5
"""The paper's defaults: γ of LRM, and WRelated's rank as a part of min(m, n)."""

_SPEED = 5e10  # operations a second, fixed, so that the same points are run on every machine
_MOST_SECONDS = 600.0  # of ESM; a point that is predicted to take longer is not run
_OURS_SECONDS, _OTHER_SECONDS = 10.0, 1.0
_ROUNDS = (10, 12, 14, 16)
_RATIOS = {"laplace": 1.2, "gaussian": 1.0}


@dataclass(frozen=True)
class Published:
    """A mechanism of the paper: its name and settings here.

    `merges` where measuring classes of cells changes nothing but the time, else it measures cells
    as published. `suits_both` where one search serves ε and (ε, δ), and is worth sharing.
    """

    name: str
    settings: tuple[tuple[str, Any], ...] = ()
    merges: bool = False
    suits_both: bool = False


MECHANISMS = {
    "LM": Published("nod"),
    "GM": Published("nod"),
    "NOR": Published("nor"),
    "WM": Published("wavelet"),
    "HM": Published("hierarchical", (("branching", 2), ("root", True))),
    ESM: Published("esm", suits_both=True),
    "AM": Published("am"),
    MWEM: Published("mwem", merges=True),
    LRM: Published("lrm", (("relaxed", True), ("fallback", False)), merges=True),
    OURS: Published("auto", merges=True),
    BOUND: Published("optimal", merges=True),
}


@dataclass(frozen=True)
class Point:
    """What is measured; figures that ask for the same share it."""

    workload: str
    m: int
    n: int
    share: float | None
    mechanism: str
    gamma: float | None
    ratio: float | None
    promises: tuple[tuple[str, str], ...]
    datasets: tuple[tuple[str, str], ...]
    runs: int
    seed: int

    @property
    def key(self) -> str:
        """A file name: readable, and different for any other point, settings or versions."""
        known = [version(one) for one in ("leastnoise", "numpy", "scipy")]
        how = asdict(MECHANISMS[self.mechanism])
        whole = dumps([known, how, asdict(self)], sort_keys=True).encode()
        name = f"{self.workload}-{self.m}x{self.n}-{self.mechanism}"
        return f"{name}-{blake2b(whole, digest_size=6).hexdigest()}"

    @property
    def label(self) -> str:
        """For the progress line."""
        return f"{self.mechanism}, {self.workload} {self.m} × {self.n}"

    @property
    def predicted_seconds(self) -> float:
        """About how long it takes; too much where cells are merged."""
        if self.mechanism == ESM:
            return smoothing_operations(self.n) / _SPEED
        if self.mechanism == LRM:
            rank = min(self.m, self.n) * (self.share or 1)
            rows = rank * (self.ratio or _RATIOS["laplace"])
            return low_rank_operations(rows, self.n) / _SPEED
        return _OURS_SECONDS if self.mechanism == OURS else _OTHER_SECONDS

    @property
    def is_run(self) -> bool:
        """Whether it is worth its time."""
        return self.mechanism != ESM or self.predicted_seconds <= _MOST_SECONDS

    @property
    def work(self) -> float:
        """The part of a run that it is."""
        return self.predicted_seconds if self.is_run else _OTHER_SECONDS


def measured(point: Point, histograms: Sequence[Histogram]) -> list[Row]:
    """A row for each promise and data set; a single one that says why where there is none."""
    bench = Bench(point, histograms)
    if not point.is_run:
        hours = point.predicted_seconds / 3600
        return [replace(bench.start, note=f"not run, predicted {hours:.2g} h")]
    try:
        return list(bench.rehearsed() if point.mechanism == MWEM else bench.planned())
    except (LeastnoiseError, np.linalg.LinAlgError) as error:
        return [replace(bench.start, note=str(error))]


class Bench:
    """A point's queries and counts, and the rows that come of them."""

    def __init__(self, point: Point, histograms: Sequence[Histogram]) -> None:
        self.point, self.how = point, MECHANISMS[point.mechanism]
        self.matrix = family(point.workload, point.m, point.n, point.seed, point.share)
        self.counts = {one.name: one.cells(point.n, point.seed) for one in histograms}
        self.start = Row(
            workload=point.workload, m=point.m, n=point.n, share=point.share or nan,
            rank=int(np.linalg.matrix_rank(self.matrix)), mechanism=point.mechanism,
            gamma=point.gamma or nan, ratio=point.ratio or nan, runs=point.runs, seed=point.seed,
        )  # fmt: skip

    def planned(self) -> Iterator[Row]:
        """Rows of a mechanism that plans: one search for each noise, or for both."""
        queries = (ln.Workload if self.how.merges else ln.Workload.by_cell)(self.matrix)
        searched: dict[Any, tuple[list[Attempt], float]] = {}
        for epsilon, delta in self.point.promises:
            for mechanism, asked in self._requests(queries, epsilon, delta):
                key = () if self.how.suits_both else asked.noises
                if key not in searched:
                    started = process_time()
                    searched[key] = self._attempts(asked), process_time() - started
                made, seconds = searched[key]
                if self.how.suits_both:
                    made = [replace(one, noises=asked.noises) for one in made]
                plan = planned(asked, made)
                start = replace(
                    self.start, mechanism=mechanism, epsilon=epsilon, delta=delta, note=plan.note,
                    noise=plan.noise, calibration=asked.privacy.calibration, seconds=seconds,
                    classes=plan.workload.classes, r=plan.measurable.integers.rows,
                    lower_bound=plan.certificate.lower_bound if plan.certificate else nan,
                )  # fmt: skip
                yield from self._seen(start, plan)

    def _requests(
        self, queries: ln.Workload, epsilon: str, delta: str
    ) -> Iterator[tuple[str, Request]]:
        """The paper's noise for its mechanisms, the least for ours; LRM with either."""
        name, noise, calibrations = self.point.mechanism, "auto", {"": "analytic"}
        if name not in (OURS, BOUND):
            noise = "laplace" if delta == "0" else "gaussian"
            if delta != "0":
                calibrations = {name: "paper"}
            if delta != "0" and name == LRM:
                calibrations[LEAST_NOISE] = "analytic"
        for label, calibration in calibrations.items():
            yield (
                label or name,
                request(
                    queries, epsilon=epsilon, delta=delta, noise=noise, calibration=calibration,
                    seed=self.point.seed,
                ),
            )  # fmt: skip

    def _attempts(self, asked: Request) -> list[Attempt]:
        settings = dict(self.how.settings)
        if self.point.mechanism == LRM:
            ratio = self.point.ratio or _RATIOS[asked.noises[0]]
            rows = max(1, ceil(ratio * self.start.rank - 1e-9))
            settings |= {"gamma": self.point.gamma, "rank": rows}
        return attempts(self.how.name, asked.problem, asked.search, asked.noises, settings)

    def _seen(self, start: Row, plan: ln.Plan) -> Iterator[Row]:
        """What was seen in seeded rehearsals, beside the prediction; a bound has no answers."""
        if self.point.mechanism == BOUND:
            yield start
            return
        for name, x in self.counts.items():
            truth = self.matrix @ x
            off = ln.rehearse(plan, x, start.runs, noise_seed(start, name)) - truth
            clean = plan.strategy.answers(
                tuple(b.L @ class_counts(x, b.cells, b.L.shape[1]) for b in plan.strategy.blocks)
            )
            shift = float(np.square(clean - truth).sum())
            yield _with_errors(start, name, off, float(np.square(plan.std).sum()) + shift)

    def rehearsed(self) -> Iterator[Row]:
        """MWEM with the best number of rounds for each data set, chosen after the fact as the paper
        does: not private, and in its favour."""
        for epsilon, delta in self.point.promises:
            for name, x in self.counts.items():
                rows = [self._rounds(epsilon, delta, name, x, rounds) for rounds in _ROUNDS]
                yield min(rows, key=lambda row: row.error)

    def _rounds(self, epsilon: str, delta: str, name: str, x: np.ndarray, rounds: int) -> Row:
        plan = ln.plan(self.matrix, epsilon=epsilon, mechanism="mwem", rounds=rounds)
        start = replace(
            self.start, epsilon=epsilon, delta=delta, noise="laplace", calibration="analytic",
            classes=plan.workload.classes, note=f"{rounds} rounds, the best of {_ROUNDS}",
        )  # fmt: skip
        started = process_time()
        off = ln.rehearse(plan, x, start.runs, noise_seed(start, name)) - self.matrix @ x
        seconds = (process_time() - started) / start.runs
        return replace(_with_errors(start, name, off, nan), seconds=seconds)


def _with_errors(start: Row, dataset: str, off: np.ndarray, expected: float) -> Row:
    """The mean of ‖off‖² over the runs, and that mean's standard error."""
    errors = np.square(off).sum(axis=1)
    chance = float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else nan
    return replace(
        start, dataset=dataset, error=float(errors.mean()), error_std=chance, expected=expected
    )


def noise_seed(row: Row, dataset: str) -> int:
    """A seed for each row's noise, the same wherever and whenever it is drawn."""
    where = (row.seed, row.workload, row.m, row.n, row.mechanism, dataset, row.epsilon, row.delta)
    usual = ((row.share, SHARE), (row.gamma, GAMMA), (row.ratio, nan))
    unusual = [value for value, default in usual if not (isnan(value) or value == default)]
    what = repr((*where, *unusual)).encode()
    return int.from_bytes(blake2b(what, digest_size=6).digest(), "big")
