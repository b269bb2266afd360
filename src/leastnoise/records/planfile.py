"""Plans on disk: plan.json for the public facts, arrays.npz for the matrices.

Reading believes nothing that can be recomputed: sensitivities come from the integers again, and
the noise scale from the promise.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from leastnoise.errors import FileError, PlanError
from leastnoise.plan import Plan
from leastnoise.pricing import Candidate, Certificate, Measurable, Proof, require_rebuilt
from leastnoise.records.facts import noise_facts, pack, privacy_facts, privacy_of, unpack
from leastnoise.records.fingerprint import part_hash
from leastnoise.records.folder import whole_folder
from leastnoise.release.calibrate import calibrate
from leastnoise.release.integers import integer_strategy
from leastnoise.release.measure import check_headroom
from leastnoise.request import require_countable
from leastnoise.strategy.goal import goal
from leastnoise.strategy.strategy import Block, History, Strategy
from leastnoise.workload.fit import RECOGNISABLE, misfit
from leastnoise.workload.matrices import Matrix, entries
from leastnoise.workload.workload import UNUSED, Workload

FORMAT = 2
MARK = "plan.json"
_ARRAYS = "arrays.npz"


def save(plan: Plan, path: Path) -> None:
    """Write the folder `path`; an earlier plan there is replaced, anything else is kept."""
    if plan.given:
        raise PlanError("a plan given a release cannot be saved; save what it releases")
    with whole_folder(path, MARK) as folder:
        np.savez(folder / _ARRAYS, allow_pickle=False, **public_arrays(plan))
        text = json.dumps(public_facts(plan), indent=1, ensure_ascii=False)
        (folder / MARK).write_text(text + "\n", encoding="utf-8")


def load(path: str | Path) -> Plan:
    """The plan that `save` wrote to the folder `path`."""
    folder = Path(path)
    if not (folder / MARK).is_file():
        raise FileError(f"{folder} holds no plan; make one with leastnoise plan ... --out {folder}")
    try:
        return _read(folder)
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(f"{folder} is damaged, or too large for the memory; plan again") from error
    except Exception as error:  # whatever damage makes fail: zip, json, an index, a type
        raise FileError(f"{folder} is damaged ({type(error).__name__}); plan again") from error


def _read(folder: Path) -> Plan:
    facts = json.loads((folder / MARK).read_text(encoding="utf-8"))
    if facts["format"] != FORMAT:
        raise FileError(f"{folder} was written by another version of leastnoise; plan again")
    return made_of(facts, arrays_of(folder / _ARRAYS))


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    """Every array of an .npz file; never a pickle."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def public_facts(plan: Plan) -> dict[str, Any]:
    """Everything about a plan that is no array."""
    integers = plan.measurable.integers
    return {
        "format": FORMAT,
        "privacy": privacy_facts(plan.privacy),
        "mechanism": plan.mechanism,
        "objective": plan.goal.objective,
        "noise": noise_facts(plan.measurable.noise),
        "k": integers.k,
        "max_total": integers.max_total,
        "delta1": str(integers.delta1),
        "delta2_squared": str(integers.delta2_squared),
        "blocks": len(integers.blocks),
        "is_relaxed": plan.is_relaxed,
        "note": plan.note,
        "expected_error": plan.expected_error,
        "lower_bound": plan.certificate and plan.certificate.lower_bound,
        "candidates": [_candidate_facts(one) for one in plan.candidates],
        "names": list(plan.workload.names),
        **({"given": [part_hash(part) for part in plan.given]} if plan.given else {}),
    }


def _candidate_facts(one: Candidate) -> dict[str, Any]:
    is_priced = np.isfinite(one.expected_error)
    return vars(one) | {"expected_error": one.expected_error if is_priced else None}


def public_arrays(plan: Plan) -> dict[str, np.ndarray]:
    """Its matrices and vectors, by name."""
    arrays = {
        "cells": plan.workload.cells,
        "weights": plan.goal.weights,
        **pack("workload", plan.workload.matrix),
    }
    for i, block in enumerate(plan.strategy.blocks):
        arrays[f"cells{i}"] = block.cells
        arrays |= pack(f"L{i}", block.L) | pack(f"B{i}", block.B)
    for i, part in enumerate(plan.given):
        for j, block in enumerate(part.strategy.blocks):
            arrays |= pack(f"given{i}.B{j}", block.B)
    if plan.history is not None:
        arrays |= {f"history.{k}": np.asarray(v) for k, v in vars(plan.history).items()}
    if plan.certificate is not None:
        arrays |= {k: v for k, v in plan.certificate.proof._asdict().items() if v is not None}
    return arrays


def made_of(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Plan:
    """The plan of these facts and arrays, everything recomputed or compared."""
    privacy = privacy_of(facts["privacy"])
    workload = workload_of(facts["names"], arrays)
    blocks = tuple(_block(i, arrays, workload) for i in range(facts["blocks"]))
    integers = integer_strategy([block.L for block in blocks], facts["k"], facts["max_total"])
    noise = calibrate(integers, privacy, facts["noise"]["kind"])
    _require(noise_facts(noise) == facts["noise"], "noise does not follow from its strategy")
    check_headroom(integers, noise)
    require_countable(workload, integers.max_total)
    off = misfit(workload, blocks)
    is_relaxed = facts["is_relaxed"] is True
    if not is_relaxed:
        require_rebuilt(workload, off, RECOGNISABLE)
    strategy = Strategy(blocks, integers.k)
    made = Measurable(strategy, integers, noise, integers.max_total * off, is_relaxed)
    aim = goal(facts["objective"], arrays["weights"], len(workload))
    certificate = None
    if facts["lower_bound"] is not None:
        achieved = aim.of(noise.variance * made.strategy.row_squares)
        certificate = Certificate(_bound(facts["lower_bound"]), achieved, _proof(arrays, workload))
    tried = tuple(_candidate(one) for one in facts["candidates"])
    return Plan(
        workload,
        aim,
        privacy,
        mechanism=str(facts["mechanism"]),
        measurable=made,
        certificate=certificate,
        candidates=tried,
        note=str(facts["note"]),
        history=_history(arrays),
    )


def _require(is_so: bool | np.bool, what: str) -> None:
    if not is_so:
        raise FileError(f"the plan's {what}; plan again")


def workload_of(names: Any, arrays: dict[str, np.ndarray]) -> Workload:
    """The queries among some arrays."""
    matrix = _real("workload", arrays)
    _require(
        isinstance(names, list) and all(isinstance(one, str) for one in names), "names are no text"
    )
    return Workload.over_classes(matrix, _cells("cells", arrays, matrix), names)


def _block(i: int, arrays: dict[str, np.ndarray], workload: Workload) -> Block:
    """A block that counting cannot fail on later: L and its cells fit the workload.

    Its class of a cell must follow from the workload's, on which alone B·L is compared with W.
    """
    block = block_of(i, arrays, len(workload))
    where = np.full(workload.classes + 1, UNUSED)
    where[workload.cells] = block.cells
    is_same = np.array_equal(where[workload.cells], block.cells) and where[UNUSED] == UNUSED
    _require(is_same, "cells do not fit its strategy")
    return block


def block_of(i: int, arrays: dict[str, np.ndarray], queries: int) -> Block:
    """A block whose B fits its L, and L its cells."""
    L, B = unpack(f"L{i}", arrays), _real(f"B{i}", arrays)
    cells = _cells(f"cells{i}", arrays, L)
    _require(B.shape == (queries, L.shape[0]), "B does not fit its L")
    return Block(cells, L, B)


def _real(name: str, arrays: dict[str, np.ndarray]) -> Matrix:
    """A finite matrix of doubles."""
    matrix = unpack(name, arrays)
    is_real = matrix.dtype == np.float64 and np.isfinite(entries(matrix)).all()
    _require(is_real and matrix.ndim == 2, f"{name} is no matrix of finite numbers")
    return matrix


def _cells(name: str, arrays: dict[str, np.ndarray], matrix: Matrix) -> np.ndarray:
    """The class of each cell, a column of `matrix` or -1; no more classes than cells."""
    cells, classes = arrays[name], matrix.shape[1]
    is_list = cells.ndim == 1 and cells.dtype == np.int64 and classes <= len(cells)
    is_inside = is_list and UNUSED <= cells.min() and cells.max() < classes
    _require(is_inside, "cells do not fit its strategy")
    return cells


def _history(arrays: dict[str, np.ndarray]) -> History | None:
    names = ("penalties", "misfits", "traces", "residuals")
    if "history.penalties" not in arrays:
        return None
    penalties, misfits, traces, residuals = (arrays[f"history.{name}"] for name in names)
    is_fit = penalties.shape == misfits.shape == traces.shape and residuals.shape == (3,)
    for numbers in (penalties, misfits, traces, residuals):
        is_fit = is_fit and numbers.dtype == np.float64 and bool(np.isfinite(numbers).all())
    _require(is_fit, "history is damaged")
    first, second, third = residuals.tolist()
    return History(penalties, misfits, traces, (first, second, third))


def _bound(value: Any) -> float:
    bound = float(value)
    _require(0 < bound < np.inf, "lower bound is no positive number")
    return bound


def _proof(arrays: dict[str, np.ndarray], workload: Workload) -> Proof:
    """Probabilities of every class, and of every query if the proof has them."""
    proof = Proof(arrays["q"], arrays.get("p"))
    for values, size in zip(proof, (workload.classes, len(workload)), strict=True):
        is_fit = values is None or (
            values.shape == (size,) and bool((values >= 0).all()) and 0 < values.sum() < np.inf
        )
        _require(is_fit, "proof does not fit its queries")
    return proof


def _candidate(facts: dict[str, Any]) -> Candidate:
    error = facts["expected_error"]
    return Candidate(
        mechanism=str(facts["mechanism"]),
        noise=str(facts["noise"]),
        expected_error=np.inf if error is None else float(error),
        seconds=float(facts["seconds"]),
        note=str(facts["note"]),
    )
