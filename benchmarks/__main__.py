"""python -m benchmarks [--seed S] [--only TEXT]: every must-show figure, a row each."""

import argparse
import sys
from collections.abc import Sequence

from benchmarks import budget, experiments, noises, paper, pure, spine
from benchmarks.rows import Row, Section

SECTIONS: tuple[Section, ...] = (
    *spine.SECTIONS,
    *noises.SECTIONS,
    *paper.SECTIONS,
    *pure.SECTIONS,
    *experiments.SECTIONS,
    *budget.SECTIONS,
)
LONG: tuple[Section, ...] = experiments.LONG
"""An hour or more each: run where `--only` names them."""


def main(sections: Sequence[Section] = SECTIONS) -> int:
    """Print rows as they are measured; 1 when a figure was missed or none was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the random workloads (0)")
    parser.add_argument("--only", default="", help="run sections whose name contains this")
    options = parser.parse_args()
    known = (*sections, *(LONG if options.only else ()))
    chosen = [section for section in known if options.only in section.__name__]
    if not chosen:
        parser.error(f"--only takes one of {', '.join(s.__name__ for s in (*sections, *LONG))}")
    print(f"{'figure':<76} {'target':>16} {'measured':>16}  met", flush=True)
    rows = [_shown(row) for section in chosen for row in section(options.seed)]
    missed = sum(not row.met for row in rows)
    print(f"{len(rows)} figures, {missed} missed")
    return 1 if missed else 0


def _shown(row: Row) -> Row:
    print(f"{row.figure:<76} {row.target:>16} {row.measured:>16}  {_word(row.met)}", flush=True)
    return row


def _word(met: bool) -> str:
    return "yes" if met else "NO"


if __name__ == "__main__":
    sys.exit(main())
