"""Matrices, counts and weights from files; each bad file ends in a sentence that names it."""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from workloads import STATES

from leastnoise.data.files import read_counts, read_weights, read_workload
from leastnoise.errors import FileError

SPARSE = ("csr", "csc", "coo", "bsr", "dia")


def refused(path: Path, read: Callable[[Path], object] = read_workload) -> str:
    with pytest.raises(FileError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < 250 + len(str(path))
    return message


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
class TestWorkloads:
    @pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.float64, np.bool_])
    def test_npy(self, dtype: type) -> None:
        np.save("W.npy", STATES.astype(dtype))
        assert np.array_equal(read_workload(Path("W.npy")).dense(), STATES)

    def test_npy_in_columns_and_foreign_bytes(self) -> None:
        np.save("W.npy", np.asfortranarray(STATES.astype(">f8")))
        assert np.array_equal(read_workload(Path("W.npy")).dense(), STATES)

    @pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
    def test_npz(self, save: Callable[..., None]) -> None:
        save("W.NPZ.npz", anything=STATES)
        assert np.array_equal(read_workload(Path("W.NPZ.npz")).dense(), STATES)

    @pytest.mark.parametrize("kind", SPARSE)
    def test_sparse_npz(self, kind: str) -> None:
        sparse.save_npz("W.npz", sparse.csr_array(STATES).asformat(kind))
        assert np.array_equal(read_workload(Path("W.npz")).dense(), STATES)

    def test_sparse_matrix_not_array(self) -> None:
        sparse.save_npz("W.npz", sparse.csr_matrix(STATES))
        assert np.array_equal(read_workload(Path("W.npz")).dense(), STATES)

    def test_csv(self) -> None:
        rows = [",".join(map(str, row)) for row in STATES]
        Path("W.csv").write_text("\n".join(rows))
        assert np.array_equal(read_workload(Path("W.csv")).dense(), STATES)

    def test_csv_with_names(self) -> None:
        Path("W.CSV").write_text(",NY,NJ,CA,WA\nall,1,1,1,1\nNY + NJ,1,1,0,0\n")
        workload = read_workload(Path("W.CSV"))
        assert workload.names == ("all", "NY + NJ")
        assert workload.shape == (2, 4)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("read", [read_counts, read_weights])
class TestVectors:
    VALUES = (0, 7, 0, 2**53 + 1)

    def agrees(self, read: Callable[[Path], Any], name: str) -> bool:
        values = read(Path(name))
        return [int(value) for value in values] == list(self.VALUES)

    def test_csv(self, read: Callable[[Path], Any]) -> None:
        Path("down.csv").write_text("\n".join(map(str, self.VALUES)))
        Path("across.csv").write_text(",".join(map(str, self.VALUES)))
        Path("named.csv").write_text(
            "name,number\n" + "".join(f"{i},{value}\n" for i, value in enumerate(self.VALUES))
        )
        assert self.agrees(read, "down.csv")
        assert self.agrees(read, "across.csv")
        assert self.agrees(read, "named.csv")

    def test_numpy(self, read: Callable[[Path], Any]) -> None:
        np.save("x.npy", np.array(self.VALUES))
        np.savez("x.npz", np.array(self.VALUES))
        assert self.agrees(read, "x.npy")
        assert self.agrees(read, "x.npz")

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
    @pytest.mark.parametrize("shape", [(1, 4), (4, 1)])
    def test_sparse(self, read: Callable[[Path], Any], kind: str, shape: tuple[int, int]) -> None:
        column = np.array(self.VALUES).reshape(shape)
        sparse.save_npz("x.npz", sparse.coo_array(column).asformat(kind))
        assert self.agrees(read, "x.npz")

    def test_sparse_in_one_dimension(self, read: Callable[[Path], Any]) -> None:
        sparse.save_npz("x.npz", sparse.coo_array(np.array(self.VALUES)))
        assert self.agrees(read, "x.npz")

    def test_a_sparse_matrix_is_refused(self, read: Callable[[Path], Any]) -> None:
        sparse.save_npz("x.npz", sparse.csr_array(STATES))
        assert "holds a 3 x 4 matrix; save" in refused(Path("x.npz"), read)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("read", [read_workload, read_counts, read_weights])
class TestBadFiles:
    def test_missing(self, read: Callable[[Path], Any]) -> None:
        Path("folder.npy").mkdir()
        for name in ("gone.csv", "gone.npy", "folder.npy", "no/such/x.npz", "nul\0.csv"):
            assert "does not exist, or is no file" in refused(Path(name), read)

    def test_ending(self, read: Callable[[Path], Any]) -> None:
        for name in ("W", "W.txt", "W.csv.gz", ".csv", "."):
            assert "unknown ending; give one of .npy, .npz, .csv" in refused(Path(name), read)

    def test_name_too_long(self, read: Callable[[Path], Any]) -> None:
        assert "cannot be read: " in refused(Path("a" * 300 + ".csv"), read)

    @pytest.mark.parametrize("name", ["x.npy", "x.npz"])
    def test_no_numpy_file(self, read: Callable[[Path], Any], name: str) -> None:
        for content in (b"", b"1,2\n", b"\x93NUMPY", b"PK\x03\x04", bytes(range(256)) * 8):
            Path(name).write_bytes(content)
            assert "is damaged" in refused(Path(name), read)

    @pytest.mark.parametrize("save", [np.save, np.savez])
    def test_cut_short(self, read: Callable[[Path], Any], save: Callable[..., None]) -> None:
        buffer = io.BytesIO()
        save(buffer, np.ones((3, 4)))
        content = buffer.getvalue()
        path = Path("x.npy" if save is np.save else "x.npz")
        for length in range(0, len(content), 7):
            path.write_bytes(content[:length])
            assert "is damaged" in refused(path, read)

    def test_nothing_is_unpickled(self, read: Callable[[Path], Any]) -> None:
        objects = np.array([[1, None]], dtype=object)
        np.save("x.npy", objects)
        np.savez("x.npz", objects)
        Path("y.npy").write_bytes(pickle.dumps([[1, 2]]))
        for name in ("x.npy", "x.npz", "y.npy"):
            assert "no .np" in refused(Path(name), read)

    def test_several_arrays_or_none(self, read: Callable[[Path], Any]) -> None:
        np.savez("two.npz", a=STATES, b=STATES)
        np.savez("none.npz")
        assert "holds 2 arrays; save one array" in refused(Path("two.npz"), read)
        assert "holds 0 arrays; save one array" in refused(Path("none.npz"), read)

    def test_a_foreign_zip(self, read: Callable[[Path], Any]) -> None:
        with zipfile.ZipFile("x.npz", "w") as file:
            file.writestr("readme.txt", "not an array")
        assert "no .npz file of plain numbers" in refused(Path("x.npz"), read)

    @pytest.mark.parametrize(
        "change",
        [
            {"indices": np.array([0, 9], dtype=np.int32)},
            {"indices": np.array([0, -1], dtype=np.int32)},
            {"indptr": np.array([0, 900], dtype=np.int32)},
            {"indptr": np.array([2, 0], dtype=np.int32)},
            {"data": np.array([1.0])},
            {"data": np.array([None, None])},
            {"shape": np.array([1, 0])},
            {"shape": np.array([-1, 4])},
            {"format": np.array(b"xyz")},
            {"format": np.array(7)},
        ],
    )
    def test_forged_sparse(
        self, read: Callable[[Path], Any], change: dict[str, np.ndarray]
    ) -> None:
        """Indices beyond the matrix would make scipy read memory that is not ours."""
        content = {
            "format": np.array(b"csr"),
            "shape": np.array([1, 4]),
            "data": np.array([1.0, 2.0]),
            "indices": np.array([0, 3], dtype=np.int32),
            "indptr": np.array([0, 2], dtype=np.int32),
        }
        np.savez("x.npz", **content)
        read(Path("x.npz"))
        np.savez("x.npz", **content | change)
        refused(Path("x.npz"), read)

    def test_forged_coordinates(self, read: Callable[[Path], Any]) -> None:
        for row in (5, -1):
            matrix = {"shape": np.array([1, 4]), "data": np.ones(1), "col": np.zeros(1, dtype=int)}
            np.savez("x.npz", format=np.array(b"coo"), row=np.array([row]), **matrix)
            refused(Path("x.npz"), read)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("queries", "says"),
    [
        (np.ones(3), "must be two-dimensional"),
        (np.ones((2, 2, 2)), "must be two-dimensional"),
        (np.zeros((2, 2)), "is all zero"),
        (np.ones((0, 2)), "is empty"),
        (np.array([[1, np.nan]]), "has NaN"),
        (np.array([[1, 1j]]), "is complex"),
        (np.array([["a", "b"]]), "is not numeric"),
        (np.array([[1]], dtype="datetime64[s]"), "is not numeric"),
        (np.zeros(2, dtype=[("a", int), ("b", int)]), "must be two-dimensional"),
        (np.array([[2.0**60]]), "beyond 2"),
    ],
)
def test_workloads_that_make_no_sense(queries: np.ndarray, says: str) -> None:
    np.save("W.npy", queries)
    message = refused(Path("W.npy"))
    assert message.startswith("W.npy: the workload ")
    assert says in message


@pytest.mark.usefixtures("place")
def test_names_that_are_there_twice() -> None:
    Path("W.csv").write_text("a,1,0\na,0,1\n")
    assert refused(Path("W.csv")) == "W.csv: names must differ, but 'a' is there twice"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("text", ["3\n987654321 x\n", "3,1\n987654321,2\n", "a,3\n4,987654321\n"])
def test_messages_do_not_quote_counts(text: str) -> None:
    Path("counts.csv").write_text(text)
    message = refused(Path("counts.csv"), read_counts)
    assert "line" in message
    assert "987" not in message
