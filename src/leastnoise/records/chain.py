"""An append-only file of entries, each of which names the hash of the one before it.

SQLite keeps it whole: an entry is on the disk before `append` is over, or it is not there at all,
and one process at a time may write. The chain shows an entry that was changed, taken out or put in
later; it cannot show that the file was replaced by an older copy of itself, or written anew.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from leastnoise.errors import FileError

FORMAT = 1
PATIENCE = 30.0  # seconds to wait for other processes
_OURS = 0x6C6E6C67  # "lnlg", SQLite's application_id

_TABLES = (
    """CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL,
        id TEXT NOT NULL, time TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL,
        hash TEXT NOT NULL, UNIQUE (kind, dataset, id)) STRICT""",
    "CREATE TABLE numbers (entry INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT",
    f"PRAGMA application_id = {_OURS}",
    f"PRAGMA user_version = {FORMAT}",
)
# The journal is deleted at every commit, and EXTRA waits for the disk to know of that too: what was
# committed survives a loss of power. WAL would be faster, and would leave two more files about.
_SETTINGS = ("PRAGMA journal_mode = DELETE", "PRAGMA synchronous = EXTRA")


@dataclass(frozen=True)
class Entry:
    """One line of the book. `time` is the machine's clock, for reading; `number` is the order."""

    number: int
    kind: str
    dataset: str
    id: str
    time: str
    body: dict[str, Any]
    previous: str
    hash: str


class Book:
    """The entries of an open file, all of them checked, and room for more."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute(
            "SELECT number, kind, dataset, id, time, body, previous, hash FROM entries "
            "ORDER BY number"
        )
        self.path = path
        self.entries = [_entry(path, row) for row in rows]
        _check_chain(path, self.entries)

    def append(self, kind: str, dataset: str, id: str, body: dict[str, Any]) -> Entry:
        """One more entry; it is there for good when the `with` block of the book has ended."""
        previous = self.entries[-1].hash if self.entries else ""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        number = len(self.entries) + 1
        digest = _hash(number, kind, dataset, id, time, _text(body), previous)
        entry = Entry(number, kind, dataset, id, time, body, previous, digest)
        self._connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, kind, dataset, id, time, _text(body), previous, digest),
        )
        self.entries.append(entry)
        return entry

    def put(self, entry: int, content: bytes) -> None:
        """Bytes that belong to an entry, whose body should hold their hash."""
        self._connection.execute("INSERT OR REPLACE INTO numbers VALUES (?, ?)", (entry, content))

    def take(self, entry: int) -> None:
        """Forget the bytes of an entry; their room in the file stays for others."""
        self._connection.execute("DELETE FROM numbers WHERE entry = ?", (entry,))

    def get(self, entry: int) -> bytes:
        """The bytes of an entry."""
        row = self._connection.execute("SELECT content FROM numbers WHERE entry = ?", (entry,))
        found = row.fetchone()
        if found is None:
            raise FileError(f"{self.path} has lost the numbers of entry {entry}; restore a copy")
        return bytes(found[0])


@contextmanager
def reading(path: Path) -> Iterator[Book]:
    """The book, to look at."""
    with _connected(path, "rw") as connection:
        connection.execute("BEGIN")
        _require_ours(path, connection)
        yield Book(path, connection)


@contextmanager
def writing(path: Path, *, may_create: bool = False) -> Iterator[Book]:
    """The book, for this process alone; on the disk when the block ends well, else untouched."""
    with _connected(path, "rwc" if may_create else "rw") as connection:
        connection.execute("BEGIN IMMEDIATE")
        if may_create and _is_empty(connection):
            for statement in _TABLES:
                connection.execute(statement)
        _require_ours(path, connection)
        yield Book(path, connection)
        connection.execute("COMMIT")


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection without a transaction; whatever SQLite says becomes one sentence."""
    if mode == "rw" and not path.is_file():
        raise FileError(
            f"{path} does not exist, or is no file; leastnoise budget create {path} makes a ledger"
        )
    connection = None
    try:
        place = f"{path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(place, uri=True, timeout=PATIENCE, isolation_level=None)
        for setting in _SETTINGS:
            connection.execute(setting)
        yield connection
    except sqlite3.Error as error:
        raise FileError(f"{path} {_said(error)}") from error
    finally:
        if connection is not None:
            connection.close()  # what was not committed is rolled back


def _said(error: sqlite3.Error) -> str:
    """SQLite's primary result code, in words."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "is in use by another process; nothing was written, try again"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return "may not be written to; nothing was written, change its permissions"
        case sqlite3.SQLITE_FULL:
            return "cannot grow, the disk is full; nothing was written, make room"
        case sqlite3.SQLITE_CANTOPEN:
            return "cannot be opened; check that its folder is there and may be written to"
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return "is no ledger, or is damaged; restore a copy"
        case sqlite3.SQLITE_IOERR:
            return "cannot be read or written, the disk reports an error; nothing was written"
    return f"cannot be used as a ledger ({error}); nothing was written"


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def _require_ours(path: Path, connection: sqlite3.Connection) -> None:
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if ours != _OURS:
        raise FileError(f"{path} is no ledger; leastnoise budget create makes one elsewhere")
    if version > FORMAT:
        raise FileError(
            f"{path} was written by a newer version of leastnoise; upgrade to use it, "
            f"nothing was written"
        )


def _entry(path: Path, row: tuple[Any, ...]) -> Entry:
    number, kind, dataset, id, time, body, previous, digest = row
    if digest != _hash(number, kind, dataset, id, time, body, previous):
        raise FileError(f"{path} was tampered with: entry {number} is not as it was written")
    return Entry(number, kind, dataset, id, time, json.loads(body), previous, digest)


def _check_chain(path: Path, entries: list[Entry]) -> None:
    previous = ""
    for place, entry in enumerate(entries, start=1):
        if entry.number != place or entry.previous != previous:
            raise FileError(f"{path} was tampered with: entry {place} was removed or put in later")
        previous = entry.hash


def _hash(*parts: Any) -> str:
    return sha256(_text(parts).encode()).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
