"""Figures from end to end: measured, stopped, gone on with, drawn, and the same once more."""

import csv
from pathlib import Path
from typing import TypeAlias

import pytest
from own_data import folder
from pyarrow import parquet

from leastnoise.experiments import runner
from leastnoise.experiments.draw import draw
from leastnoise.experiments.figure import Figure
from leastnoise.experiments.gallery import write_gallery
from leastnoise.experiments.rows import Row, load_table, without_time
from leastnoise.experiments.runner import Progress, run

Done: TypeAlias = tuple[Path, dict[str, list[Row]]]

PURE = Figure(
    "pure", "Pure", "n", ("WRange",), ("LM", "MWEM", "LRM", "ours"), n=(8, 16), m=(6,), runs=400
)
BOTH = Figure(
    "both", "Both", "gamma", ("WDiscrete", "WMarginal"), ("LRM",), "epsilon", "workload",
    ("error", "seconds"), n=(16,), m=(6,), gamma=(0.01, 1.0), epsilon=("1", "0.1"), delta="1e-4",
    datasets=1, runs=400,
)  # fmt: skip


def results(out: Path, *figures: Figure, seed: int = 0) -> dict[str, list[Row]]:
    """Run, draw, and give the rows back."""
    found: dict[str, list[Row]] = {}

    def finished(figure: Figure, rows: list[Row]) -> None:
        found[figure.name] = rows
        draw(figure, rows, out)

    run(figures, out, seed=seed, jobs=1, finished=finished)
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    out = tmp_path_factory.mktemp("done")
    return out, results(out, PURE, BOTH)


def test_errors_are_those_predicted(done: Done) -> None:
    """400 runs: within a quarter, and on average within 3%."""
    ratios = [
        row.error / row.expected for rows in done[1].values() for row in rows if row.expected > 0
    ]
    assert len(ratios) == 2 * 3 * 3 + 2 * 2 * 2 * 2
    assert all(0.75 < ratio < 1.25 for ratio in ratios)
    assert abs(sum(ratios) / len(ratios) - 1) < 0.03


def test_tables_hold_every_row_and_where_it_comes_from(
    done: Done,
) -> None:
    out, found = done
    for name, rows in found.items():
        with (out / f"{name}.csv").open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        table = parquet.read_table(out / f"{name}.parquet")
        assert len(rows) == len(lines) == table.num_rows
        errors = table.column("error").to_numpy()
        assert errors == pytest.approx([row.error for row in rows], rel=1e-6, nan_ok=True)
        assert [row.mechanism for row in load_table(out / f"{name}.csv")] == [
            row.mechanism for row in rows
        ]
        for line in lines:
            assert "leastnoise" in line["versions"]
            assert "cores" in line["machine"]
            assert line["finished"].startswith("20")
            assert line["seed"] == "0"


def test_drawings_show_every_line_and_what_is_out_of_reach(done: Done) -> None:
    """matplotlib writes the words whose outlines it draws as comments."""
    out, _ = done
    words = {
        "pure": ["Pure", "LM", "MWEM", "LRM", "ours", "Adult", "no unbiased linear mechanism"],
        "both": ["Both", "ε = 1", "ε = 0.1", "any ε", "WDiscrete", "WMarginal", "seconds"],
    }
    for name, wanted in words.items():
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        drawn = (out / f"{name}.svg").read_text()
        assert [word for word in wanted if f"<!-- {word} -->" not in drawn] == []
    assert (out / "pure.svg").read_text().count("#e6e6e6") == 3  # a shade in every panel


def test_the_same_seed_gives_the_same_figures(done: Done, tmp_path: Path) -> None:
    """Strategies (their predictions), errors and drawings, in the pure figure to the byte."""
    out, found = done
    again = results(tmp_path, PURE, BOTH)
    for name, rows in found.items():
        assert sorted(map(repr, map(without_time, rows))) == sorted(
            map(repr, map(without_time, again[name]))
        )
    assert (out / "pure.svg").read_bytes() == (tmp_path / "pure.svg").read_bytes()
    assert (out / "pure.png").read_bytes() == (tmp_path / "pure.png").read_bytes()


def test_another_seed_gives_others(done: Done, tmp_path: Path) -> None:
    other = results(tmp_path, PURE, seed=1)["pure"]
    assert {row.error for row in other if row.dataset}.isdisjoint(
        row.error for row in done[1]["pure"]
    )


def test_an_interrupted_run_goes_on(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after five points; the next run measures the others only."""
    begun: list[str] = []

    def stop(progress: Progress) -> None:
        begun.append(progress.last)
        if progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([PURE], tmp_path, jobs=1, show=stop)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "points").glob("*.json")}
    assert len(kept) == 5
    assert not (tmp_path / "pure.csv").exists()
    seen: list[Progress] = []
    run([PURE], tmp_path, jobs=1, show=seen.append)
    assert [one.done for one in seen] == [5, 6, 7, 8, 9, 10]
    assert (seen[-1].share, seen[-1].left, seen[-1].points) == (1.0, 0.0, 10)
    assert all(path.stat().st_mtime_ns == then for path, then in kept.items())
    rows = load_table(tmp_path / "pure.csv")
    assert [without_time(row).error for row in rows if row.dataset] == pytest.approx(
        [row.error for row in done[1]["pure"] if row.dataset], rel=1e-6
    )


def test_a_damaged_point_is_measured_again(tmp_path: Path) -> None:
    figure = Figure("one", "One", "n", ("WRange",), ("LM",), n=(8,), m=(3,), runs=2)
    run([figure], tmp_path, jobs=1)
    [path] = (tmp_path / "points").glob("*LM*.json")
    path.write_text(path.read_text()[:40])
    seen: list[Progress] = []
    run([figure], tmp_path, jobs=1, show=seen.append)
    assert seen[-1].last.startswith("LM")


def test_two_processes_find_what_one_does(done: Done, tmp_path: Path) -> None:
    run([PURE], tmp_path, jobs=2)
    errors = [row.error for row in load_table(tmp_path / "pure.csv") if row.dataset]
    assert errors == pytest.approx([r.error for r in done[1]["pure"] if r.dataset], rel=1e-6)


def test_a_folder_of_ones_own_data(tmp_path: Path) -> None:
    """The three files of the folder, and Adult."""
    figure = Figure("own", "Own", "n", ("WRange",), ("LM", "MWEM"), n=(2, 3), m=(3,), runs=50)
    data = tmp_path / "data"
    data.mkdir()
    run([figure], tmp_path, data=folder(data), jobs=1)
    rows = [row for row in load_table(tmp_path / "own.csv") if row.dataset]
    names = {"search_logs", "nettrace", "social_network", "adult"}
    assert {row.dataset for row in rows} == names
    draw(figure, load_table(tmp_path / "own.csv"), tmp_path)
    assert "Search Log" in (tmp_path / "own.svg").read_text()  # in a comment beside its outlines


def test_a_gallery_shows_every_figure_that_is_there(
    done: Done,
) -> None:
    out, _ = done
    write_gallery([PURE, BOTH, Figure("none", "None", "n", ("WRange",), ("LM",))], out)
    page = (out / "gallery.md").read_text()
    assert "![Pure](pure.svg)" in page
    assert "![Both](both.svg)" in page
    assert "None" not in page
    assert runner.machine() in page
