"""A table that a person reads: plain text in a terminal, HTML with a drawing in a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 40

_WIDTH, _HEIGHT = 180, 14  # of a drawing, in pixels
_CELL = "text-align:{side};padding:.15em .8em;white-space:nowrap;font-variant-numeric:tabular-nums"


@dataclass(frozen=True)
class Span:
    """A line from `low` to `high` with a dot, on the scale that all rows share."""

    low: float
    dot: float
    high: float


@dataclass(frozen=True)
class Table:
    """Headings and rows of text, lines that follow, and in HTML a span drawn beside each row."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: Sequence[str] = ()  # headings of columns that are words, set to the left
    notes: Sequence[str] = ()
    spans: Sequence[Span | None] = ()
    title: str = ""

    def __str__(self) -> str:
        shown = [self.headings, *self.rows[:MOST_ROWS]]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = ["  ".join(map(self._padded, self.headings, row, widths)).rstrip() for row in shown]
        return "\n".join(filter(None, [self.title, *lines, self._rest(), *self.notes]))

    def html(self) -> str:
        """The same for a notebook, with the spans on one scale."""
        head = "".join(self._cell("th", heading, heading) for heading in self.headings)
        body = "".join(self._row(i) for i in range(len(self.rows[:MOST_ROWS])))
        notes = "<br>".join(
            escape(note.strip()) for note in filter(None, [self._rest(), *self.notes])
        )
        title = f"<b>{escape(self.title)}</b>" if self.title else ""
        return (
            f'<div style="overflow-x:auto">{title}<table style="border-collapse:collapse">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><small>{notes}</small></div>"
        )

    def _rest(self) -> str:
        more = len(self.rows) - MOST_ROWS
        return f"… and {more:,} more" if more > 0 else ""

    def _padded(self, heading: str, text: str, width: int) -> str:
        return text.ljust(width) if heading in self.texts else text.rjust(width)

    def _row(self, i: int) -> str:
        pairs = zip(self.headings, self.rows[i], strict=True)
        cells = "".join(self._cell("td", heading, text) for heading, text in pairs)
        return f"<tr>{cells}{self._drawing(i)}</tr>"

    def _cell(self, kind: str, heading: str, text: str) -> str:
        style = _CELL.format(side="left" if heading in self.texts else "right")
        return f'<{kind} style="{style}">{escape(text)}</{kind}>'

    def _drawing(self, i: int) -> str:
        """The row's span: a line and a dot in the colour of the text."""
        drawn = [span for span in self.spans[:MOST_ROWS] if span is not None]
        span = self.spans[i] if self.spans else None
        if span is None:
            return ""
        least, most = min(one.low for one in drawn), max(one.high for one in drawn)
        low, dot, high = (
            4 + (_WIDTH - 8) * (value - least) / ((most - least) or 1)
            for value in (span.low, span.dot, span.high)
        )
        middle = _HEIGHT / 2
        return (
            f'<td><svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-hidden="true">'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" '
            f'stroke="currentColor" stroke-width="2" opacity=".5"/>'
            f'<circle cx="{dot:.1f}" cy="{middle}" r="3" fill="currentColor"/></svg></td>'
        )
