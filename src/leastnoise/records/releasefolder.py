"""A release on disk: answers.csv to read, release.json for what was promised, the raw numbers."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from leastnoise.answers.release import Release
from leastnoise.records.folder import whole_folder
from leastnoise.records.planfile import noise_facts, privacy_facts

CONFIDENCE = 0.95


def save(release: Release, path: Path) -> None:
    """Write the folder `path`, which must be free: a release is never overwritten."""
    with whole_folder(path) as folder:
        _write_answers(release, folder / "answers.csv")
        facts = json.dumps(_facts(release), indent=1, ensure_ascii=False)
        (folder / "release.json").write_text(facts + "\n", encoding="utf-8")
        blocks = {f"block{i}": y for i, y in enumerate(release.measurements)}
        np.savez(folder / "measurements.npz", allow_pickle=False, **blocks)


def _write_answers(release: Release, path: Path) -> None:
    low, high = release.interval(CONFIDENCE)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "estimate", "std_error", "low", "high"])
        columns = (release.answers, release.std, low, high)
        for name, *values in zip(release.names, *columns, strict=True):
            writer.writerow([name, *(repr(float(value)) for value in values)])


def _facts(release: Release) -> dict[str, Any]:
    return {
        "accounted": release.accounted,
        "privacy": privacy_facts(release.privacy),
        "noise": noise_facts(release.noise),
        "k": release.strategy.k,
        "confidence": CONFIDENCE,
        "largest_bias": float(release.bias.max()),
    }
