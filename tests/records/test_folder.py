"""Folders are whole or not there, and nothing of others is overwritten."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from workloads import STATES

import leastnoise as ln
from leastnoise.errors import FileError
from leastnoise.records import planfile
from leastnoise.records.folder import whole_folder


def test_a_plan_replaces_a_plan(tmp_path: Path) -> None:
    ln.plan(STATES, epsilon=1).save(tmp_path / "plan")
    ln.plan(STATES, epsilon=2).save(tmp_path / "plan")
    assert ln.load(tmp_path / "plan").epsilon == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, OSError(28, "No space left")])
@pytest.mark.parametrize("is_replacing", [False, True])
def test_a_failing_save_leaves_what_was_there(
    failure: BaseException, is_replacing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_replacing:
        ln.plan(STATES, epsilon=1).save(tmp_path / "plan")

    def fail(*arguments: object) -> None:
        raise failure

    monkeypatch.setattr(planfile, "public_facts", fail)  # after the arrays are written
    expected = FileError if isinstance(failure, OSError) else failure
    with pytest.raises(expected):
        ln.plan(STATES, epsilon=2).save(tmp_path / "plan")
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan"] * is_replacing
    assert not is_replacing or ln.load(tmp_path / "plan").epsilon == 1


@pytest.mark.parametrize("make", ["file", "folder", "full folder", "link"])
def test_what_is_no_plan_is_never_replaced(make: str, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    if make == "file":
        place.write_text("precious")
    elif make == "link":
        place.symlink_to(tmp_path / "nowhere")
    else:
        place.mkdir()
        if make == "full folder":
            (place / "thesis.tex").write_text("precious")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError, match=r"mine exists already; give another place"):
        ln.plan(STATES, epsilon=1).save(place)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_folder_above_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"absent is no folder; make it first"):
        ln.plan(STATES, epsilon=1).save(tmp_path / "absent" / "plan")


def test_relative_places_are_meant_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ln.plan(STATES, epsilon=1).save("plan")
    assert os.access(tmp_path / "plan" / "plan.json", os.R_OK)
    assert (tmp_path / "plan").stat().st_mode & 0o777 == 0o755


def test_what_a_block_raises_comes_through_and_takes_the_folder_with_it(tmp_path: Path) -> None:
    def write_half(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"), whole_folder(tmp_path / "x") as folder:
        write_half(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [{"rho": 0.5}, {"epsilon": 1}])
def test_a_release_is_saved_once_and_never_overwritten(
    arguments: dict[str, object], tmp_path: Path
) -> None:
    release = ln.plan(STATES, **arguments).release([10, 20, 30, 40])
    release.save(tmp_path / "out")
    with pytest.raises(FileError, match="out exists already"):
        release.save(tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "release.json").read_text())
    assert facts["accounted"] is False
    assert facts["measurements"][0]["noise"]["scale"] == release.noise.scale
    with np.load(tmp_path / "out" / "measurements.npz") as arrays:
        assert np.array_equal(arrays["0.y0"], release.measurements[0])
    head, *rows = (tmp_path / "out" / "answers.csv").read_text().splitlines()
    assert head == "question,estimate,std_error,low,high"
    values = np.array([[float(cell) for cell in row.split(",")[1:]] for row in rows])
    assert np.array_equal(values[:, 0], release.answers)
    assert np.array_equal(values[:, 1], release.std)
    assert (values[:, 2] < values[:, 0]).all()
    assert (values[:, 0] < values[:, 3]).all()
