"""Public facts as JSON and matrices as arrays: what plans and releases are written in."""

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.release.budget import Charge
from leastnoise.release.calibrate import Noise
from leastnoise.release.privacy import Privacy, promise
from leastnoise.workload.matrices import Matrix


def privacy_facts(privacy: Privacy) -> dict[str, Any]:
    """The promise, exact: fractions as text."""
    return {
        "epsilon": as_text(privacy.epsilon),
        "delta": str(privacy.delta),
        "rho": as_text(privacy.rho),
        "max_rows": privacy.max_rows,
        "neighbors": privacy.neighbors,
        "calibration": privacy.calibration,
    }


def privacy_of(facts: dict[str, Any]) -> Privacy:
    """The promise of these facts, checked again."""
    return promise(
        as_fraction(facts["epsilon"]),
        Fraction(facts["delta"]),
        as_fraction(facts["rho"]),
        facts["max_rows"],
        facts["neighbors"],
        facts["calibration"],
    )


def noise_facts(noise: Noise) -> dict[str, Any]:
    return {"kind": noise.kind, "scale": noise.scale, "limit": str(noise.limit)}


def charge_facts(cost: Charge) -> dict[str, Any]:
    """What a release spends, exact."""
    return {
        "epsilon": as_text(cost.epsilon),
        "delta": str(cost.delta),
        "rho": as_text(cost.rho),
        "lattice": str(cost.lattice),
    }


def charge_of(facts: dict[str, Any]) -> Charge:
    return Charge(
        epsilon=as_fraction(facts["epsilon"]),
        delta=Fraction(facts["delta"]),
        rho=as_fraction(facts["rho"]),
        lattice=Fraction(facts["lattice"]),
    )


def as_text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def as_fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def pack(name: str, matrix: Matrix) -> dict[str, np.ndarray]:
    """A dense matrix as one array, a sparse one as its three and its shape."""
    if not sparse.issparse(matrix):
        return {name: matrix}
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape),
    }


def unpack(name: str, arrays: dict[str, np.ndarray]) -> Matrix:
    """The matrix that `pack` took apart."""
    if name in arrays:
        return arrays[name]
    content = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    matrix = sparse.csr_array(content, shape=tuple(arrays[f"{name}.shape"]))
    matrix.check_format(full_check=True)  # an index out of place would be followed out of memory
    return matrix
