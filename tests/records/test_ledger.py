"""The ledger: charged before data is read, once for a key; what goes wrong is one sentence."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workloads import STATES

import leastnoise as ln
from leastnoise import accounting
from leastnoise.errors import FileError, InputError, LeastnoiseError, PrivacyError
from leastnoise.records import chain, ledger
from leastnoise.release.privacy import promise
from leastnoise.show.budget import statement_table

ROOT = Path(__file__).resolve().parents[2]
COUNTS = [10, 20, 30, 40]
PLAN = ln.plan(STATES, epsilon="1/10")


class Opened(Exception):
    """The data was read."""


def closed() -> Any:
    raise Opened


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    ledger.create(path, "patients", promise(epsilon=1))
    return path


def spent(path: Path, dataset: str = "patients") -> ledger.Statement:
    return next(one for one in ledger.statements(path) if one.dataset == dataset)


def in_tables(path: Path, *statements: str) -> None:
    """What someone with an SQLite client could do."""
    connection = sqlite3.connect(path)
    with connection:
        for one in statements:
            connection.execute(one)
    connection.close()


def test_ten_tenths_fit_and_the_eleventh_is_refused_before_data_is_read(book: Path) -> None:
    for i in range(10):
        PLAN.release(COUNTS, ledger=book, id=f"week {i}")
    with pytest.raises(PrivacyError, match=r"needs ε = 0.1 and the budget has ε = 0 left"):
        PLAN.release(closed, ledger=book, id="week 10")
    assert len(spent(book).spendings) == 10
    assert spent(book).balance.epsilon_left == 0


def test_the_same_key_gives_the_same_answers_without_opening_the_data(book: Path) -> None:
    first = PLAN.release(lambda: COUNTS, ledger=book, id="q1")
    again = PLAN.release(closed, ledger=book, id="q1")
    assert first.answers.tobytes() == again.answers.tobytes()
    assert first.accounted
    assert first.parts[0].account == again.parts[0].account
    assert [one.id for one in spent(book).spendings] == ["q1"]
    with pytest.raises(Opened):
        PLAN.release(closed, ledger=book, id="q2")


def test_a_file_of_counts_may_be_gone_when_it_is_not_needed(book: Path, tmp_path: Path) -> None:
    table = tmp_path / "counts.npy"
    np.save(table, COUNTS)
    PLAN.release(table, ledger=book, id="q1").save(tmp_path / "first")
    table.unlink()
    PLAN.release(table, ledger=book, id="q1").save(tmp_path / "second")
    names = sorted(one.name for one in (tmp_path / "first").iterdir())
    for name in names:
        first, second = (tmp_path / place / name for place in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()
    assert len(names) == 5
    with pytest.raises(FileError, match="does not exist"):
        PLAN.release(table, ledger=book, id="q2")
    assert len(spent(book).spendings) == 1


def test_a_loaded_plan_is_the_same_plan(book: Path, tmp_path: Path) -> None:
    sparse_plan = ln.plan(ln.identity(3_000) | ln.prefixes(3_000), epsilon="1/10", mechanism="nod")
    for i, plan in enumerate((PLAN, sparse_plan, ln.plan(STATES, rho=1, objective="worst"))):
        plan.save(tmp_path / str(i))
        loaded = ln.load(tmp_path / str(i))
        assert accounting.plan_hash(loaded) == accounting.plan_hash(plan)


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": "1/5"},
        {"epsilon": "1/10", "mechanism": "nor"},
        {"epsilon": "1/10", "max_total": 1000},
        {"epsilon": "1/10", "max_rows": 2},
        {"epsilon": "1/10", "weights": [1, 2, 3]},
        {"epsilon": "1/10", "delta": "1e-9"},
    ],
)
def test_an_id_is_for_one_plan(book: Path, other: dict[str, Any]) -> None:
    PLAN.release(COUNTS, ledger=book, id="q1")
    with pytest.raises(PrivacyError, match="id 'q1' was used for another plan or promise"):
        ln.plan(STATES, **other).release(closed, ledger=book, id="q1")
    renamed = ln.Workload(STATES, names=["a", "b", "c"])
    with pytest.raises(PrivacyError, match="id 'q1' was used for another plan or promise"):
        ln.plan(renamed, epsilon="1/10").release(closed, ledger=book, id="q1")
    assert len(spent(book).spendings) == 1


def test_what_was_charged_and_not_answered_stays_spent(book: Path) -> None:
    with pytest.raises(Opened):
        PLAN.release(closed, ledger=book, id="q1")
    assert spent(book).spendings[0].answered is None
    with pytest.raises(PrivacyError, match=r"id 'q1' was charged .* a new id makes a new charge"):
        PLAN.release(COUNTS, ledger=book, id="q1")
    PLAN.release(COUNTS, ledger=book, id="q2")
    assert spent(book).balance.epsilon_spent == Fraction(1, 5)


def test_counts_in_hand_are_refused_before_the_charge_a_file_after(
    book: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="negative"):
        PLAN.release([1, 2, -3, 4], ledger=book, id="q1")
    assert not spent(book).spendings
    (tmp_path / "counts.csv").write_text("1\n2\n-3\n4\n")
    with pytest.raises(InputError, match=r"negative.*id 'q1' stays charged, a retry is a new id"):
        PLAN.release(tmp_path / "counts.csv", ledger=book, id="q1")
    assert len(spent(book).spendings) == 1


def test_the_charge_is_on_the_disk_before_data_is_read(book: Path) -> None:
    def look() -> Any:
        assert [one.id for one in spent(book).spendings] == ["q1"]
        with sqlite3.connect(f"{book.as_uri()}?mode=ro", uri=True) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert not book.with_name("budget.db-journal").exists()
        return COUNTS

    PLAN.release(look, ledger=book, id="q1")
    assert spent(book).spendings[0].answered


def test_commits_wait_for_the_disk(book: Path) -> None:
    with chain.writing(book) as open_book:
        assert open_book._connection.execute("PRAGMA synchronous").fetchone() == (3,)


def test_a_kernel_that_would_refuse_does_so_before_the_charge(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise PrivacyError("no")

    monkeypatch.setattr("leastnoise.release.measure.check_loss", refuse)
    with pytest.raises(PrivacyError, match=r"^no$"):
        PLAN.release(closed, ledger=book, id="q1")
    assert not spent(book).spendings


def test_several_datasets_have_budgets_of_their_own(book: Path) -> None:
    ledger.create(book, "staff", promise(epsilon="1/10"))
    with pytest.raises(InputError, match="several datasets; give dataset= as one of"):
        PLAN.release(closed, ledger=book, id="q1")
    one = PLAN.release(COUNTS, ledger=book, dataset="staff", id="q1")
    two = PLAN.release(COUNTS, ledger=book, dataset="patients", id="q1")
    assert one.answers.tobytes() != two.answers.tobytes()
    with pytest.raises(PrivacyError, match="ε = 0 left"):
        PLAN.release(closed, ledger=book, dataset="staff", id="q2")


def test_a_budget_protects_one_unit(book: Path) -> None:
    for other in ({"max_rows": 2}, {"neighbors": "change_one"}):
        plan = ln.plan(STATES, epsilon="1/10", **other)
        with pytest.raises(PrivacyError, match=r"the budget protects max_rows=1, neighbors="):
            plan.release(closed, ledger=book, id="q1")
    ledger.create(book, "visits", promise(epsilon=1, max_rows=2))
    plan = ln.plan(STATES, epsilon="1/10", max_rows=2)
    assert plan.release(COUNTS, ledger=book, dataset="visits", id="q1").accounted


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"id": "q1"}, "id and dataset are for a ledger; give ledger= too"),
        ({"dataset": "patients"}, "id and dataset are for a ledger"),
        ({"ledger": "budget.db"}, "needs an id, such as"),
        ({"ledger": "budget.db", "id": ""}, "id must be a printable text"),
        ({"ledger": "budget.db", "id": "a\nb"}, "id must be a printable text"),
        ({"ledger": "budget.db", "id": "x" * 201}, "id must be a printable text"),
        ({"ledger": "budget.db", "id": 7}, "id must be a printable text"),
        ({"ledger": "budget.db", "id": "q1", "dataset": "staff"}, "no budget for dataset 'staff'"),
        ({"ledger": "missing.db", "id": "q1"}, "missing.db does not exist, or is no file; leastn"),
        ({"ledger": ".", "id": "q1"}, "does not exist, or is no file"),
        ({"ledger": "notes.txt", "id": "q1"}, "notes.txt is no ledger, or is damaged"),
        ({"ledger": "empty.db", "id": "q1"}, "empty.db is no ledger"),
        ({"ledger": "other.db", "id": "q1"}, "other.db is no ledger"),
    ],
)
def test_bad_ledgers_and_names(
    book: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], says: str
) -> None:
    monkeypatch.chdir(book.parent)
    Path("notes.txt").write_text("remember the milk " * 100)
    Path("empty.db").touch()
    in_tables(Path("other.db"), "CREATE TABLE milk (litres)")
    before = {one.name: one.read_bytes() for one in book.parent.iterdir()}
    with pytest.raises(LeastnoiseError, match=says) as caught:
        PLAN.release(closed, **given)
    assert "\n" not in str(caught.value)
    assert {one.name: one.read_bytes() for one in book.parent.iterdir()} == before


def refused(book: Path, says: str) -> None:
    """Neither a charge nor a new budget is possible, and nothing changes."""
    before = book.read_bytes()
    with pytest.raises(LeastnoiseError, match=says) as caught:
        PLAN.release(closed, ledger=book, id="q1")
    with pytest.raises(LeastnoiseError, match=says):
        ledger.create(book, "staff", promise(epsilon=1))
    assert "\n" not in str(caught.value)
    assert book.read_bytes() == before


def with_setting(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setattr(chain, "_SETTINGS", (*chain._SETTINGS, setting))


def test_a_read_only_ledger(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_setting(monkeypatch, "PRAGMA query_only = ON")
    refused(book, "may not be written to; nothing was written")


def test_a_locked_ledger(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "PATIENCE", 0.05)
    other = sqlite3.connect(book, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    refused(book, "is in use by another process; nothing was written, try again")
    other.execute("ROLLBACK")
    other.close()
    assert PLAN.release(COUNTS, ledger=book, id="q1").accounted


def test_a_full_disk(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as context:
        with_setting(context, "PRAGMA max_page_count = 1")
        before = book.read_bytes()
        with pytest.raises(FileError, match="the disk is full; nothing was written, make room"):
            PLAN.release(closed, ledger=book, id="q1")
        assert book.read_bytes() == before
    assert PLAN.release(COUNTS, ledger=book, id="q1").accounted


@pytest.mark.parametrize("cells", [4, 3_000])
def test_a_disk_that_fills_up_after_the_charge_still_takes_the_answer(
    book: Path, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    plan = ln.plan(ln.identity(cells), epsilon="1/10", mechanism="nod")

    def fill_up() -> Any:
        connection = sqlite3.connect(book)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.close()
        with_setting(monkeypatch, f"PRAGMA max_page_count = {pages}")
        return [1] * cells

    assert plan.release(fill_up, ledger=book, id="q1").accounted
    assert spent(book).spendings[0].answered
    with pytest.raises(FileError, match="the disk is full"):
        ln.plan(ln.identity(9_000), epsilon="1/10", mechanism="nod").release(
            closed, ledger=book, id="q2"
        )


def test_a_ledger_of_a_newer_version(book: Path) -> None:
    in_tables(book, f"PRAGMA user_version = {chain.FORMAT + 1}")
    refused(book, "newer version of leastnoise; upgrade")


def test_a_clock_that_was_set_back(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Early:
        @staticmethod
        def now(zone: object) -> datetime:
            return datetime(1999, 12, 31, tzinfo=UTC)

    PLAN.release(COUNTS, ledger=book, id="late")
    monkeypatch.setattr(chain, "datetime", Early)
    PLAN.release(COUNTS, ledger=book, id="early")
    assert [one.id for one in spent(book).spendings] == ["late", "early"]
    assert "the clock was set back" in str(statement_table(spent(book)))


TAMPERINGS = {
    "a smaller charge": "UPDATE entries SET body = replace(body, '1/10', '1/99') WHERE number = 2",
    "a larger budget": 'UPDATE entries SET body = replace(body, \'"epsilon":"1"\', '
    '\'"epsilon":"9"\') WHERE number = 1',
    "another id": "UPDATE entries SET id = 'q9' WHERE number = 2",
    "another time": "UPDATE entries SET time = '1999-12-31T00:00:00+00:00' WHERE number = 2",
    "a charge taken out": "DELETE FROM entries WHERE number = 2",
    "the budget taken out": "DELETE FROM entries WHERE number = 1",
    "renumbered": "UPDATE entries SET number = 9 WHERE number = 3",
    "another hash": "UPDATE entries SET hash = 'f' WHERE number = 2",
    "another link": "UPDATE entries SET previous = 'f' WHERE number = 3",
}


@pytest.mark.parametrize("statement", TAMPERINGS.values(), ids=list(TAMPERINGS))
def test_tampering_shows(book: Path, statement: str) -> None:
    PLAN.release(COUNTS, ledger=book, id="q1")
    PLAN.release(COUNTS, ledger=book, id="q2")
    before = book.read_bytes()
    in_tables(book, statement)
    assert book.read_bytes() != before, "the statement must change something"
    refused(book, "was tampered with: entry")
    with pytest.raises(FileError, match="was tampered with"):
        ledger.statements(book)


def test_stored_numbers_cannot_be_changed_either(book: Path) -> None:
    PLAN.release(COUNTS, ledger=book, id="q1")
    in_tables(book, "UPDATE numbers SET content = zeroblob(length(content))")
    with pytest.raises(FileError, match="was tampered with: numbers of entry 3"):
        PLAN.release(closed, ledger=book, id="q1")
    in_tables(book, "DELETE FROM numbers")
    with pytest.raises(FileError, match="has lost the numbers of entry 3"):
        PLAN.release(closed, ledger=book, id="q1")


def test_a_budget_cannot_be_made_twice(book: Path) -> None:
    before = book.read_bytes()
    with pytest.raises(InputError, match="has a budget for dataset 'patients' already; it cannot"):
        ledger.create(book, "patients", promise(epsilon=100))
    assert book.read_bytes() == before


def test_another_process_that_was_faster_has_the_answers(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look, both find the id free, and one charges between the other's look and charge."""
    original = ledger.charge
    others: list[ln.Release] = []

    def late(*arguments: Any) -> Any:
        monkeypatch.setattr(ledger, "charge", original)
        others.append(PLAN.release(COUNTS, ledger=book, id="q1"))
        return original(*arguments)

    monkeypatch.setattr(ledger, "charge", late)
    mine = PLAN.release(closed, ledger=book, id="q1")
    assert mine.answers.tobytes() == others[0].answers.tobytes()
    assert len(spent(book).spendings) == 1


# Processes


def in_process(name: str, *arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", f"benchmarks.{name}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def memory(tmp_path: Path) -> Path:
    """A folder that is not on a disk where there is one, so that waiting for it takes no time."""
    return Path("/dev/shm") if Path("/dev/shm").is_dir() else tmp_path


@pytest.fixture
def quick_folder(tmp_path: Path) -> Any:
    folder = tempfile.mkdtemp(dir=memory(tmp_path))
    yield folder
    shutil.rmtree(folder)


def test_eight_processes_race_for_room_for_ten(quick_folder: str) -> None:
    assert in_process("racing", quick_folder, 15) == {"10": 15}


def test_a_release_may_be_killed_anywhere(quick_folder: str) -> None:
    found = in_process("kill9", quick_folder)
    assert found["wrong"] == []
    assert min(found["states"][state] for state in ("free", "unfinished", "answered")) > 50


def test_killing_finds_a_release_that_reads_before_it_charges(quick_folder: str) -> None:
    found = in_process("kill9", quick_folder, "wrong")
    assert found["wrong"] == ["data was read without a charge"]


def test_entries_of_many_hands_stay_a_chain(book: Path) -> None:
    """Whatever the order, every entry follows from the one before."""
    for i in range(5):
        PLAN.release(COUNTS, ledger=book, id=f"q{i}")
    with chain.reading(book) as open_book:
        hashes = [one.hash for one in open_book.entries]
        assert [one.previous for one in open_book.entries] == ["", *hashes[:-1]]
        assert len(set(hashes)) == 11
    assert ledger.last_hash(book) == hashes[-1]
