"""Processes that race for one ledger: how many releases it grants, round after round.

python -m benchmarks.racing FOLDER ROUNDS prints one line of JSON: how many rounds granted so many.
"""

import json
import multiprocessing
import sys
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import leastnoise as ln
from leastnoise.errors import PrivacyError
from leastnoise.records import ledger
from leastnoise.release.privacy import promise

PROCESSES, ROOM, ATTEMPTS = 8, 10, 3


def racer(number: int, orders: Connection) -> None:
    """On each order, a path, try three releases there; report how many were granted."""
    plan = ln.plan(np.eye(3), epsilon="1/10", mechanism="nod")
    orders.send(0)
    while path := orders.recv():
        granted = 0
        for attempt in range(ATTEMPTS):
            try:
                plan.release([1, 2, 3], ledger=path, id=f"{number}-{attempt}")
                granted += 1
            except PrivacyError:
                pass
        orders.send(granted)


def race(folder: Path, rounds: int) -> dict[int, int]:
    """How many rounds granted so many releases; each must agree with its ledger."""
    context = multiprocessing.get_context("spawn")
    lines = [context.Pipe() for _ in range(PROCESSES)]
    racers = [context.Process(target=racer, args=(i, there)) for i, (_, there) in enumerate(lines)]
    for one in racers:
        one.start()
    for here, _ in lines:
        here.recv()
    found: Counter[int] = Counter()
    for number in range(rounds):
        path = folder / f"{number}.db"
        ledger.create(path, "patients", promise(epsilon=1))
        for here, _ in lines:
            here.send(path)
        granted = sum(here.recv() for here, _ in lines)
        [statement] = ledger.statements(path)
        answered = sum(one.answered is not None for one in statement.spendings)
        found[granted if granted == len(statement.spendings) == answered else -1] += 1
        path.unlink()
    for (here, _), one in zip(lines, racers, strict=True):
        here.send("")
        one.join()
    return dict(found)


if __name__ == "__main__":
    print(json.dumps(race(Path(sys.argv[1]), int(sys.argv[2]))))
