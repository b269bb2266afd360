"""leastnoise experiment, as a person types it."""

from collections.abc import Callable
from pathlib import Path

from leastnoise.experiments.figure import names

TINY = """
title = "Tiny"
x = "n"
workloads = ["WRange"]
mechanisms = ["LM", "LRM"]
n = [8, 16]
m = [4]
runs = 3
"""


def test_without_a_name_it_lists_them(leastnoise: Callable) -> None:
    status, out, err = leastnoise("experiment")
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == names()


def test_a_figure_of_ones_own_is_measured_and_drawn(leastnoise: Callable, folder: Path) -> None:
    Path("tiny.toml").write_text(TINY)
    status, out, _ = leastnoise("experiment", "tiny.toml", "-o", "here", "--jobs", 1)
    assert status == 0
    assert "tiny: 14 rows in here/tiny.csv, and drawn" in out
    written = {path.name for path in (folder / "here").iterdir()}
    assert written == {
        "gallery.md", "points", "tiny.csv", "tiny.parquet", "tiny.png", "tiny.svg",
    }  # fmt: skip


def test_a_quick_run_stands_beside_the_whole_one(leastnoise: Callable, folder: Path) -> None:
    Path("my.own.toml").write_text(TINY + "[quick]\nn = [8]\n")
    for more in ((), ("--quick",)):
        assert leastnoise("experiment", "my.own.toml", "-o", "here", "--jobs", 1, *more)[0] == 0
    names = {path.name for path in (folder / "here").glob("*.csv")}
    assert names == {"my.own.csv", "my.own-quick.csv"}


def test_redrawing_measures_nothing(leastnoise: Callable, folder: Path) -> None:
    Path("tiny.toml").write_text(TINY)
    leastnoise("experiment", "tiny.toml", "-o", "here", "--jobs", 1)
    drawn = Path("here/tiny.svg").read_bytes()
    for path in (folder / "here").rglob("*"):
        if path.suffix in (".json", ".svg", ".png", ".parquet"):
            path.unlink()
    status, out, _ = leastnoise("experiment", "tiny.toml", "-o", "here", "--redraw")
    assert (status, out) == (0, "1 figures drawn in here\n")
    assert Path("here/tiny.svg").read_bytes() == drawn
    assert not list(Path("here/points").iterdir())


def test_refusals(refusal: Callable[..., str]) -> None:
    assert "no experiment is called 'gamma'" in refusal("experiment", "gamma")
    assert "holds no tables" in refusal("experiment", "gamma-epsilon", "--redraw", "-o", "none")
    assert "at least 0" in refusal("experiment", "gamma-epsilon", "--jobs", -1)
    assert "search_logs.txt cannot be read" in refusal(
        "experiment", "gamma-epsilon", "--quick", "--data", "none", "-o", "none"
    )
