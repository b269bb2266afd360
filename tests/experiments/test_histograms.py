"""Real histograms, a user's own folder, and what a bad file is told."""

from pathlib import Path

import numpy as np
import pytest
from own_data import OWN, folder

from leastnoise.errors import FileError, InputError
from leastnoise.experiments.histograms import Histogram, histograms


def test_shipped_ones_hold_what_their_page_says() -> None:
    found = {one.name: one.counts for one in histograms()}
    sizes = {name: (len(counts), int(counts.sum())) for name, counts in found.items()}
    assert sizes == {
        "acs_income": (22_000, 44_163), "acs_place": (40_300, 44_163), "adult": (8_960, 46_033),
    }  # fmt: skip
    assert (found["adult"] > 0).sum() == 1_751
    assert found["adult"].max() == 2_077


def test_consecutive_counts_are_added_up_in_order() -> None:
    one = Histogram("any", np.array([1, 2, 3, 4, 5, 6, 7]))
    assert one.cells(3, seed=0).tolist() == [1 + 2 + 3, 4 + 5, 6 + 7]
    assert one.cells(7, seed=0).tolist() == one.counts.tolist()


def test_cells_of_adult_are_drawn_and_keep_their_order() -> None:
    adult = histograms()[-1]
    drawn = adult.cells(500, seed=1)
    assert drawn.tolist() == adult.cells(500, seed=1).tolist()
    assert drawn.tolist() != adult.cells(500, seed=2).tolist()
    assert np.array_equal(np.sort(adult.cells(8_960, seed=3)), np.sort(adult.counts))
    assert np.array_equal(adult.cells(8_960, seed=3), adult.counts)


def test_more_cells_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match=r"adult has 8,960 cells; n = 9000 needs as many"):
        histograms()[-1].cells(9_000, seed=0)


def test_a_folder_takes_the_place_of_the_survey(tmp_path: Path) -> None:
    found = histograms(folder(tmp_path))
    assert [one.name for one in found] == [*OWN, "adult"]
    assert [one.counts.tolist() for one in found[:-1]] == list(OWN.values())


def test_another_file_of_the_same_name_has_another_digest(tmp_path: Path) -> None:
    before = histograms(folder(tmp_path))[0].digest
    assert before == histograms(folder(tmp_path))[0].digest
    assert before != histograms(folder(tmp_path, search_logs="3\n0\n5\n1\n3\n"))[0].digest


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1\n-2\n", "line 2 is no count"),
        ("1.5\n", "line 1 is no count"),
        ("1 2\n", "line 1 is no count"),
        ("1\n\n2\n", "line 2 is no count"),
        (f"{2**32 + 1}\n", "line 1 is no count"),
        ("", "is empty"),
        ("\n", "is empty"),
        ("²\n", "is no text of digits"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = folder(tmp_path, nettrace=text)
    with pytest.raises(FileError, match=rf"nettrace\.txt .*{complaint}"):
        histograms(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (folder(tmp_path) / "nettrace.txt").unlink()
    with pytest.raises(
        FileError, match=r"nettrace\.txt cannot be read .* --data needs search_logs"
    ):
        histograms(tmp_path)
