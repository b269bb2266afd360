"""Whatever a stranger may get wrong: one sentence, status 2, nothing written, no traceback."""

import errno
import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]

PROMISE = ("--epsilon", 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["plan"], "missing argument 'W'; see leastnoise plan --help"),
        (["release", "plan"], "missing argument 'COUNTS'; see leastnoise release --help"),
        (["release", "p", "c"], "missing option '--out' / '-o'; see leastnoise release --help"),
        (["plan", "W.csv", "--bogus"], "no such option: --bogus"),
        (["plan", "W.csv", "more"], r"unexpected extra argument\(s\) \(more\)"),
        (["plan", "W.csv", "--epsilon"], "option '--epsilon' requires an argument"),
        (["plan", "W.csv", "--max-rows", "1.5"], "'--max-rows'"),
        (["plan", "W.csv", "--max-total", "1e9"], "'--max-total'"),
        (["plan", "W.csv", "--deadline", "soon"], "'--deadline'"),
        (["plan", "W.csv", "--seed", "x"], "'--seed'"),
        (["answer"], "no such command 'answer'; see leastnoise --help"),
        (["--verbose"], "no such option: --verbose"),
    ],
)
def test_usage(refusal: Run, arguments: list[str], says: str) -> None:
    assert re.search(says, refusal(*arguments))


@pytest.mark.parametrize("verb", ["plan", "compare"])
def test_a_budget_is_needed(refusal: Run, verb: str) -> None:
    assert "exactly one of epsilon and rho" in refusal(verb, "W.csv")
    assert "exactly one of epsilon and rho" in refusal(verb, "W.csv", *PROMISE, "--rho", 1)


@pytest.mark.parametrize(
    "budget", ["much", "nan", "inf", "", "0", "-1", "1e401", "1e999999999", "1/0", "9" * 200]
)
@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_budgets(refusal: Run, name: str, budget: str) -> None:
    assert f"{name} must be" in refusal("plan", "W.csv", f"--{name}", budget)


@pytest.mark.parametrize("budget", ["1e-400", "1e-300", "1e-30", "1e30", "1e300", "1e400"])
@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_extreme_budgets_never_end_in_a_traceback(leastnoise: Run, name: str, budget: str) -> None:
    status, out, err = leastnoise("plan", "W.csv", f"--{name}", budget)
    assert (status, err) == (0, "") or (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--delta", "1"], "delta must be at least 0 and below 1"),
        (["--delta", "-0.1"], "delta must be at least 0 and below 1"),
        (["--delta", "nan"], "delta must be a finite number"),
        (["--mechanism", "best"], "mechanism must be one of 'auto', 'nod'"),
        (["--noise", "uniform"], "noise must be 'auto', 'laplace' or 'gaussian'"),
        (["--noise", "gaussian"], "noise"),
        (["--objective", "least"], "objective must be 'total' or 'worst'"),
        (["--neighbors", "bounded"], "neighbors must be 'add_remove' or 'change_one'"),
        (["--calibration", "exact"], "calibration must be 'analytic' or 'paper', not 'exact'"),
        (["--calibration", "paper"], "calibration='paper' is for Gaussian noise; give epsilon and"),
        (["--max-rows", "0"], "max_rows must be at least 1"),
        (["--max-total", "0"], "max_total must be at least 1"),
        (["--max-total", "9" * 30], r"max_total must be below 2\*\*63"),
        (["--deadline", "0"], "deadline must be a positive number"),
        (["--deadline", "nan"], "deadline must be a positive number"),
        (["--seed", "-1"], "seed must be a whole number"),
        (["--weights", "missing.csv"], "missing.csv does not exist"),
        (["--weights", "short.csv"], "weights must be one number per query, 2 in all"),
        (["--weights", "negative.csv"], "weights must be finite, at least 0, and not all 0"),
        (["--weights", "words.csv"], "words.csv line 2 has a cell that is no number"),
    ],
)
def test_options(refusal: Run, options: list[str], says: str) -> None:
    Path("short.csv").write_text("1\n")
    Path("negative.csv").write_text("1\n-1\n")
    Path("words.csv").write_text("1\nmany\n")
    assert re.search(says, refusal("plan", "W.csv", *PROMISE, *options))
    if options[0] != "--mechanism":
        assert re.search(says, refusal("compare", "W.csv", *PROMISE, *options))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--set", "branching"], "--set takes name=value, such as branching=4, not 'branching'"),
        (["--set", "=4"], "--set takes name=value, such as branching=4, not '=4'"),
        (["--set", "4=branching"], "--set takes name=value"),
        (["--set", "a-b=4"], "--set takes name=value"),
        (["--set", ""], "--set takes name=value"),
        (["--set", "brunching=4"], "brunching is no argument of plan; mechanism='hierarchical'"),
        (["--set", "branching=four"], "branching must be a whole number .*, not 'four'"),
        (["--set", "branching=NaN"], "branching must be a whole number .*, not nan"),
        (["--set", "branching=[4]"], r"branching must be a whole number .*, not \[4\]"),
        (["--set", "branching={"], "branching must be a whole number .*, not '{'"),
        (["--set", "root=True"], "root must be True or False, not 'True'"),
    ],
)
def test_settings(refusal: Run, options: list[str], says: str) -> None:
    message = refusal("plan", "W.csv", *PROMISE, "--mechanism", "hierarchical", *options)
    assert re.search(says, message)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--json", "--csv"], "give --json or --csv, not both"),
        (["--budget", "0"], "budget must be a positive number of seconds, not 0.0"),
        (["--budget", "nan"], "budget must be a positive number of seconds, not nan"),
        (["--budget", "long"], "'--budget'"),
        (["--counts", "missing.csv"], "missing.csv does not exist"),
        (["--counts", "short.csv"], "counts must have length 3"),
        (["--counts", "negative.csv"], "counts must not be negative"),
        (["--set", "branching=4"], "no such option: --set"),
        (["--mechanism", "nod"], "no such option: --mechanism"),
    ],
)
def test_comparisons(refusal: Run, options: list[str], says: str) -> None:
    Path("short.csv").write_text("1\n2\n")
    Path("negative.csv").write_text("1\n2\n-3\n")
    assert re.search(says, refusal("compare", "W.csv", *PROMISE, *options))


@pytest.mark.parametrize("place", ["missing.csv", "W", "W.txt", "", ".", "folder.csv", "a" * 300])
def test_no_such_workload(refusal: Run, place: str) -> None:
    Path("folder.csv").mkdir()
    assert re.search("does not exist|unknown ending", refusal("plan", place, *PROMISE))


def test_a_name_of_two_lines_is_told_in_one(refusal: Run) -> None:
    assert "a b.csv does not exist" in refusal("plan", "a\nb.csv", *PROMISE)


def test_a_name_longer_than_the_system_allows(refusal: Run) -> None:
    assert "cannot be read" in refusal("plan", "a" * 250 + "a.csv" * 10, *PROMISE)


@pytest.mark.parametrize("kind", ["csv", "npy", "npz"])
def test_an_unreadable_workload(refusal: Run, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Not by chmod: the superuser may read everything."""

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    Path(f"secret.{kind}").touch()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", forbidden)
        assert "cannot be read: Permission denied" in refusal("plan", f"secret.{kind}", *PROMISE)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("header.csv", b"a,b,c\n"),
        ("ragged.csv", b"1,1\n1\n"),
        ("text.csv", b"1,1\n1,one\n"),
        ("utf16.csv", "1,1\n".encode("utf-16")),
        ("binary.csv", bytes(range(256))),
        ("zero.csv", b"0,0\n0,0\n"),
        ("nan.csv", b"1,nan\n"),
        ("huge.csv", b"1,1e400\n"),
        ("twice.csv", b"name,x,y\na,1,0\na,0,1\n"),
        ("empty.npy", b""),
        ("cut.npy", b"\x93NUMPY\x01\x00"),
        ("text.npy", b"1,1\n"),
        ("pickle.npy", pickle.dumps([[1, 1]])),
        ("empty.npz", b""),
        ("cut.npz", b"PK\x03\x04 and no more"),
    ],
)
def test_bad_workload_files(refusal: Run, name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    assert name in refusal("plan", name, *PROMISE)


@pytest.mark.parametrize("shape", [(3,), (), (2, 2, 2), (0, 3), (3, 0)])
def test_workloads_of_a_wrong_shape(refusal: Run, shape: tuple[int, ...]) -> None:
    np.save("W.npy", np.ones(shape))
    assert re.search("W.npy: the workload (must be two-dim|is empty)", refusal("plan", "W.npy"))


@pytest.fixture
def planned(leastnoise: Run) -> None:
    promise = (*PROMISE, "--delta", "1e-6", "--noise", "gaussian")
    assert leastnoise("plan", "W.csv", *promise, "--max-total", 10**6, "-o", "plan").status == 0


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ("3\n2\n-987654\n", "must not be negative"),
        ("3\n2\n9876.54\n", "must be whole numbers"),
        ("3\n987654\n", "must have length 3"),
        ("1\n1\n1\n987654\n", "must have length 3"),
        ("3\n2\n987654321987654321\n", "must not exceed max_total"),
        ("3\n2\n98765432198765432198765\n", "must not exceed max_total"),
        ("3\n2\n1e987654\n", "must be finite"),
        ("3\n2\nnan\n", "must be finite"),
        ("3\n2\n987654 persons\n", "line 3 has a cell that is no number"),
        ("3,987654\n2,5\n1,1\n", "line 1 has several counts"),
        ("", "holds no numbers"),
    ],
)
def test_counts(refusal: Run, counts: Any, says: str) -> None:
    Path("bad.csv").write_text(counts)
    message = refusal("release", "plan", "bad.csv", "--out", "answers")
    assert says in message
    assert "9876" not in message


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    ("counts", "says"),
    [
        (np.full((1, 3), 9876), "must have one dimension, not 2"),
        (np.array(9876), "must have one dimension, not 0"),
        (np.array([3, 2, 9876.5]), "must be whole numbers"),
        (np.array(["3", "2", "9876"]), "not text"),
        (np.array([True, True, True]), "truth values"),
        (np.array([3, 2, 9876 + 1j]), "complex"),
    ],
)
def test_counts_in_numpy_files(refusal: Run, counts: Any, says: str) -> None:
    np.save("bad.npy", counts)
    message = refusal("release", "plan", "bad.npy", "--out", "answers")
    assert says in message
    assert "9876" not in message


@pytest.mark.parametrize("place", ["missing", "folder", "W.csv", "W.csv/plan"])
def test_no_plan(refusal: Run, place: str) -> None:
    Path("folder").mkdir()
    assert f"{place} holds no plan" in refusal("release", place, "counts.csv", "-o", "answers")


def forged(change: Callable[[dict[str, Any]], object]) -> str:
    """plan.json after `change` was made to its facts."""
    facts = json.loads(Path("plan/plan.json").read_text())
    return json.dumps(change(facts))


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    "text",
    [
        lambda: "",
        lambda: "no JSON",
        lambda: "[1]",
        lambda: "null",
        lambda: "[" * 100_000,
        lambda: "\x00",
        lambda: forged(lambda facts: {}),
        lambda: forged(lambda facts: facts | {"format": 99}),
        lambda: forged(lambda facts: facts | {"privacy": None}),
        lambda: forged(lambda facts: facts | {"noise": 1}),
        lambda: forged(lambda facts: facts | {"names": None, "blocks": 7}),
        lambda: forged(lambda facts: facts | {"k": -5}),
        lambda: forged(lambda facts: facts | {"k": 10**6}),
        lambda: forged(lambda facts: facts | {"candidates": 1}),
        lambda: forged(lambda facts: facts | {"candidates": [None]}),
    ],
)
def test_damaged_plans(refusal: Run, text: Callable[[], str]) -> None:
    Path("plan/plan.json").write_text(text())
    assert "plan" in refusal("release", "plan", "counts.csv", "-o", "answers")


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize("keep", [0, 10, 300, -40])
def test_damaged_arrays(refusal: Run, keep: int) -> None:
    path = Path("plan/arrays.npz")
    path.write_bytes(path.read_bytes()[:keep])
    assert "plan is damaged" in refusal("release", "plan", "counts.csv", "-o", "answers")


@pytest.mark.usefixtures("planned")
def test_a_flipped_byte_in_the_arrays(refusal: Run) -> None:
    path = Path("plan/arrays.npz")
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)
    assert "plan is damaged" in refusal("release", "plan", "counts.csv", "-o", "answers")


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("taken", "taken exists already"),
        ("counts.csv", "counts.csv exists already"),
        ("dangling", "dangling exists already"),
        ("", "exists already"),
        ("missing/answers", "missing is no folder; make it first"),
        ("counts.csv/answers", "counts.csv is no folder; make it first"),
        ("a" * 300, "name too long"),
    ],
)
def test_a_place_that_cannot_be_written(refusal: Run, place: str, says: str) -> None:
    Path("taken").mkdir()
    Path("dangling").symlink_to("nowhere")
    for call in (["release", "plan", "counts.csv"], ["plan", "W.csv", *PROMISE]):
        assert says.lower() in refusal(*call, "--out", place).lower()


@pytest.mark.usefixtures("planned")
def test_an_answer_is_never_replaced(refusal: Run) -> None:
    assert "plan exists already" in refusal("release", "plan", "counts.csv", "--out", "plan")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_parent_that_takes_no_folder(
    refusal: Run, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("tempfile.mkdtemp", forbidden)
    message = refusal("plan", "W.csv", *PROMISE, "--out", "plan")
    assert f"plan cannot be written: {os.strerror(code)}" in message


def test_a_disk_that_fills_up_leaves_nothing(refusal: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, **_: object) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    assert "No space left" in refusal("plan", "W.csv", *PROMISE, "--out", "plan")


def test_a_matrix_beyond_the_memory(refusal: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("leastnoise.plan", too_much)
    assert "memory ran out" in refusal("plan", "W.csv", *PROMISE)


@pytest.mark.parametrize("given", ["epsilon=2", "mechanism=nod", "queries=1", "callback=1"])
def test_an_argument_of_plan_is_no_setting(refusal: Run, given: str) -> None:
    assert given.split("=")[0] in refusal("plan", "W.csv", *PROMISE, "--set", given)


@pytest.mark.parametrize("more", [["--out", "p"], ["--verbose"]])
def test_mwem_makes_no_plan(refusal: Run, more: list[str]) -> None:
    assert "mwem" in refusal("plan", "W.csv", *PROMISE, "--mechanism", "mwem", *more)
