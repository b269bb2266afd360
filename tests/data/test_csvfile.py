"""CSV tables: which line is a header, which column holds names, and what is refused."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from leastnoise.data.csvfile import Table, read_csv
from leastnoise.errors import FileError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file T.csv with this text."""

    def written(text: str | bytes, encoding: str = "utf-8") -> Path:
        path = tmp_path / "T.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return written


def refused(path: Path, read: Callable[[Path], object] = read_csv) -> str:
    with pytest.raises(FileError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        # neither header nor names
        ("1,2\n3,4\n", None, [[1, 2], [3, 4]]),
        ("1,2\r\n3,4", None, [[1, 2], [3, 4]]),
        (" 1 , 2 \n\n 3,4\n,\n", None, [[1, 2], [3, 4]]),
        ('"1","2"\n', None, [[1, 2]]),
        ("7\n", None, [[7]]),
        ("1,2.5e-1\n", None, [[1, 0.25]]),
        # a first line without numbers is a header
        ("NY,NJ\n1,2\n", None, [[1, 2]]),
        ("count\n5\n6\n", None, [[5], [6]]),
        ("state,count\nNY,5\nNJ,6\n", ["NY", "NJ"], [[5], [6]]),
        # a first column without numbers holds names
        ("a,1,2\nb,3,4\n", ["a", "b"], [[1, 2], [3, 4]]),
        ('"a, b",1\n"c ""d""",2\n', ["a, b", 'c "d"'], [[1], [2]]),
        ("2019_20,1\n2020_21,2\n", ["2019_20", "2020_21"], [[1], [2]]),
        # cells may be called 0, 1, 2 behind a corner, and then queries may too
        (",0,1\na,3,4\n", ["a"], [[3, 4]]),
        (",0,1\n0,3,4\n1,5,6\n", ["0", "1"], [[3, 4], [5, 6]]),
        ("question,0,1\na,3,4\n", ["a"], [[3, 4]]),
        ("Query,0,1\n7,3,4\n", ["7"], [[3, 4]]),
        ("NAME,weight\nq1,0.5\n", ["q1"], [[0.5]]),
    ],
)
def test_headers_and_names(
    write: Write, text: str, names: list[str] | None, rows: list[list[float]]
) -> None:
    table = read_csv(write(text))
    assert table.names == names
    assert table.rows == rows


def test_a_data_frame_with_its_index_is_read_as_meant(write: Write) -> None:
    """What pandas writes without index=False: the index is names, not a cell."""
    assert read_csv(write(",NY,NJ\n0,1,1\n1,1,0\n")).equally_long() == [[1, 1], [1, 0]]


def test_a_column_without_a_heading_is_refused(write: Write) -> None:
    """What R's write.table writes: one heading less than columns, row names first."""
    message = refused(write("NY,NJ\n1,5,6\n2,7,8\n"))
    assert "line 1 has 2 headings, line 2 has 3 columns" in message


def test_integers_stay_exact(write: Write) -> None:
    large = 2**63 - 1
    assert read_csv(write(f"{large}\n{-large}\n0.5\n")).rows == [[large], [-large], [0.5]]
    assert isinstance(read_csv(write(f"{2**63}")).rows[0][0], float)


def test_a_byte_order_mark_is_skipped(write: Write) -> None:
    assert read_csv(write("1,2\n", "utf-8-sig")).rows == [[1, 2]]
    assert read_csv(write("name,x\na,2\n", "utf-8-sig")).names == ["a"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no numbers"),
        ("\n \n,,\n", "holds no numbers"),
        ("a,b\n", "holds no numbers"),
        ("1,2\n3,x\n", "line 2 has a cell that is no number"),
        ("1,2\n3,\n", "line 2 has a cell that is no number"),
        ("1,2\n\n\n3,1_0\n", "line 4 has a cell that is no number"),
        ("a,1\n2,3\n", "line 1 has a cell that is no number"),
        ("a;b\nx;1\n", "line 2 has a name but no number; separate cells with commas"),
        (b"1,2\n\xff,3\n", "is no CSV text"),
        ("1,2\n".encode("utf-16"), "is no CSV text"),
        ("1," + "1" * 200_000, "is no CSV text"),
    ],
)
def test_what_is_refused(write: Write, text: str | bytes, says: str) -> None:
    assert says in refused(write(text))


def test_a_null_character(write: Write) -> None:
    assert re.search("no CSV text|no number", refused(write("1,2\n\0,3\n")))


def test_ragged_rows(write: Write) -> None:
    path = write("a,b\n\n1,2\n3,4\n5,6,7\n")
    assert "line 5 has 3 numbers, line 3 has 2" in refused(
        path, lambda path: read_csv(path).equally_long()
    )


@pytest.mark.parametrize("text", ["5\n6\n7\n", "5,6,7\n", "a,b,c\n5,6,7\n", "x,5\ny,6\nz,7\n"])
def test_one_per_line(write: Write, text: str) -> None:
    assert read_csv(write(text)).one_per_line("counts") == [5, 6, 7]


def test_several_per_line(write: Write) -> None:
    path = write("5,6\n7,8\n")
    assert "line 1 has several counts; write one per line" in refused(
        path, lambda path: read_csv(path).one_per_line("counts")
    )


def test_a_file_that_vanishes(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refused(tmp_path / "gone.csv")


def test_lines_are_those_of_the_file(write: Write) -> None:
    path = write('name,x\n\n"a\nb",1\nc,2\n')
    assert read_csv(path) == Table(path, ["a\nb", "c"], [4, 5], [[1], [2]])
