"""The ledger: who may still be asked how much, what was spent on what, and what came of it.

A release is charged before data is read, and never refunded. Its key is the dataset, the id of
the release, the hash of its plan, and the promise. The same key again gives the stored numbers; the
same id with anything else is refused. One that was charged and never answered stays spent: a retry
is a new id and a new charge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from leastnoise.answers.measured import Account
from leastnoise.errors import FileError, InputError, PrivacyError
from leastnoise.records.chain import Book, Entry, reading, writing
from leastnoise.records.facts import charge_facts, charge_of, privacy_facts, privacy_of
from leastnoise.release.budget import Balance, Charge, balance, require_room
from leastnoise.release.privacy import Privacy

BUDGET, CHARGE, ANSWER = "budget", "charge", "answer"

Stored: TypeAlias = tuple[Account, list[np.ndarray]]
"""Who paid, and the noisy integers."""

_LONGEST_NAME = 200
_RESERVE = 4 * 4096  # bytes beside the numbers: pages for the entry that will tell of them


@dataclass(frozen=True)
class Key:
    """What makes a release the same release."""

    dataset: str
    id: str
    plan: str
    privacy: Privacy

    def facts(self) -> dict[str, Any]:
        """Exact, as text: the promise, whom it protects, and c."""
        return {
            "plan": self.plan,
            **privacy_facts(self.privacy),
            "multiplier": self.privacy.multiplier,
        }


@dataclass(frozen=True)
class Spending:
    """One charge, as people read it; `answered` is when, or None."""

    id: str
    time: str
    charge: Charge
    answered: str | None
    entry: str


@dataclass(frozen=True)
class Statement:
    """A dataset's budget, where it stands, and everything that was charged to it, in order."""

    dataset: str
    budget: Privacy
    created: str
    balance: Balance
    spendings: tuple[Spending, ...]


def create(path: Path, dataset: str, budget: Privacy) -> None:
    """Give a dataset its budget, in a new file or in a ledger that does not know it yet."""
    _check_name(dataset, "dataset")
    with writing(path, may_create=True) as book:
        if _find(book, BUDGET, dataset, ""):
            raise InputError(
                f"{path} has a budget for dataset {dataset!r} already; it cannot be changed"
            )
        book.append(BUDGET, dataset, "", privacy_facts(budget))


def statements(path: Path) -> list[Statement]:
    """Every dataset of a ledger."""
    with reading(path) as book:
        return [_statement(book, one) for one in book.entries if one.kind == BUDGET]


def last_hash(path: Path) -> str:
    """The hash of the last entry: noted elsewhere, it tells an older copy of the file."""
    with reading(path) as book:
        return book.entries[-1].hash


def dataset_of(path: Path, dataset: str | None) -> str:
    """The dataset meant: the one that is named, or the only one there is."""
    with reading(path) as book:
        known = [one.dataset for one in book.entries if one.kind == BUDGET]
    names = ", ".join(map(repr, known))
    if dataset is None and len(known) == 1:
        return known[0]
    if dataset is None:
        raise InputError(f"{path} has several datasets; give dataset= as one of {names}")
    if dataset not in known:
        raise InputError(f"{path} has no budget for dataset {dataset!r}, only for {names}")
    return dataset


def stored(path: Path, key: Key) -> Stored | None:
    """The numbers of a release that was made before; None where its id is free."""
    with reading(path) as book:
        return _stored(book, key)


def charge(path: Path, key: Key, cost: Charge, rows: int) -> Stored | Account:
    """Charge the key, for good, before anything is read; the numbers too if another was faster.

    Room for the numbers is taken in the same moment, so that a disk that fills up later does not
    keep them from being stored.
    """
    _check_name(key.id, "id")
    with writing(path) as book:
        if found := _stored(book, key):
            return found
        statement = _statement(book, _budget(book, key.dataset))
        _require_same_unit(statement.budget, key.privacy)
        require_room(statement.budget, [one.charge for one in statement.spendings], cost)
        facts = key.facts() | {"spent": charge_facts(cost)}
        entry = book.append(CHARGE, key.dataset, key.id, facts)
        book.put(entry.number, bytes(8 * rows + _RESERVE))
    return Account(key.dataset, key.id, entry.hash)


def answer(path: Path, account: Account, numbers: Sequence[np.ndarray]) -> None:
    """Store what was measured under a charge, so that the same key gives the same answers."""
    content = b"".join(y.astype("<i8").tobytes() for y in numbers)
    with writing(path) as book:
        charged = _find(book, CHARGE, account.dataset, account.id)
        if charged is None or charged.hash != account.entry:
            raise FileError(f"{path} is not the ledger in which this release was charged")
        book.take(charged.number)
        lengths = [len(y) for y in numbers]
        body = {"charge": charged.hash, "lengths": lengths, "sha256": sha256(content).hexdigest()}
        entry = book.append(ANSWER, account.dataset, account.id, body)
        book.put(entry.number, content)


def _stored(book: Book, key: Key) -> Stored | None:
    charged = _find(book, CHARGE, key.dataset, key.id)
    if charged is None:
        return None
    facts = key.facts()
    if {name: charged.body[name] for name in facts} != facts:
        raise PrivacyError(
            f"id {key.id!r} was used for another plan or promise of dataset {key.dataset!r}; "
            f"choose a new id, or load the plan that was released"
        )
    answered = _find(book, ANSWER, key.dataset, key.id)
    if answered is None:
        raise PrivacyError(
            f"id {key.id!r} was charged on {charged.time} and is not answered: if no process is "
            f"at it now, it stays spent, and a new id makes a new charge"
        )
    return Account(key.dataset, key.id, charged.hash), _numbers(book, answered)


def _numbers(book: Book, answered: Entry) -> list[np.ndarray]:
    content = book.get(answered.number)
    if sha256(content).hexdigest() != answered.body["sha256"]:
        raise FileError(f"{book.path} was tampered with: numbers of entry {answered.number}")
    whole = np.frombuffer(content, dtype="<i8").astype(np.int64)
    return np.split(whole, np.cumsum(answered.body["lengths"])[:-1])


def _statement(book: Book, budget: Entry) -> Statement:
    answered = {one.id: one.time for one in _of(book, ANSWER, budget.dataset)}
    spendings = tuple(
        Spending(one.id, one.time, charge_of(one.body["spent"]), answered.get(one.id), one.hash)
        for one in _of(book, CHARGE, budget.dataset)
    )
    promised = privacy_of(budget.body)
    now = balance(promised, [one.charge for one in spendings])
    return Statement(budget.dataset, promised, budget.time, now, spendings)


def _of(book: Book, kind: str, dataset: str) -> list[Entry]:
    return [one for one in book.entries if (one.kind, one.dataset) == (kind, dataset)]


def _find(book: Book, kind: str, dataset: str, id: str) -> Entry | None:
    return next((one for one in _of(book, kind, dataset) if one.id == id), None)


def _budget(book: Book, dataset: str) -> Entry:
    entry = _find(book, BUDGET, dataset, "")
    if entry is None:
        raise InputError(f"{book.path} has no budget for dataset {dataset!r}")
    return entry


def _require_same_unit(budget: Privacy, asked: Privacy) -> None:
    """A budget protects one unit; sums over different ones would protect neither."""
    if (asked.neighbors, asked.max_rows) != (budget.neighbors, budget.max_rows):
        raise PrivacyError(
            f"the budget protects max_rows={budget.max_rows}, neighbors={budget.neighbors!r}; "
            f"plan with the same"
        )


def _check_name(name: object, what: str) -> None:
    is_name = isinstance(name, str) and name == name.strip() and 0 < len(name) <= _LONGEST_NAME
    if not (is_name and str(name).isprintable()):
        raise InputError(
            f"{what} must be a printable text of 1 to {_LONGEST_NAME} characters, such as '2026-q4'"
        )
