"""Budgets, releases on them and checks, as people see them; every refusal in one sentence."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leastnoise.records import chain
from leastnoise.show.budget import pld_epsilon

Run = Callable[..., Any]

CREATE = ("budget", "create", "budget.db", "--dataset", "patients")
LEDGER = ("--ledger", "budget.db")


@pytest.fixture
def planned(leastnoise: Run) -> Run:
    """A plan of ε = 1/4 in the folder, and a budget of 1."""
    leastnoise("plan", "W.csv", "--epsilon", "1/4", "-o", "plan")
    leastnoise(*CREATE, "--epsilon", 1)
    return leastnoise


def release(run: Run, id: str, *more: object) -> Any:
    return run("release", "plan", "counts.csv", "-o", f"out-{id}", *LEDGER, "--id", id, *more)


def test_making_a_budget_says_what_it_is(leastnoise: Run, folder: Path) -> None:
    status, out, err = leastnoise(*CREATE, "--epsilon", "1/3", "--max-rows", 2)
    assert (status, err) == (0, "")
    assert out == (
        "patients: at most ε = 1/3 for 2 records of one person added or removed, in all; "
        "kept in budget.db\n"
    )
    more = ("--dataset", "staff", "--rho", "0.5", "--neighbors", "change_one")
    assert (
        "staff: at most ρ = 0.5 (zCDP) for one record changed"
        in leastnoise("budget", "create", "budget.db", *more).out
    )
    shown = leastnoise("budget", "budget.db").out
    assert "spent ε = 0; left ε = 0.333333\n" in shown
    assert "spent ρ = 0; left ρ = 0.5\n" in shown


def test_releases_are_listed_with_what_is_left(planned: Run) -> None:
    for id in ("q1", "q2"):
        status, out, err = release(planned, id)
        assert (status, err) == (0, "")
        assert (
            f"ε = 0.25 for one record added or removed; charged to dataset 'patients' as {id!r}"
            in (out)
        )
        assert "unaccounted" not in out
    shown = planned("budget", "budget.db").out
    assert re.search(r"q1 +ε = 0.25  20\d\d-\d\d-\d\dT[\d:]+\+00:00  answered\n", shown)
    assert "spent ε = 0.5; left ε = 0.5\n" in shown
    assert "for reading: had all been chosen beforehand, ε = 0.5 at δ = 1e-06" in shown
    with chain.reading(Path("budget.db")) as book:
        assert f"ends with entry {book.entries[-1].hash};" in shown


def test_the_same_id_gives_the_same_folder_though_the_counts_are_gone(planned: Run) -> None:
    release(planned, "q1")
    Path("counts.csv").unlink()
    shutil.move("out-q1", "first")
    assert release(planned, "q1").status == 0
    for name in ("answers.csv", "answers.parquet", "measurements.npz", "release.json"):
        assert Path("first", name).read_bytes() == Path("out-q1", name).read_bytes()
    assert planned("budget", "budget.db").out.count("answered") == 1


def test_the_fifth_quarter_is_refused(planned: Run, refusal: Run) -> None:
    for id in range(4):
        assert release(planned, str(id)).status == 0
    says = refusal("release", "plan", "counts.csv", "-o", "more", *LEDGER, "--id", "more")
    assert "the release needs ε = 0.25 and the budget has ε = 0 left" in says


def test_what_was_not_finished_is_listed_with_what_to_do(planned: Run) -> None:
    Path("counts.csv").write_text("3\n2\nmany\n")
    status, out, err = release(planned, "q1")
    assert (status, out) == (2, "")
    assert "counts.csv line 3 has a cell that is no number" in err
    assert "id 'q1' stays charged, a retry is a new id" in err
    shown = planned("budget", "budget.db").out
    assert "unfinished" in shown
    assert "q1: charged and not answered." in shown
    assert "Ask again under a new id." in shown
    Path("counts.csv").write_text("3\n2\n10\n")
    assert "id 'q1' was charged" in release(planned, "q1").err
    assert release(planned, "q2").status == 0


def test_gaussian_noise_is_told_in_rho_and_at_delta(leastnoise: Run) -> None:
    leastnoise(*CREATE, "--epsilon", 1, "--delta", "1e-6")
    leastnoise(
        "plan", "W.csv", "--epsilon", "1/4", "--delta", "1e-7", "--noise", "gaussian", "-o", "plan"
    )
    release(leastnoise, "q1")
    shown = leastnoise("budget", "budget.db").out
    spent = re.search(
        r"spent ε = 0 and ρ = (0.0016\d+) \(ε = (0.22\d+) at δ = 1e-06\); left", shown
    )
    assert spent, shown
    assert re.search(r"left ε = 0.75 for Laplace noise or ρ = 0.02\d+ for Gaussian noise", shown)
    reading = re.search(r"ε = (0.22\d+) at δ = 1e-06 \(privacy loss", shown)
    assert float(spent[2]) == pytest.approx(float(reading[1]), abs=2e-3)


def test_a_budget_that_nobody_asked_anything_of_has_no_reading(leastnoise: Run) -> None:
    leastnoise(*CREATE, "--epsilon", 1000)
    assert "for reading" not in leastnoise("budget", "budget.db").out
    leastnoise("plan", "W.csv", "--epsilon", "100", "-o", "plan")
    release(leastnoise, "q1")
    assert "for reading" not in leastnoise("budget", "budget.db").out


def test_verify_prints_what_was_checked(planned: Run, refusal: Run) -> None:
    release(planned, "q1")
    status, out, err = planned("verify", "out-q1")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["checked", "found"]
    facts = json.loads(Path("out-q1/release.json").read_text())
    assert facts["measurements"][0]["account"]["dataset"] == "patients"
    facts["measurements"][0]["privacy"]["epsilon"] = "1/8"
    Path("out-q1/release.json").write_text(json.dumps(facts))
    assert "release.json was changed after it was written" in refusal("verify", "out-q1")


def test_without_a_ledger_everything_says_unaccounted(leastnoise: Run) -> None:
    leastnoise("plan", "W.csv", "--epsilon", 1, "-o", "plan")
    assert "unaccounted" in leastnoise("release", "plan", "counts.csv", "-o", "out").out
    assert json.loads(Path("out/release.json").read_text())["accounted"] is False
    assert "unaccounted" in Path("out/README.txt").read_text()
    assert "unaccounted" in leastnoise("verify", "out").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["budget"], "missing argument 'FILE'"),
        (["budget", "nowhere.db"], "nowhere.db does not exist, or is no file; leastnoise budget"),
        (["budget", "W.csv"], "W.csv is no ledger, or is damaged"),
        (["budget", "create"], "missing argument 'FILE'"),
        (["budget", "create", "b.db", "--epsilon", 1], "missing option '--dataset'"),
        (["budget", "create", "b.db", "--dataset", "x"], "give exactly one of epsilon and rho"),
        (["budget", "create", "b.db", "--dataset", "x", "--epsilon", 0], "epsilon must be greater"),
        (["budget", "create", "b.db", "--dataset", " ", "--epsilon", 1], "dataset must be a print"),
        (
            ["budget", "create", "no/b.db", "--dataset", "x", "--epsilon", 1],
            "no/b.db cannot be opened; check that its folder is there",
        ),
        (
            ["budget", "create", "W.csv", "--dataset", "x", "--epsilon", 1],
            "W.csv is no ledger, or is damaged",
        ),
        (["budget", "create", ".", "--dataset", "x", "--epsilon", 1], "cannot be opened"),
        (
            ["budget", "create", "b.db", "--dataset", "x", "--rho", 1, "--delta", "1e-6"],
            "with rho leave delta at 0",
        ),
        (["verify"], "missing argument 'DIR'"),
        (["verify", "nowhere"], "nowhere holds no whole release"),
        (["verify", "W.csv"], "W.csv holds no whole release"),
    ],
)
def test_refusals(refusal: Run, arguments: list[object], says: str) -> None:
    assert says in refusal(*arguments)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--ledger", "nowhere.db", "--id", "q"], "nowhere.db does not exist, or is no file"),
        (["--ledger", "budget.db"], "a release on a ledger needs an id"),
        (["--id", "q"], "id and dataset are for a ledger; give ledger= too"),
        (["--dataset", "patients"], "id and dataset are for a ledger"),
        (
            [*LEDGER, "--id", "q", "--dataset", "staff"],
            "no budget for dataset 'staff', only for 'p",
        ),
        ([*LEDGER, "--id", "q"], "missing.csv does not exist"),
    ],
)
def test_releases_that_are_refused(planned: Run, refusal: Run, more: list[str], says: str) -> None:
    assert says in refusal("release", "plan", "missing.csv", "-o", "out", *more)
    assert "spent ε = 0;" in planned("budget", "budget.db").out


def test_a_place_that_is_taken_is_refused_before_the_charge(planned: Run, refusal: Run) -> None:
    says = refusal("release", "plan", "counts.csv", "-o", "plan", *LEDGER, "--id", "q1")
    assert "plan exists already" in says
    assert "spent ε = 0;" in planned("budget", "budget.db").out


def test_a_folder_that_cannot_be_written_leaves_answers_in_the_ledger(
    planned: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(np, "savez", full)
        status, out, err = release(planned, "q1")
    assert (status, out) == (2, "")
    assert "out-q1 could not be written: No space left on device" in err
    assert not Path("out-q1").exists()
    Path("counts.csv").unlink()
    assert release(planned, "q1").status == 0


def test_a_locked_ledger_is_one_sentence(
    planned: Run, refusal: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "PATIENCE", 0.05)
    other = sqlite3.connect("budget.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    (Path.cwd() / "budget.db-journal").touch()
    says = refusal("release", "plan", "counts.csv", "-o", "out", *LEDGER, "--id", "q1")
    assert "is in use by another process; nothing was written" in says
    other.close()


def test_the_reading_is_that_of_a_plain_sum_for_one_release() -> None:
    from fractions import Fraction

    from leastnoise.release.budget import Charge

    one = Charge(Fraction(1, 2), Fraction(0), None, Fraction(0))
    assert pld_epsilon([one], Fraction(1, 10**9)) == pytest.approx(0.5, abs=1e-3)
    assert pld_epsilon([one] * 40, Fraction(1, 10**6)) < 18  # 20 by adding
