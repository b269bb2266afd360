"""Plans on disk: plan.json for the public facts, arrays.npz for the matrices.

Reading believes nothing that can be recomputed: sensitivities come from the integers again, and
the noise scale from the promise.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.errors import FileError, LeastnoiseError
from leastnoise.plan import Plan
from leastnoise.pricing import Candidate, Certificate, Measurable, Proof
from leastnoise.records.folder import whole_folder
from leastnoise.release.calibrate import Noise, calibrate
from leastnoise.release.integers import integer_strategy
from leastnoise.release.privacy import Privacy, promise
from leastnoise.strategy.goal import goal
from leastnoise.strategy.strategy import Block, Strategy
from leastnoise.workload.fit import misfit
from leastnoise.workload.matrices import Matrix
from leastnoise.workload.workload import Workload

FORMAT = 1
MARK = "plan.json"
_ARRAYS = "arrays.npz"


def save(plan: Plan, path: Path) -> None:
    """Write the folder `path`; an earlier plan there is replaced, anything else is kept."""
    with whole_folder(path, MARK) as folder:
        np.savez(folder / _ARRAYS, allow_pickle=False, **_arrays(plan))
        text = json.dumps(_facts(plan), indent=1, ensure_ascii=False)
        (folder / MARK).write_text(text + "\n", encoding="utf-8")


def load(path: str | Path) -> Plan:
    """The plan that `save` wrote to the folder `path`."""
    folder = Path(path)
    if not (folder / MARK).is_file():
        raise FileError(f"{folder} holds no plan; make one with leastnoise plan ... --out {folder}")
    try:
        facts = json.loads((folder / MARK).read_text(encoding="utf-8"))
        if facts["format"] != FORMAT:
            raise FileError(f"{folder} was written by another version of leastnoise; plan again")
        with np.load(folder / _ARRAYS, allow_pickle=False) as arrays:
            return _plan(facts, dict(arrays))
    except (FileError, MemoryError):
        raise
    except (LeastnoiseError, OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"{folder} is damaged ({type(error).__name__}); plan again") from error


def privacy_facts(privacy: Privacy) -> dict[str, Any]:
    """The promise, exact: fractions as text."""
    return {
        "epsilon": _text(privacy.epsilon),
        "delta": str(privacy.delta),
        "rho": _text(privacy.rho),
        "max_rows": privacy.max_rows,
        "neighbors": privacy.neighbors,
    }


def noise_facts(noise: Noise) -> dict[str, Any]:
    return {"kind": noise.kind, "scale": noise.scale, "limit": str(noise.limit)}


def _facts(plan: Plan) -> dict[str, Any]:
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
        "expected_error": plan.expected_error,
        "lower_bound": plan.certificate and plan.certificate.lower_bound,
        "candidates": [_candidate_facts(one) for one in plan.candidates],
        "names": list(plan.workload.names),
    }


def _candidate_facts(one: Candidate) -> dict[str, Any]:
    is_priced = np.isfinite(one.expected_error)
    return vars(one) | {"expected_error": one.expected_error if is_priced else None}


def _arrays(plan: Plan) -> dict[str, np.ndarray]:
    arrays = {
        "cells": plan.workload.cells,
        "weights": plan.goal.weights,
        **_pack("workload", plan.workload.matrix),
    }
    for i, block in enumerate(plan.strategy.blocks):
        arrays[f"cells{i}"] = block.cells
        arrays |= _pack(f"L{i}", block.L) | _pack(f"B{i}", block.B)
    if plan.certificate is not None:
        arrays |= {k: v for k, v in plan.certificate.proof._asdict().items() if v is not None}
    return arrays


def _plan(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Plan:
    privacy = promise(**{k: v for k, v in facts["privacy"].items() if v is not None})
    workload = Workload.over_classes(_unpack("workload", arrays), arrays["cells"], facts["names"])
    blocks = tuple(_block(i, arrays, workload) for i in range(facts["blocks"]))
    integers = integer_strategy([block.L for block in blocks], facts["k"], facts["max_total"])
    noise = calibrate(integers, privacy, facts["noise"]["kind"])
    if noise_facts(noise) != facts["noise"]:
        raise FileError("the plan's noise does not follow from its strategy; plan again")
    bias = integers.max_total * misfit(workload, blocks)
    made = Measurable(Strategy(blocks, integers.k), integers, noise, bias)
    tried = tuple(_candidate(one) for one in facts["candidates"])
    aim = goal(facts["objective"], arrays["weights"], len(workload))
    certificate = None
    if facts["lower_bound"] is not None:
        achieved = aim.of(noise.variance * made.strategy.row_squares)
        proof = Proof(arrays["q"], arrays.get("p"))
        certificate = Certificate(facts["lower_bound"], achieved, proof)
    return Plan(workload, aim, privacy, facts["mechanism"], made, certificate, tried)


def _block(i: int, arrays: dict[str, np.ndarray], workload: Workload) -> Block:
    """A block whose cells all lie in a class it has, so that counting can never fail later."""
    block = Block(arrays[f"cells{i}"], _unpack(f"L{i}", arrays), _unpack(f"B{i}", arrays))
    has_classes = -1 <= block.cells.min() and block.cells.max() < block.L.shape[1]
    if block.cells.shape != workload.cells.shape or not has_classes:
        raise FileError("the plan's cells do not fit its strategy; plan again")
    if block.B.shape != (len(workload), block.L.shape[0]):
        raise FileError("the plan's B does not fit its L; plan again")
    return block


def _candidate(facts: dict[str, Any]) -> Candidate:
    error = facts["expected_error"]
    return Candidate(**facts | {"expected_error": np.inf if error is None else error})


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _pack(name: str, matrix: Matrix) -> dict[str, np.ndarray]:
    """A dense matrix as one array, a sparse one as its three and its shape."""
    if not sparse.issparse(matrix):
        return {name: matrix}
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape),
    }


def _unpack(name: str, arrays: dict[str, np.ndarray]) -> Matrix:
    if name in arrays:
        return arrays[name]
    content = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array(content, shape=tuple(arrays[f"{name}.shape"]))
