"""Settings of figures: those of the paper, and what a bad file is told."""

from pathlib import Path

import pytest

from leastnoise.errors import FileError, InputError
from leastnoise.experiments.figure import Figure, names, read
from leastnoise.experiments.histograms import histograms
from leastnoise.experiments.point import BOUND, ESM, LEAST_NOISE, LRM

GOOD = """
title = "Mine"
x = "n"
workloads = ["WRange"]
mechanisms = ["LM", "LRM"]
n = [16, 32]
m = [8]

[quick]
n = [16]
"""


def written(path: Path, text: str) -> str:
    file = path / "mine.toml"
    file.write_text(text)
    return str(file)


def test_there_are_the_24_figures_of_the_paper() -> None:
    figures = [read(name) for name in names()]
    assert len(figures) == 24
    assert sum(figure.delta == "0" for figure in figures) == 12
    assert len({figure.title for figure in figures}) == 24


@pytest.mark.parametrize("name", names())
def test_a_figure_has_the_papers_parameters(name: str) -> None:
    figure = read(name)
    swept = {
        "n": (128, 256, 512, 1024, 2048, 4096, 8192), "m": (64, 128, 256, 512, 1024),
        "share": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        "gamma": (1e-4, 1e-3, 1e-2, 1e-1, 1, 10),
        "ratio": (0.8, 1.0, 1.2, 1.4, 1.7, 2.1, 2.5, 3.0, 3.6),
    }  # fmt: skip
    assert getattr(figure, figure.x) == swept[figure.x]
    assert figure.runs == 20
    assert figure.delta in ("0", "1e-4")
    assert ("MWEM" in figure.mechanisms) == (figure.lines == "mechanism" and figure.delta == "0")


@pytest.mark.parametrize("name", names())
def test_the_quick_one_is_smaller(name: str) -> None:
    known, quick = histograms(), read(name, quick=True)
    less, whole = quick.points(known, 0), read(name).points(known, 0)
    assert 1 < len(less) < len(whole)
    assert sum(one.work for one in less) < 0.3 * sum(one.work for one in whole)


def test_points_leave_out_what_does_not_matter_and_are_shared() -> None:
    known = histograms()
    by_n, by_m = (read(f"{x}-wrange-epsilon").points(known, 0) for x in ("n", "m"))
    shared = set(by_n) & set(by_m)
    assert {point.mechanism for point in shared} == {*read("n-wrange-epsilon").mechanisms, BOUND}
    assert {(point.m, point.n) for point in shared} == {(256, 1024)}
    assert all(point.gamma is None for point in by_n if point.mechanism != LRM)
    assert all(point.share is None for point in by_n)


def test_a_search_that_suits_both_definitions_is_one_point() -> None:
    known = histograms()
    pure, both = (
        {point for point in read(f"n-wrange-{kind}").points(known, 0) if point.mechanism == ESM}
        for kind in ("epsilon", "delta")
    )
    assert pure == both


def test_other_data_and_seeds_are_other_points() -> None:
    known, figure = histograms(), read("gamma-epsilon")
    keys = {
        point.key
        for some, seed in ((known, 0), (known, 1), (known[1:], 0))
        for point in figure.points(some, seed)
        if point.mechanism == LRM
    }
    assert len(keys) == 3 * 4 * 6


def test_lrm_with_the_least_noise_has_its_own_line_where_the_papers_has_more() -> None:
    assert LEAST_NOISE in read("n-wrange-delta").shown
    assert LEAST_NOISE not in read("n-wrange-epsilon").shown


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    assert read(path) == Figure("mine", "Mine", "n", ("WRange",), ("LM", "LRM"), n=(16, 32), m=(8,))
    assert (read(path, quick=True).n, read(path, quick=True).name) == ((16,), "mine-quick")


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ('"WRange"', '"WRanges"', "workloads takes WDiscrete, WRange, .* not 'WRanges'"),
        ('"LRM"', '"LRN"', "mechanisms takes .* not 'LRN'"),
        ('x = "n"', 'x = "k"', "x takes n, m, .* not 'k'"),
        ('title = "Mine"', "", "needs 'title'"),
        ("m = [8]", "mm = [8]", "has 'mm'"),
        ("m = [8]", "m = 8", "m must be a list of whole numbers"),
        ("m = [8]", "m = [0]", "m must be a list of whole numbers"),
        ("m = [8]", "gamma = [-1]", "gamma must be a list of numbers above 0"),
        ("m = [8]", "runs = 0", "runs must be a whole number"),
        ("m = [8]", "epsilon = [1]", "epsilon must be a list of numbers in quotes"),
        ("m = [8]", "workloads = ", "is no TOML"),
    ],
)
def test_a_bad_file_is_told_what_is_wrong(
    tmp_path: Path, before: str, after: str, complaint: str
) -> None:
    assert before in GOOD
    with pytest.raises(FileError, match=rf"mine\.toml.*{complaint}"):
        read(written(tmp_path, GOOD.replace(before, after, 1)))


def test_marginals_need_a_power_of_two(tmp_path: Path) -> None:
    text = GOOD.replace("WRange", "WMarginal").replace("[16, 32]", "[12]")
    with pytest.raises(FileError, match=r"WMarginal needs n to be a power of two"):
        read(written(tmp_path, text))


def test_quick_must_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="quick must be a table"):
        read(written(tmp_path, "quick = 3\n" + GOOD.split("[quick]")[0]))


def test_a_search_that_suits_both_serves_any_delta(tmp_path: Path) -> None:
    text = GOOD.replace('"LM", "LRM"', '"ESM"').replace("m = [8]", 'm = [8]\ndelta = "1e-5"')
    figure = read(written(tmp_path, text))
    [promises] = {p.promises for p in figure.points(histograms(), 0) if p.mechanism == ESM}
    assert ("0.1", "1e-5") in promises


def test_an_unknown_name_is_told_where_the_known_ones_are() -> None:
    with pytest.raises(InputError, match=r"no experiment is called 'gamme'; .* lists them"):
        read("gamme")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.toml cannot be read"):
        read(str(tmp_path / "none.toml"))
