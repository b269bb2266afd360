"""Check a release folder by itself: nothing in it is believed that follows from something else.

What is measured and the noisy integers are taken as they stand. The promise, the sensitivities and
the noise are held against each other in exact arithmetic; B, the answers and their errors come anew
from L_q, W and the integers by NumPy's least squares; the bound is a nuclear norm. The solvers, the
reconstruction and the certificates of a plan take no part.
"""

import csv
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from leastnoise.answers.combine import over_classes
from leastnoise.answers.measured import Part
from leastnoise.answers.release import Release
from leastnoise.errors import FileError
from leastnoise.memory import require
from leastnoise.plan import Plan
from leastnoise.records.planfile import arrays_of
from leastnoise.records.releasefolder import (
    ANSWERS,
    ARRAYS,
    MARK,
    README,
    TABLE,
    answer_columns,
    load,
    read_facts,
    release_arrays,
    release_facts,
)
from leastnoise.release.calibrate import unit_variance
from leastnoise.show.readme import readme
from leastnoise.show.table import Table
from leastnoise.show.text import number
from leastnoise.workload.matrices import dense

_TAKEN = ("versions", "files", "hash")  # of release.json: nothing to compute them from
_SAME = 1e-9  # relative: what sums of doubles may differ by from machine to machine
_SOLVED = 1e-6  # relative: what two ways to solve least squares may


@dataclass(frozen=True)
class Verified:
    """A folder that passed: what was checked, a line each, as (what, how it was found)."""

    path: Path
    checks: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        headings = ("checked", "found")
        return str(Table(headings, self.checks, headings))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings = ("checked", "found")
        return Table(headings, self.checks, headings).html()


def verify(path: str | Path) -> Verified:
    """Check everything in a release folder that follows from anything else in it.

    Gives the table of what was checked; raises `FileError` at the first thing that is not so. It
    cannot show that the noise was drawn honestly, or that the counts were right.
    """
    folder = Path(path)
    stated = read_facts(folder)
    arrays = arrays_of(folder / ARRAYS)
    release = load(folder)
    checks = [
        ("hashes", f"{MARK} and {len(stated['files'])} files are as they were written"),
        _facts(folder, stated, release),
        _arrays(folder, arrays, release),
        *(_noise(folder, part) for part in release.parts),
        _reconstruction(folder, release),
        _answers(folder, release),
        *_bound(folder, release.plan),
        _text(folder, release),
    ]
    return Verified(folder, tuple(checks))


def _require(is_so: bool | np.bool, place: Path, what: str) -> None:
    if not is_so:
        raise FileError(f"{place} does not hold together: {what}")


def _facts(folder: Path, stated: dict[str, Any], release: Release) -> tuple[str, str]:
    """Every fact but those of `_TAKEN` comes out of the rest again."""
    found = json.loads(json.dumps(release_facts(release)))
    allowed = 1e-3 * float(release.std.min(initial=np.inf))
    _require(
        set(stated) - {*_TAKEN} == set(found) - {*_TAKEN}, folder / MARK, "facts are missing or new"
    )
    for name in set(found) - {*_TAKEN, "largest_bias"}:
        where = _difference(stated[name], found[name], name)
        _require(where is None, folder / MARK, f"{where} does not follow from the rest")
    off = abs(stated["largest_bias"] - found["largest_bias"])
    is_close = off <= max(_SAME * found["largest_bias"], allowed)
    _require(is_close, folder / MARK, "largest_bias does not follow from the rest")
    _require(set(stated["files"]) == {ANSWERS, TABLE, ARRAYS, README}, folder / MARK, "files")
    hashes = ", ".join(one["plan_hash"][:12] for one in found["measurements"])
    return "facts", f"promise, sensitivity, noise, what was spent, plan {hashes}"


def _difference(stated: Any, found: Any, where: str) -> str | None:
    """The name of the first fact that differs, floats by more than rounding."""
    if type(stated) is not type(found):
        return where
    if isinstance(found, dict):
        if set(stated) != set(found):
            return where
        pairs = [(stated[key], found[key], f"{where}.{key}") for key in found]
    elif isinstance(found, list):
        if len(stated) != len(found):
            return where
        pairs = [(*two, f"{where}[{i}]") for i, two in enumerate(zip(stated, found, strict=True))]
    elif isinstance(found, float):
        return None if abs(stated - found) <= _SAME * abs(found) else where
    else:
        return None if stated == found else where
    return next(filter(None, (_difference(*pair) for pair in pairs)), None)


def _arrays(folder: Path, stated: dict[str, np.ndarray], release: Release) -> tuple[str, str]:
    """No array is missing, none is there that plays no part, and none was read as another."""
    found = release_arrays(release)
    _require(set(stated) == set(found), folder / ARRAYS, "arrays are missing or new")
    for name, array in found.items():
        is_same = array.dtype == stated[name].dtype and np.array_equal(array, stated[name])
        _require(is_same, folder / ARRAYS, f"{name} is not as it would be written")
    return "arrays", f"{len(found)}, each as it would be written again"


def _noise(folder: Path, part: Part) -> tuple[str, str]:
    """c·Δ₁ ≤ ε·scale, or c²Δ₂² ≤ 2ρ·scale², with Δ summed in Python's integers."""
    blocks = [dense(block.L).astype(object) for block in part.strategy.blocks]
    c, scale = part.privacy.multiplier, Fraction(part.noise.scale)
    if part.noise.kind == "laplace":
        delta1 = sum(int(np.abs(L).sum(axis=0).max()) for L in blocks)
        spent = c * delta1 / scale
    else:
        squares = sum(int((L * L).sum(axis=0).max()) for L in blocks)
        spent = c * c * squares / (2 * scale * scale)
    _require(spent <= part.noise.limit, folder / MARK, "the noise is too small for the promise")
    name = "ε" if part.noise.kind == "laplace" else "ρ"
    sizes = " + ".join(f"{len(L):,} x {L.shape[1]:,}" for L in blocks)
    return "noise", f"{part.noise.kind}, spends {name} = {float(spent):.6g} at most on {sizes}"


def _reconstruction(folder: Path, release: Release) -> tuple[str, str]:
    """B·L_q is W but for the bias that is told, and no B has less error."""
    W, factors = _solved(release)
    B = np.hstack([dense(b.B) for part in release.parts for b in part.strategy.blocks])
    is_relaxed = release.plan is not None and release.plan.is_relaxed
    scales = _scales(release.parts)
    found = np.square(factors * scales).sum(axis=1)
    stated = np.square(B * scales).sum(axis=1)
    slack = _SOLVED * found.max(initial=0.0)
    is_least = np.all(stated <= found + slack) and np.all(found <= stated + slack)
    _require(is_relaxed or is_least, folder / ARRAYS, "B is not that of least squares")
    worst = float(release.bias.max(initial=0.0))
    told = f", off by at most {worst:.3g} counts" if release.is_biased.any() else ""
    return "B", f"{len(W):,} queries rebuilt from L_q by least squares{told}"


def _solved(release: Release) -> tuple[np.ndarray, np.ndarray]:
    """W and the B of least error, by NumPy's least squares on noise of one size."""
    rows, blocks, _ = over_classes(release.workload, release.parts)
    W, scales = dense(rows), _scales(release.parts)
    measured, columns = len(scales), W.shape[1]
    require(8 * 6 * measured * columns, f"least squares of {measured} x {columns}", "check elsewhere")
    L = np.vstack([dense(one) for one in blocks]) / scales[:, None]
    B, *_ = np.linalg.lstsq(L.T, W.T, rcond=1e-11)
    return W, B.T / scales


def _scales(parts: tuple[Part, ...]) -> np.ndarray:
    """The standard deviation of each noisy integer."""
    return np.concatenate(
        [
            np.full(block.L.shape[0], np.sqrt(part.noise.variance))
            for part in parts
            for block in part.strategy.blocks
        ]
    )
