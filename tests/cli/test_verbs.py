"""What each verb does when all is well."""

import csv
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.cli.progress import _line
from leastnoise.strategy.ascent import Progress
from leastnoise.strategy.choose import MECHANISMS

Run = Callable[..., Any]

PROMISE = ("--epsilon", 1)
OPTIONS = {
    "epsilon": "1/3",
    "delta": "1e-6",
    "noise": "gaussian",
    "objective": "worst",
    "weights": "weights.csv",
    "max_rows": 2,
    "neighbors": "change_one",
    "calibration": "paper",
    "max_total": 1000,
    "deadline": 5.0,
    "seed": 3,
}
PARAMETERS = set(inspect.signature(ln.plan).parameters)
HANDED_ON = {**OPTIONS, "weights": [1, 2]}


class Recorded(Exception):
    """Ends a call once the arguments are known."""


def as_arguments(options: dict[str, object]) -> list[object]:
    return [
        text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)
    ]


@pytest.mark.parametrize(
    ("verb", "more"), [("plan", {"mechanism": "optimal"}), ("compare", {})], ids=["plan", "compare"]
)
def test_every_option_reaches_the_library(
    leastnoise: Run, monkeypatch: pytest.MonkeyPatch, verb: str, more: dict[str, object]
) -> None:
    given: dict[str, Any] = {}

    def record(queries: ln.Workload, **options: object) -> None:
        given.update(options, queries=queries)
        raise Recorded

    Path("weights.csv").write_text("1\n2\n")
    monkeypatch.setattr(ln, verb, record)
    with pytest.raises(Recorded):
        leastnoise(verb, "W.csv", *as_arguments({**OPTIONS, **more}))
    assert {name: given[name] for name in {**HANDED_ON, **more}} == {**HANDED_ON, **more}
    assert given["queries"].shape == (2, 3)
    assert callable(given["callback"])
    unknown = PARAMETERS - set(given) - {"mechanism"}
    assert unknown == {"max_std", "settings", "given"}


def test_plan_release(leastnoise: Run, folder: Path) -> None:
    planned = leastnoise("plan", "W.csv", *PROMISE, "--out", "plan")
    assert planned.status == 0
    assert planned.err == ""
    assert "ε = 1 for one record added or removed" in planned.out
    assert planned.out.endswith("  written    plan\n")

    released = leastnoise("release", "plan", "counts.csv", "--out", "answers")
    assert released.status == 0
    assert released.err == ""
    assert "unaccounted" in released.out
    with open("answers/answers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["question"] for row in rows] == ["q1", "q2"]
    assert np.abs(float(rows[0]["estimate"]) - 5) < 100
    facts = json.loads(Path("answers/release.json").read_text())
    assert facts["measurements"][0]["privacy"]["epsilon"] == "1"
    assert facts["accounted"] is False
    assert sorted(path.name for path in folder.iterdir()) == [
        "W.csv",
        "answers",
        "counts.csv",
        "plan",
    ]


def test_gaussian_release(leastnoise: Run) -> None:
    promise = (*PROMISE, "--delta", "1e-6", "--noise", "gaussian")
    assert leastnoise("plan", "W.csv", *promise, "-o", "plan").status == 0
    assert leastnoise("release", "plan", "counts.csv", "-o", "answers").status == 0
    assert Path("answers/answers.csv").is_file()


def test_a_plan_is_replaced(leastnoise: Run) -> None:
    for epsilon in (1, 2):
        assert leastnoise("plan", "W.csv", "--epsilon", epsilon, "--out", "plan").status == 0
    assert ln.load("plan").epsilon == 2


def test_verbose_lists_queries_and_candidates(leastnoise: Run) -> None:
    brief = leastnoise("plan", "W.csv", *PROMISE)
    wordy = leastnoise("plan", "W.csv", *PROMISE, "--verbose")
    assert wordy.out.startswith(brief.out)
    assert re.search(r"^q2 +\d", wordy.out, re.MULTILINE)
    assert re.search(r"^nor +laplace +\d", wordy.out, re.MULTILINE)


def test_compare_tries_everything(leastnoise: Run) -> None:
    status, out, err = leastnoise("compare", "W.csv", *PROMISE, "--delta", "1e-6")
    assert (status, err) == (0, "")
    named = {line.split()[0] for line in out.splitlines()[1:-1]}
    assert named == set(MECHANISMS)
    assert "no unbiased linear strategy has less than" in out.splitlines()[-1]


def test_compare_prints_json_and_csv(leastnoise: Run) -> None:
    """What a program reads: nothing else on the line, and the figures of the library."""
    expected = [(one.mechanism, one.note) for one in ln.compare([[1, 1, 0], [0, 1, 1]], epsilon=1)]
    as_json = leastnoise("compare", "W.csv", *PROMISE, "--json")
    as_csv = leastnoise("compare", "W.csv", *PROMISE, "--csv")
    assert (as_json.status, as_json.err, as_csv.status, as_csv.err) == (0, "", 0, "")
    facts, rows = json.loads(as_json.out), list(csv.DictReader(as_csv.out.splitlines()))
    assert [(row["mechanism"], row["note"]) for row in facts["candidates"]] == expected
    assert [(row["mechanism"], row["note"]) for row in rows] == expected
    for fact, row in zip(facts["candidates"], rows, strict=True):
        assert fact["ratio_to_bound"] == fact["expected_error"] / facts["lower_bound"]
        assert float(row["ratio_to_bound"]) == fact["ratio_to_bound"]


def test_compare_takes_a_budget_and_counts(leastnoise: Run) -> None:
    status, out, err = leastnoise(
        "compare", "W.csv", *PROMISE, "--budget", "1e-9", "--counts", "counts.csv"
    )
    assert (status, err) == (0, "")
    assert re.search(r"^esm .* not run, predicted", out, re.MULTILINE)
    assert re.search(r"^mwem +laplace .* rehearsed on the counts given", out, re.MULTILINE)


def test_budget_and_counts_reach_the_library(
    leastnoise: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def record(queries: ln.Workload, **options: object) -> None:
        given.update(options)
        raise Recorded

    monkeypatch.setattr(ln, "compare", record)
    for more, budget in (([], 60), (["--budget", 7.5], 7.5)):
        with pytest.raises(Recorded):
            leastnoise("compare", "W.csv", *PROMISE, *more, "--counts", "counts.csv")
        assert (given["budget"], list(given["counts"])) == (budget, [3, 2, 10])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("branching=4", {"branching": 4}),
        ("gamma=1e-3", {"gamma": 0.001}),
        ("root=false", {"root": False}),
        ("rank=null", {"rank": None}),
        ("name=much = more", {"name": "much = more"}),
        ("name=", {"name": ""}),
    ],
)
def test_settings_reach_the_library_as_what_they_are(
    leastnoise: Run, monkeypatch: pytest.MonkeyPatch, given: str, expected: dict[str, object]
) -> None:
    seen: dict[str, object] = {}

    def record(queries: ln.Workload, **options: object) -> None:
        seen.update(options)
        raise Recorded

    monkeypatch.setattr(ln, "plan", record)
    with pytest.raises(Recorded):
        leastnoise("plan", "W.csv", *PROMISE, "--set", given, "--set", "more=1")
    more = {name: seen[name] for name in set(seen) - PARAMETERS}
    assert more == {**expected, "more": 1}
    assert [type(more[name]) for name in expected] == [type(value) for value in expected.values()]


def test_a_tree_of_a_branching_of_ones_own(leastnoise: Run) -> None:
    options = ("--mechanism", "hierarchical", "--set", "branching=4", "--set", "root=true")
    out = leastnoise("plan", "W.csv", *PROMISE, *options).out
    assert "hierarchical: 4 numbers measured with laplace noise" in out
    assert "note       branching 4, with its root" in out


def test_the_paper_s_noise_is_marked_on_every_record(leastnoise: Run) -> None:
    paper = ("--delta", "1e-4", "--noise", "gaussian", "--calibration", "paper")
    planned = leastnoise("plan", "W.csv", *PROMISE, *paper, "-o", "plan")
    assert "with the noise of the paper" in planned.out
    released = leastnoise("release", "plan", "counts.csv", "-o", "answers")
    assert "with the noise of the paper" in released.out
    plan_facts = json.loads(Path("plan/plan.json").read_text())
    [measured] = json.loads(Path("answers/release.json").read_text())["measurements"]
    for facts in (plan_facts, measured):
        assert facts["privacy"]["calibration"] == "paper"
    assert ln.load("plan").privacy.calibration == "paper"


def test_names_are_printed_as_they_are(leastnoise: Run) -> None:
    """Neither "[low]" nor "[/b]" is markup, ":cat:" is no emoji, and a long name is not cut."""
    names = ["[low] income", "[/b]", ":cat: owners", "long " * 40 + "name"]
    rows = [",".join([name, *("01"[i == j] for j in range(4))]) for i, name in enumerate(names)]
    Path("named.csv").write_text("\n".join(["name,a,b,c,d", *rows]))
    out = leastnoise("plan", "named.csv", *PROMISE, "--verbose").out
    assert [name for name in names if re.search(f"^{re.escape(name)} ", out, re.MULTILINE)] == names


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_numpy_files(leastnoise: Run, kind: str) -> None:
    save = {"npy": np.save, "npz": np.savez}[kind]
    save(f"W2.{kind}", np.array([[1, 1, 0], [0, 1, 1]]))
    assert leastnoise("plan", f"W2.{kind}", *PROMISE) == leastnoise("plan", "W.csv", *PROMISE)


def test_demo(leastnoise: Run) -> None:
    status, out, err = leastnoise("demo")
    assert (status, err) == (0, "")
    assert "24,898" in out
    assert "up to age 64" in out


def test_version_and_help(leastnoise: Run) -> None:
    assert leastnoise("--version") == (0, f"leastnoise {ln.__version__}\n", "")
    status, out, err = leastnoise()
    assert (status, err) == (0, "")
    assert out == leastnoise("--help").out
    assert "..." not in out.split("Commands:")[1]  # no summary is cut short


@pytest.mark.parametrize("verb", ["demo", "plan", "compare", "release", "verify", "budget"])
def test_help_is_plain_text(leastnoise: Run, verb: str) -> None:
    status, out, err = leastnoise(verb, "--help")
    assert (status, err) == (0, "")
    assert not set(out) & set("│╭╰\x1b`*")
    assert max(map(len, out.splitlines())) <= 80


def test_help_names_every_mechanism(leastnoise: Run) -> None:
    words = " ".join(leastnoise("plan", "--help").out.split())
    *others, last = ("auto", *MECHANISMS)
    assert re.search(f"{', '.join(others)}(,| or) {last}( or mwem)?[.]", words)


def test_progress_line() -> None:
    step = Progress("optimal", step=7, achieved=3.0, lower=0.0, seconds=12.4)
    assert _line(step) == "optimal, step 7, 12 s: error 3 at unit noise"
    proven = Progress("optimal", step=7, achieved=3.0, lower=2.5, seconds=12.4)
    assert _line(proven).endswith("12 s: at most 20% above the least possible error")


def test_the_library_does_not_import_the_command_line() -> None:
    script = "import sys, leastnoise; sys.exit(bool({'typer', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
