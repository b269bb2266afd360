"""Whatever is changed in a release folder is found, also where the hashes are made anew."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from workloads import STATES, related

import leastnoise as ln
from leastnoise.errors import FileError
from leastnoise.records import ledger
from leastnoise.records.fingerprint import digest
from leastnoise.records.releasefolder import FILES, file_hash
from leastnoise.release.privacy import promise

COUNTS = [10, 20, 30, 40]
MADE = "release.json"


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind: pure, Gaussian on a ledger, other queries, and two combined."""
    place = tmp_path_factory.mktemp("releases")
    pure = ln.plan(STATES, epsilon=1).release(COUNTS)
    ledger.create(place / "budget.db", "patients", promise(epsilon=1, delta="1e-6"))
    worst = ln.plan(STATES, epsilon=1, delta="1e-6", objective="worst", noise="gaussian")
    charged = worst.release(COUNTS, ledger=place / "budget.db", id="q1")
    other = pure.answer([[2, 2, 1, 1]])
    combined = ln.plan([[1, 0, 0, 0], [1, 1, 1, 1]], rho="1/2", given=pure).release(COUNTS)
    made = {"pure": pure, "charged": charged, "other": other, "combined": combined}
    for name, release in made.items():
        release.save(place / name)
    return {name: place / name for name in made}


KINDS = ["pure", "charged", "other", "combined"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_passes_and_says_what_was_checked(
    releases: dict[str, Path], kind: str
) -> None:
    found = ln.verify(releases[kind])
    checked = [what for what, _ in found.checks]
    bound = ["bound"] if kind in ("pure", "charged") else []
    noises = ["noise"] * (2 if kind == "combined" else 1)
    accounts = ["account"] * len(noises)
    rest = ["B", "answers", *bound, "text", *accounts]
    assert checked == ["hashes", "facts", "arrays", *noises, *rest]
    assert "by least squares" in str(found)
    assert repr(found) == str(found)
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_that_is_loaded_is_the_release_that_was_saved(
    releases: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    release = ln.load(releases[kind])
    release.save(tmp_path / "again")
    for name in (*FILES, MADE):
        assert (tmp_path / "again" / name).read_bytes() == (releases[kind] / name).read_bytes()


class Copy:
    """A copy of a folder, to be spoilt and restored."""

    def __init__(self, original: Path, place: Path) -> None:
        self.original, self.place = original, place
        shutil.copytree(original, place)

    def restore(self) -> None:
        shutil.rmtree(self.place)
        shutil.copytree(self.original, self.place)

    def is_found(self, change: Callable[[Path], None], forge: bool) -> bool:
        """Whether verify refuses after a change, the hashes made anew or not."""
        change(self.place)
        if forge:
            rehash(self.place)
        try:
            ln.verify(self.place)
        except FileError as error:
            return "\n" not in str(error)
        finally:
            self.restore()
        return False


def rehash(folder: Path) -> None:
    facts = json.loads((folder / MADE).read_text())
    facts["files"] = {name: file_hash(folder / name) for name in facts["files"]}
    facts["hash"] = digest({name: fact for name, fact in facts.items() if name != "hash"}, {})
    (folder / MADE).write_text(json.dumps(facts))


def leaves(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value that is no list or object, and to every list and object."""
    if path:
        yield path
    pairs = facts.items() if isinstance(facts, dict) else enumerate(facts)
    for key, value in pairs:
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.001 + 1e-3
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
        case None:
            return "1"
        case list():
            return value[:-1]
        case dict():
            return {key: one for key, one in list(value.items())[:-1]}
    raise AssertionError


def at(facts: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        facts = facts[key]
    return facts


def change_fact(path: tuple[Any, ...]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        facts = json.loads((folder / MADE).read_text())
        parent = at(facts, path[:-1])
        parent[path[-1]] = changed(parent[path[-1]])
        (folder / MADE).write_text(json.dumps(facts))

    return change


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forge", [False, True])
def test_every_fact_of_the_json(
    releases: dict[str, Path], kind: str, forge: bool, tmp_path: Path
) -> None:
    """Forged, only what nothing follows from can pass: versions, and who is said to have paid."""
    copy = Copy(releases[kind], tmp_path / "copy")
    facts = json.loads((releases[kind] / MADE).read_text())
    paths = [path for path in leaves(facts) if not (forge and path[0] in ("files", "hash"))]
    passed = {path for path in paths if not copy.is_found(change_fact(path), forge)}
    assert len(paths) > 35
    if not forge:
        assert passed == set()
    free = {path for path in paths if path[0] == "versions" or path[2:3] == ("account",)}
    free -= {path for path in free if path[-1] == "account"}
    assert passed - free == set()


def test_facts_that_are_missing_or_new(releases: dict[str, Path], tmp_path: Path) -> None:
    copy = Copy(releases["pure"], tmp_path / "copy")
    names = list(json.loads((releases["pure"] / MADE).read_text()))

    def without(name: str) -> Callable[[Path], None]:
        def change(folder: Path) -> None:
            facts = json.loads((folder / MADE).read_text())
            del facts[name]
            (folder / MADE).write_text(json.dumps(facts))

        return change

    def with_more(folder: Path) -> None:
        facts = json.loads((folder / MADE).read_text())
        (folder / MADE).write_text(json.dumps(facts | {"secret": 1}))

    for name in names:
        assert copy.is_found(without(name), False), name
        if name not in ("files", "hash", "versions"):
            assert copy.is_found(without(name), True), name
    assert copy.is_found(with_more, False)
    assert copy.is_found(with_more, True)


def spoilt(array: np.ndarray, where: int) -> np.ndarray:
    """One entry changed; a large integer by a thousandth, which is less than a standard error."""
    array = array.copy()
    flat = array.reshape(-1)
    is_whole = array.dtype.kind in "iu"
    flat[where] += 1 + abs(flat[where]) // 1000 if is_whole else flat[where] * 0.01 + 0.01
    return array


def change_array(name: str, how: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with np.load(folder / "measurements.npz") as arrays:
            content = dict(arrays)
        content[name] = how(content[name])
        np.savez(folder / "measurements.npz", **content)

    return change


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forge", [False, True])
def test_every_array(releases: dict[str, Path], kind: str, forge: bool, tmp_path: Path) -> None:
    copy = Copy(releases[kind], tmp_path / "copy")
    with np.load(releases[kind] / "measurements.npz") as arrays:
        names, sizes = arrays.files, {name: arrays[name].size for name in arrays.files}
    tried = 0
    for name in names:
        ways = [lambda a, i=i: spoilt(a, i) for i in {0, sizes[name] - 1}]
        ways += [lambda a: a[..., :-1], lambda a: a.astype(np.float32), lambda a: a[None]]
        for how in ways:
            assert copy.is_found(change_array(name, how), forge), name
            tried += 1
    assert tried > 25


def test_arrays_that_are_missing_or_new(releases: dict[str, Path], tmp_path: Path) -> None:
    copy = Copy(releases["pure"], tmp_path / "copy")
    with np.load(releases["pure"] / "measurements.npz") as arrays:
        content = dict(arrays)

    def write(arrays: dict[str, np.ndarray]) -> Callable[[Path], None]:
        return lambda folder: np.savez(folder / "measurements.npz", **arrays)

    assert not copy.is_found(write(content), True)
    for name in content:
        less = {other: array for other, array in content.items() if other != name}
        assert copy.is_found(write(less), True), name
    assert copy.is_found(write(content | {"secret": np.arange(3)}), True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forge", [False, True])
def test_every_cell_of_the_answers(
    releases: dict[str, Path], kind: str, forge: bool, tmp_path: Path
) -> None:
    copy = Copy(releases[kind], tmp_path / "copy")
    with (releases[kind] / "answers.csv").open(newline="") as file:
        rows = list(csv.reader(file))

    def other_cell(i: int, j: int, text: str) -> Callable[[Path], None]:
        def change(folder: Path) -> None:
            content = [list(row) for row in rows]
            content[i][j] = text
            with (folder / "answers.csv").open("w", newline="") as file:
                csv.writer(file).writerows(content)

        return change

    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            assert copy.is_found(other_cell(i, j, changed(cell)), forge), (i, j)
            assert copy.is_found(other_cell(i, j, ""), forge), (i, j)
            if i and j:
                more = repr(float(cell) + 1e-3)
                assert copy.is_found(other_cell(i, j, more), forge), (i, j)


@pytest.mark.parametrize("forge", [False, True])
def test_every_cell_of_the_table(releases: dict[str, Path], forge: bool, tmp_path: Path) -> None:
    copy = Copy(releases["pure"], tmp_path / "copy")
    columns = pyarrow.parquet.read_table(releases["pure"] / "answers.parquet").to_pydict()
    for name, column in columns.items():
        for i, value in enumerate(column):
            other = {one: list(cells) for one, cells in columns.items()}
            other[name][i] = np.nextafter(value, 0) if name != "question" else value + "!"

            def change(folder: Path, other: dict[str, Any] = other) -> None:
                pyarrow.parquet.write_table(pyarrow.table(other), folder / "answers.parquet")

            assert copy.is_found(change, forge), (name, i)


@pytest.mark.parametrize("name", [*FILES, MADE])
def test_every_byte(releases: dict[str, Path], name: str, tmp_path: Path) -> None:
    """Some bytes of each file, one bit turned; in the JSON but for the space between facts."""
    copy = Copy(releases["charged"], tmp_path / "copy")
    size = (releases["charged"] / name).stat().st_size
    random = np.random.default_rng(0)
    for place in random.choice(size, 30, replace=False):

        def change(folder: Path, place: int = place) -> None:
            content = bytearray((folder / name).read_bytes())
            content[place] ^= 1
            (folder / name).write_bytes(content)

        is_space = (releases["charged"] / name).read_bytes()[place] in b" \n"
        assert copy.is_found(change, False) or (name == MADE and is_space), place


@pytest.mark.parametrize("name", [*FILES, MADE])
def test_half_a_folder(releases: dict[str, Path], name: str, tmp_path: Path) -> None:
    copy = Copy(releases["pure"], tmp_path / "copy")
    assert copy.is_found(lambda folder: (folder / name).unlink(), False)
    assert copy.is_found(lambda folder: (folder / name).write_bytes(b""), False)
    half = (releases["pure"] / name).read_bytes()[:-20]
    assert copy.is_found(lambda folder: (folder / name).write_bytes(half), False)


def test_a_text_that_promises_more(releases: dict[str, Path], tmp_path: Path) -> None:
    copy = Copy(releases["pure"], tmp_path / "copy")
    text = (releases["pure"] / "README.txt").read_text()
    more = text.replace("unaccounted", "accounted")
    assert more != text
    assert copy.is_found(lambda folder: (folder / "README.txt").write_text(more), True)


@pytest.mark.parametrize("forge", [False, True])
def test_numbers_of_another_release(releases: dict[str, Path], forge: bool, tmp_path: Path) -> None:
    """Answers and measurements that are each fine, but not of one release."""
    other = ln.load(releases["pure"]).plan.release(COUNTS)
    other.save(tmp_path / "other")
    copy = Copy(releases["pure"], tmp_path / "copy")
    for name in ("measurements.npz", "answers.csv", "answers.parquet"):
        source = tmp_path / "other" / name
        assert copy.is_found(lambda folder, source=source: shutil.copy(source, folder), forge)


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "nor"},
        {"mechanism": "optimal"},
        {"mechanism": "lrm", "relaxed": True},
        {"mechanism": "am"},
        {"mechanism": "marginals"},
    ],
)
def test_real_and_relaxed_strategies_pass_too(options: dict[str, Any], tmp_path: Path) -> None:
    plan = ln.plan(related(12, 20), epsilon=1, **options)
    plan.release(range(20)).save(tmp_path / "out")
    assert "B " in str(ln.verify(tmp_path / "out"))


@pytest.mark.parametrize("weights", [None, [0, 1, 1]])
def test_large_sparse_strategies_are_solved_query_by_query(
    weights: list[int] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ln.plan(np.tril(np.ones((3, 3))), epsilon=1, weights=weights)
    plan.release([1, 2, 3]).save(tmp_path / "out")
    dense = ln.verify(tmp_path / "out")
    monkeypatch.setattr("leastnoise.records.verify._LARGE", 1)
    assert ln.verify(tmp_path / "out").checks == dense.checks
    assert "3 queries rebuilt from L_q, by least squares" in str(dense)


def test_places_that_hold_no_release(tmp_path: Path) -> None:
    ln.plan(STATES, epsilon=1).save(tmp_path / "plan")
    for place in ("nowhere", "plan", "."):
        with pytest.raises(FileError, match=r"holds no whole release \(release.json"):
            ln.verify(tmp_path / place)


def test_a_folder_of_another_version(releases: dict[str, Path], tmp_path: Path) -> None:
    copy = Copy(releases["pure"], tmp_path / "copy")
    facts = json.loads((copy.place / MADE).read_text())
    (copy.place / MADE).write_text(json.dumps(facts | {"format": 99}))
    with pytest.raises(FileError, match="written by another version of leastnoise; use that"):
        ln.verify(copy.place)
