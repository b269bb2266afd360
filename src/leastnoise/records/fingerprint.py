"""Hashes of plans: of what is measured, of the rest, and of both. Never of the data.

The hash of a plan covers every public fact and array that `save` writes, but for how the plan was
found (candidates and their seconds) and what follows from it (its expected error, which another
machine may round differently).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.records.facts import noise_facts, pack, privacy_facts
from leastnoise.release.calibrate import Noise
from leastnoise.release.privacy import Privacy
from leastnoise.strategy.strategy import Block

if TYPE_CHECKING:
    from leastnoise.answers.measured import Part
    from leastnoise.plan import Plan

_LEFT_OUT = ("format", "candidates", "expected_error")


def plan_hash(plan: "Plan") -> str:
    """The hash of everything public about a plan."""
    parts = plan.measurable
    asked = asked_digest(
        plan.privacy, parts.noise, plan.strategy.k, plan.max_total, plan.strategy.blocks
    )
    return joined(asked, rest_digest(plan))


def part_hash(part: "Part") -> str:
    """The hash of the plan behind a measurement that is `known_by` it."""
    blocks = part.strategy.blocks
    asked = asked_digest(part.privacy, part.noise, part.strategy.k, part.max_total, blocks)
    return joined(asked, part.rest or "")


def known_by(plan: "Plan", parts: "tuple[Part, ...]") -> "tuple[Part, ...]":
    """The parts of a release of `plan`, the newest with the hash of the rest of its plan."""
    return replace(parts[0], rest=rest_digest(plan)), *parts[1:]


def asked_digest(
    privacy: Privacy, noise: Noise, k: int, max_total: int, blocks: Sequence[Block]
) -> str:
    """The hash of what the data is asked for: integer queries over classes of cells, and noise."""
    facts = {"privacy": privacy_facts(privacy), "noise": noise_facts(noise)}
    arrays: dict[str, np.ndarray] = {}
    for i, block in enumerate(blocks):
        arrays |= {f"cells{i}": block.cells} | pack(f"L{i}", block.L)
    return digest(facts | {"k": k, "max_total": max_total}, arrays)


def rest_digest(plan: "Plan") -> str:
    """The hash of everything else that a plan is saved with."""
    from leastnoise.records.planfile import public_arrays, public_facts

    facts = {name: fact for name, fact in public_facts(plan).items() if name not in _LEFT_OUT}
    return digest(facts, public_arrays(plan))


def digest(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of facts as JSON and of arrays by name, whatever the width of their integers."""
    whole = sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        array = array.astype("<i8" if array.dtype.kind in "iu" else array.dtype.newbyteorder("<"))
        whole.update(f"\0{name} {array.dtype.str} {array.shape}\0".encode())
        whole.update(array.tobytes())
    return whole.hexdigest()


def joined(*hashes: str) -> str:
    """One hash of several."""
    return sha256(" ".join(hashes).encode()).hexdigest()
