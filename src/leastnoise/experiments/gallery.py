"""A page with every figure of a folder, in groups, each with what it shows and its numbers."""

from collections.abc import Sequence
from pathlib import Path

from leastnoise.experiments.figure import Figure
from leastnoise.experiments.rows import Row, load_table

PAGE = "gallery.md"

_GROUPS = {
    "n": "Domain size n",
    "m": "Number of queries m",
    "share": "Rank of the queries",
    "gamma": "The relaxation γ",
    "ratio": "Rows of L",
    "": "Seconds of the low-rank mechanism",
}
_HOW = """\
Average squared error ‖ŷ − W·x‖² of a batch, on log axes. Lines are what the plan predicts, marks
the mean of the runs; a mechanism without a prediction (MWEM) has a line through its marks. The
shaded part is proven out of reach of every unbiased linear mechanism with Laplace or Gaussian noise
that keeps the same promise. Where ε varies along the lines, dotted lines are the bound for each."""


def write_gallery(figures: Sequence[Figure], out: Path) -> None:
    """`gallery.md` over those figures whose tables are there."""
    there = [figure for figure in figures if (out / f"{figure.name}.csv").exists()]
    lines = ["# Gallery", "", _HOW, ""]
    for group, heading in _GROUPS.items():
        its = [figure for figure in there if group == (figure.x if "error" in figure.y else "")]
        if its:
            lines += [f"## {heading}", ""]
        for figure in its:
            rows = load_table(out / f"{figure.name}.csv")
            lines += [
                f"### {figure.title}", "",
                f"![{figure.title}]({figure.name}.svg)", "",
                f"{_facts(rows)} [Numbers]({figure.name}.csv), [PNG]({figure.name}.png); "
                f"`{_command(figure)}`.", "",
            ]  # fmt: skip
    (out / PAGE).write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _command(figure: Figure) -> str:
    name = figure.name.removesuffix("-quick")
    return f"leastnoise experiment {name}{'' if name == figure.name else ' --quick'}"


def _facts(rows: Sequence[Row]) -> str:
    """Where and when, and what was not run."""
    days = sorted({row.finished[:10] for row in rows if row.finished})
    facts = f"Seed {rows[0].seed}; {rows[0].machine}; {days[0]}." if days else ""
    left = sorted(
        {(row.mechanism, row.workload, row.n, row.note) for row in rows if not row.epsilon}
    )
    notes = "; ".join(f"{who}, {workload}, n = {n:,}: {note}" for who, workload, n, note in left)
    return f"{facts} {notes + '.' if notes else ''}".strip()
