"""A release on disk: answers to read, what was promised, and all that is needed to check them.

    answers.csv, answers.parquet   a line per answer: question, estimate, std_error, low, high
    measurements.npz               the queries, what was measured (L_q), the noisy integers, and B
    release.json                   whom it protects, the promise, the noise, exact; and hashes
    README.txt                     the same in plain words

Nothing in it is of the data but the noisy integers. The same release is written alike to the byte.
"""

import csv
import json
from hashlib import file_digest
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from leastnoise.answers.combine import bias_of
from leastnoise.answers.measured import Account, Part
from leastnoise.answers.release import Release
from leastnoise.errors import FileError
from leastnoise.pricing import Certificate
from leastnoise.records.facts import (
    charge_facts,
    noise_facts,
    pack,
    privacy_facts,
    privacy_of,
)
from leastnoise.records.fingerprint import digest, part_hash
from leastnoise.records.folder import whole_folder
from leastnoise.records.planfile import (
    arrays_of,
    block_of,
    made_of,
    public_arrays,
    workload_of,
)
from leastnoise.release.budget import charge
from leastnoise.release.calibrate import calibrate
from leastnoise.release.integers import integer_strategy
from leastnoise.release.measure import check_headroom
from leastnoise.show.readme import readme
from leastnoise.show.text import unit_text
from leastnoise.strategy.strategy import Strategy
from leastnoise.workload.workload import Workload

FORMAT = 2
MARK = "release.json"
CONFIDENCE = 0.95
FILES = ("answers.csv", "answers.parquet", "measurements.npz", "README.txt")
ANSWERS, TABLE, ARRAYS, README = FILES


def save(release: Release, path: Path) -> None:
    """Write the folder `path`, which must be free: a release is never overwritten."""
    with whole_folder(path) as folder:
        columns = answer_columns(release)
        (folder / ANSWERS).write_text(as_csv(columns), encoding="utf-8", newline="")
        _write_table(columns, folder / TABLE)
        np.savez(folder / ARRAYS, allow_pickle=False, **release_arrays(release))
        (folder / README).write_text(readme(release), encoding="utf-8")
        facts = release_facts(release)
        facts["files"] = {name: file_hash(folder / name) for name in FILES}
        facts["hash"] = digest(facts, {})
        text = json.dumps(facts, indent=1, ensure_ascii=False)
        (folder / MARK).write_text(text + "\n", encoding="utf-8")


def load(folder: Path) -> Release:
    """The release that `save` wrote to a folder: its own numbers, everything else recomputed."""
    facts = read_facts(folder)
    try:
        return _release(facts, arrays_of(folder / ARRAYS))
    except FileError as error:
        raise FileError(f"{folder}: {error}") from None
    except Exception as error:  # whatever damage makes fail: zip, json, an index, a type
        raise FileError(f"{folder} is damaged ({type(error).__name__})") from error


def read_facts(folder: Path) -> dict[str, Any]:
    """release.json, as it was written, and the files of the same hashes."""
    try:
        facts: dict[str, Any] = json.loads((folder / MARK).read_text(encoding="utf-8"))
        if facts["format"] != FORMAT:
            raise FileError(f"{folder} was written by another version of leastnoise; use that")
        stated = facts["hash"]
        found = digest({name: fact for name, fact in facts.items() if name != "hash"}, {})
        files = dict(facts["files"])
    except FileError:
        raise
    except Exception as error:
        raise FileError(
            f"{folder} holds no whole release ({MARK}: {type(error).__name__})"
        ) from error
    if stated != found:
        raise FileError(f"{folder / MARK} was changed after it was written")
    for name, stated in files.items():
        if file_hash(folder / name) != stated:
            raise FileError(f"{folder / name} was changed after it was written")
    return facts


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


def answer_columns(release: Release) -> dict[str, list[Any]]:
    """The table of answers, by column; whatever keys questions have stand behind their name."""
    low, high = release.interval(CONFIDENCE)
    numbers = {"estimate": release.answers, "std_error": release.std, "low": low, "high": high}
    return {"question": list(release.names)} | {
        name: [float(value) for value in column] for name, column in numbers.items()
    }


def as_csv(columns: dict[str, list[Any]]) -> str:
    """The columns as CSV, numbers with all their digits."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([repr(cell) if isinstance(cell, float) else cell for cell in row])
    return text.getvalue()


def _write_table(columns: dict[str, list[Any]], path: Path) -> None:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]
    import pyarrow.parquet  # type: ignore[import-untyped, unused-ignore]

    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def release_facts(release: Release) -> dict[str, Any]:
    """Everything about a release that is no array, but for the hashes of its files."""
    plan = _own_plan(release)
    return {
        "format": FORMAT,
        "versions": {name: version(name) for name in ("leastnoise", "numpy", "opendp")},
        "accounted": release.accounted,
        "measurements": [_part_facts(part) for part in release.kept()],
        "confidence": CONFIDENCE,
        "largest_bias": float(release.bias.max()),
        "plan": plan
        and {
            "mechanism": plan.mechanism,
            "note": plan.note,
            "objective": plan.goal.objective,
            "is_relaxed": plan.is_relaxed,
            "certificate": _certificate_facts(plan.certificate),
        },
        "questions": list(release.names),
    }


def _certificate_facts(certificate: Certificate | None) -> dict[str, float] | None:
    if certificate is None:
        return None
    return {"lower_bound": certificate.lower_bound, "achieved": certificate.achieved}


def _own_plan(release: Release) -> Any:
    """The plan whose only measurement this is; None where others are combined with it."""
    return release.plan if release.plan is not None and not release.plan.given else None


def _part_facts(part: Part) -> dict[str, Any]:
    strategy = part.strategy
    integers = integer_strategy([one.L for one in strategy.blocks], strategy.k, part.max_total)
    return {
        "privacy": privacy_facts(part.privacy),
        "protects": unit_text(part.privacy),
        "noise": noise_facts(part.noise),
        "k": strategy.k,
        "max_total": part.max_total,
        "delta1": str(integers.delta1),
        "delta2_squared": str(integers.delta2_squared),
        "blocks": len(strategy.blocks),
        "numbers": integers.rows,
        "spent": charge_facts(charge(integers, part.noise, part.privacy)),
        "account": part.account and vars(part.account),
        "plan_hash": part_hash(part),
        "rest_hash": part.rest,
    }


def release_arrays(release: Release) -> dict[str, np.ndarray]:
    """The queries, and each measurement's L_q, cells, noisy integers and B."""
    plan = _own_plan(release)
    if plan is not None:
        arrays = {
            name: array for name, array in public_arrays(plan).items() if not _is_of_block(name)
        }
    else:
        arrays = {"cells": release.workload.cells, **pack("workload", release.workload.matrix)}
    for i, part in enumerate(release.parts):
        for j, (block, y) in enumerate(zip(part.strategy.blocks, part.numbers, strict=True)):
            arrays |= {f"{i}.cells{j}": block.cells, f"{i}.y{j}": y}
            arrays |= pack(f"{i}.L{j}", block.L) | pack(f"{i}.B{j}", block.B)
    return arrays


def _is_of_block(name: str) -> bool:
    """cells0, L0, B0.data: what `public_arrays` calls the arrays of a block."""
    return name.split(".")[0].rstrip("0123456789") != name.split(".")[0]


def _release(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Release:
    """The release of these facts and arrays; of a plan, if it is one's own."""
    measured = facts["measurements"]
    if facts["plan"] is None:
        workload = workload_of(facts["questions"], arrays)
        parts = tuple(_part(i, one, arrays, workload) for i, one in enumerate(measured))
        return Release(workload, parts, bias_of(workload, parts))
    own = {name[2:]: array for name, array in arrays.items() if name.startswith("0.")}
    shared = {name: array for name, array in arrays.items() if not name.startswith("0.")}
    plan = made_of(_plan_facts(facts), shared | own)
    y = [own[f"y{j}"] for j in range(len(plan.strategy.blocks))]
    return plan.released(_account(measured[0]), _checked_numbers(y, plan.strategy))


def _plan_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """What `made_of` reads, from where it stands in a release."""
    plan, bound = facts["plan"], facts["plan"]["certificate"]
    return {
        **facts["measurements"][0],
        **plan,
        "names": facts["questions"],
        "lower_bound": bound and bound["lower_bound"],
        "candidates": [],
    }


def _part(i: int, facts: dict[str, Any], arrays: dict[str, np.ndarray], workload: Workload) -> Part:
    """A measurement whose noise keeps its promise, and the B of these queries."""
    own = {name.removeprefix(f"{i}."): array for name, array in arrays.items()}
    blocks = tuple(block_of(j, own, len(workload)) for j in range(facts["blocks"]))
    strategy, privacy = Strategy(blocks, facts["k"]), privacy_of(facts["privacy"])
    integers = integer_strategy([one.L for one in blocks], facts["k"], facts["max_total"])
    noise = calibrate(integers, privacy, facts["noise"]["kind"])
    if noise_facts(noise) != facts["noise"]:
        raise FileError("the noise does not follow from the promise and what is measured")
    check_headroom(integers, noise)
    numbers = _checked_numbers([own[f"y{j}"] for j in range(len(blocks))], strategy)
    account, rest = _account(facts), facts["rest_hash"]
    return Part(strategy, noise, privacy, integers.max_total, numbers, account, rest)


def _account(facts: dict[str, Any]) -> Account | None:
    return None if facts["account"] is None else Account(**facts["account"])


def _checked_numbers(numbers: list[np.ndarray], strategy: Strategy) -> tuple[np.ndarray, ...]:
    for y, block in zip(numbers, strategy.blocks, strict=True):
        if y.dtype != np.int64 or y.shape != block.L.shape[:1]:
            raise FileError("the noisy integers are not as many as were measured")
    return tuple(numbers)
