"""One point: what is seen is what was predicted, and what is left out says why."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
import workloads as independent

from leastnoise.experiments import point as points
from leastnoise.experiments.histograms import Histogram
from leastnoise.experiments.point import LEAST_NOISE, MECHANISMS, Bench, Point, measured
from leastnoise.experiments.workloads import FAMILIES, family

DATA = [Histogram("a", np.arange(64) % 7), Histogram("b", np.full(64, 3))]
POINT = Point(
    "WRange", 12, 32, None, "LM", None, None, (("0.5", "0"),), (("a", ""), ("b", "")), 4000, 0
)  # fmt: skip
LRM = replace(POINT, mechanism="LRM", gamma=0.01)
BOTH = (("0.5", "0"), ("0.5", "1e-4"))


@pytest.mark.parametrize(
    "mechanism", [name for name in MECHANISMS if name not in ("bound", "MWEM")]
)
def test_what_is_seen_is_what_was_predicted(mechanism: str) -> None:
    """4,000 runs have a standard error of about 1%; the mean is within five of its own."""
    gamma = 0.01 if mechanism == "LRM" else None
    point = replace(POINT, mechanism=mechanism, gamma=gamma, promises=BOTH)
    rows = measured(point, DATA)
    assert {row.dataset for row in rows} == {"a", "b"}
    for row in rows:
        assert row.error_std < 0.03 * row.expected
        assert abs(row.error - row.expected) < 5 * row.error_std


def test_a_strategy_that_misses_the_queries_is_predicted_with_its_bias() -> None:
    """At γ = 3 the bias is most of the error, and depends on the data."""
    rows = measured(replace(LRM, gamma=3.0, promises=(("100", "0"),)), DATA)
    assert rows[0].expected != rows[1].expected
    for row in rows:
        noise = measured(replace(LRM, gamma=1e-6, promises=(("100", "0"),)), DATA)[0].expected
        assert row.expected > 10 * noise
        assert row.error == pytest.approx(row.expected, rel=0.05)


def test_lms_error_is_that_of_noise_on_every_cell() -> None:
    """2·‖W‖²_F/ε², over cells, as the paper has it."""
    W = family("WRange", 12, 32, 0)
    assert measured(POINT, DATA)[0].expected == pytest.approx(2 * np.square(W).sum() / 0.5**2)


def test_the_papers_noise_for_its_mechanisms_and_the_least_for_ours() -> None:
    rows = measured(replace(LRM, promises=(("0.5", "1e-4"),)), DATA)
    kinds = {row.mechanism: row.calibration for row in rows}
    assert kinds == {"LRM": "paper", LEAST_NOISE: "analytic"}
    papers, least = (next(r for r in rows if r.mechanism == name) for name in kinds)
    assert papers.expected > 7 * least.expected
    assert papers.seconds == least.seconds
    [ours, _] = measured(replace(POINT, mechanism="ours", promises=(("0.5", "1e-4"),)), DATA)
    assert ours.calibration == "analytic"


def test_a_search_that_suits_both_definitions_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    real = Bench._attempts
    monkeypatch.setattr(Bench, "_attempts", lambda *a: searches.append(1) or real(*a))
    rows = measured(replace(POINT, mechanism="ESM", promises=BOTH), DATA)
    assert len(searches) == 1
    assert [row.noise for row in rows] == ["laplace", "laplace", "gaussian", "gaussian"]


def test_the_bound_is_below_everything() -> None:
    [bound] = measured(replace(POINT, mechanism="bound", datasets=()), [])
    assert isnan(bound.error)
    for name in ("LM", "WM", "ESM", "ours"):
        assert measured(replace(POINT, mechanism=name), DATA)[0].expected >= bound.lower_bound


def test_mwem_takes_its_best_number_of_rounds() -> None:
    point = replace(POINT, mechanism="MWEM", runs=50)
    bench = Bench(point, DATA)
    rows = measured(point, DATA)
    assert len(rows) == 2
    for row in rows:
        x = bench.counts[row.dataset]
        tried = [bench._rounds("0.5", "0", row.dataset, x, T).error for T in (10, 12, 14, 16)]
        assert row.error == min(tried) < max(tried)


def test_a_point_that_would_take_too_long_is_not_run() -> None:
    [row] = measured(replace(POINT, mechanism="ESM", m=2, n=4096), [])
    assert row.note.startswith("not run, predicted ")
    assert row.note.endswith(" h")
    assert isnan(row.error)


def test_a_refusal_becomes_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MECHANISMS, "LM", points.Published("matrix"))
    [row] = measured(replace(POINT, n=64, workload="WDiscrete"), DATA)
    assert "noise" in row.note
    assert isnan(row.error)


def test_the_noise_of_two_rows_is_not_the_same() -> None:
    rows = measured(replace(POINT, mechanism="NOR", runs=3), [DATA[0], replace(DATA[0], name="b")])
    assert rows[0].expected == rows[1].expected
    assert rows[0].error != rows[1].error


def test_every_setting_has_noise_of_its_own() -> None:
    start = Bench(LRM, DATA).start
    others = [
        replace(start, **{name: value})
        for name, value in (("gamma", 0.1), ("ratio", 1.7), ("share", 0.2), ("n", 64), ("m", 8))
    ]
    seeds = [points.noise_seed(row, "a") for row in (start, *others)]
    assert len(set(seeds)) == 6
    assert points.noise_seed(replace(start, share=0.5), "a") == seeds[0]


@pytest.mark.parametrize(("name", "twin"), list(zip(FAMILIES, independent.FAMILIES, strict=True)))
def test_workloads_are_the_same_written_twice(name: str, twin: str) -> None:
    for m, n in ((9, 32), (40, 16)):
        assert np.array_equal(family(name, m, n, 3), independent.FAMILIES[twin](m, n, 3))


def test_related_queries_have_the_rank_asked_for() -> None:
    for share, rank in ((0.1, 3), (0.3, 9), (1.0, 30)):
        assert np.linalg.matrix_rank(family("WRelated", 30, 64, 0, share)) == rank
