"""What people read: text that lines up, HTML that is well formed and hides nothing."""

from xml.etree import ElementTree

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.show.table import MOST_ROWS, Span, Table

QUERIES = ln.Workload([[1, 1, 0], [0, 1, 1]], names=["young & old", "<all>"])
PLAN = ln.plan(QUERIES, epsilon=1)


def parsed(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(page.replace("<br>", "<br/>"))


def test_text_lines_up() -> None:
    table = Table(("question", "n"), [("a", "1.5"), ("long", "10.0")], ("question",), ["so be it"])
    assert str(table).splitlines() == [
        "question     n",
        "a          1.5",
        "long      10.0",
        "so be it",
    ]


def test_long_tables_are_cut_and_say_so() -> None:
    rows = [(str(i),) for i in range(MOST_ROWS + 1_234)]
    table = Table(("n",), rows, spans=[Span(0, 0, i) for i in range(len(rows))])
    assert str(table).endswith(f"{MOST_ROWS - 1}\n… and 1,234 more")
    assert len(parsed(table.html()).findall(".//tbody/tr")) == MOST_ROWS
    assert "… and 1,234 more" in table.html()


def test_spans_share_one_scale() -> None:
    table = Table(("n",), [("1",), ("2",), ("3",)], spans=[Span(0, 5, 10), None, Span(5, 5, 5)])
    lines = parsed(table.html()).findall(".//line")
    (left, right), (start, end) = [(float(one.get("x1")), float(one.get("x2"))) for one in lines]
    assert left < start == end == (left + right) / 2 < right


@pytest.mark.parametrize("thing", [PLAN, PLAN.release([1, 2, 3]), ln.compare(QUERIES, epsilon=1)])
def test_plans_releases_and_comparisons_show_themselves(thing: object) -> None:
    assert repr(thing) == str(thing)
    page = parsed(thing._repr_html_())
    shown = "".join(page.itertext())
    words = [word for word in str(thing).split() if word not in ("promise", "told", "proof")]
    assert [word for word in words if word not in shown] == []
    assert page.findall(".//svg")


def test_a_plan_tells_what_it_minimises() -> None:
    assert "expected in total (squared)" in str(PLAN)
    worst = ln.plan(QUERIES, rho=1, objective="worst", weights=[1, 2])
    assert "expected of the worst answer (squared, weighted)" in str(worst)


def test_a_release_tells_what_it_spent_and_how_sure_it_is() -> None:
    release = PLAN.release([1000, 2000, 3000])
    low, high = release.interval(0.95)
    for value in (*release.answers, *release.std, *low, *high):
        assert f"{value:,.1f}" in str(release)
    assert "ε = 1 for one record added or removed; unaccounted" in str(release)
    assert "wider" not in str(release)


def test_a_release_tells_which_intervals_are_wider() -> None:
    real = np.random.default_rng(0).standard_normal((3, 6))
    release = ln.plan(real, rho=10**6, mechanism="nor", max_total=2**40).release([0] * 6)
    assert release.is_biased.all()
    assert "3 intervals are wider" in str(release)
    assert "3 intervals are wider" in release._repr_html_()


def test_what_was_not_tried_is_listed_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leastnoise.memory.free_bytes", lambda: 0)
    comparison = ln.compare(QUERIES, epsilon=1)
    last = str(comparison).splitlines()[-2]
    assert last.split()[1:3] == ["laplace", "-"]
    assert "GiB" in last
    assert "GiB" in comparison._repr_html_()
