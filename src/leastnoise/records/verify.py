"""Check a release folder by itself: nothing in it is believed that follows from something else.

What is measured and the noisy integers are taken as they stand. The promise, the sensitivities and
the noise are held against each other in exact arithmetic; B, the answers and their errors come anew
from L_q, W and the integers by NumPy's least squares; the bound is a nuclear norm. The solvers, the
reconstruction and the certificates of a plan take no part.
"""

import csv
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from leastnoise.answers.combine import over_classes
from leastnoise.answers.measured import Part
from leastnoise.answers.release import Release
from leastnoise.errors import FileError
from leastnoise.memory import require
from leastnoise.plan import Plan
from leastnoise.pricing import noises
from leastnoise.records.planfile import arrays_of
from leastnoise.records.releasefolder import (
    ANSWERS,
    ARRAYS,
    FILES,
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
from leastnoise.release.integers import integer_strategy
from leastnoise.show.readme import readme
from leastnoise.show.table import Table
from leastnoise.show.text import account_text, number
from leastnoise.workload.matrices import dense

_TAKEN = ("versions", "files", "hash")  # of release.json: nothing to compute them from
_SAME = 1e-9  # relative: what sums of doubles may differ by from machine to machine
_SOLVED = 1e-6  # relative: what two ways to solve least squares, or for singular values, may
_SMALLEST = 1e-11  # of the largest singular value: beyond it lies rounding
_ROUNDING = 1e-12  # relative: of a sum of products
_LARGE = 2**24  # entries of L beyond which it is kept sparse
_MOST_STEPS = 2_000
_UNSEEN = 1e-4  # of a standard error: a bias of rounding in B·L, which is noise itself


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
        *(("account", account_text(part)) for part in release.parts),
    ]
    return Verified(folder, tuple(checks))


def _require(is_so: bool | np.bool, place: Path, what: str) -> None:
    if not is_so:
        raise FileError(f"{place} does not hold together: {what}")


def _facts(folder: Path, stated: dict[str, Any], release: Release) -> tuple[str, str]:
    """Every fact but those of `_TAKEN` comes out of the rest again."""
    found = json.loads(json.dumps(release_facts(release)))
    _require(
        set(stated) - {*_TAKEN} == set(found) - {*_TAKEN}, folder / MARK, "facts are missing or new"
    )
    for name in set(found) - {*_TAKEN, "largest_bias"}:
        where = _difference(stated[name], found[name], name)
        _require(where is None, folder / MARK, f"{where} does not follow from the rest")
    off = abs(stated["largest_bias"] - found["largest_bias"])
    is_close = off <= _SAME * found["largest_bias"] + _UNSEEN * release.std.max()
    _require(is_close, folder / MARK, "largest_bias does not follow from the rest")
    _require(set(stated["files"]) == set(FILES), folder / MARK, "files are missing or new")
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
    """c·Δ₁/scale ≤ ε, or c²Δ₂²/2σ² ≤ ρ: exactly, with the Δ of the entries of L_q."""
    blocks = [block.L for block in part.strategy.blocks]
    integers = integer_strategy(blocks, part.strategy.k, part.max_total)
    c, scale = part.privacy.multiplier, Fraction(part.noise.scale)
    if part.noise.kind == "laplace":
        unit, spent = "ε", c * integers.delta1 / scale
    else:
        unit, spent = "ρ", c * c * integers.delta2_squared / (2 * scale * scale)
    _require(spent <= part.noise.limit, folder / MARK, "the noise is too small for the promise")
    return "noise", (
        f"{part.noise.kind} on {integers.rows:,} sums spends {unit} = {float(spent):.6g}, "
        f"promised {number(part.noise.limit)}"
    )


def _reconstruction(folder: Path, release: Release) -> tuple[str, str]:
    """B·L_q is W up to the bias that is told; where B has no more error than that of least squares,
    it gives the same answers."""
    least = _least_squares(release)
    y = np.concatenate([_scaled(part, one) for part in release.parts for one in part.numbers])
    found, stated = np.square(least).sum(axis=1), np.square(release.std)
    is_least = np.abs(stated - found) <= _SOLVED * found
    allowed = _SOLVED * release.std + _SAME * _sizes(release)
    is_same = np.abs(least @ y - release.answers) <= allowed
    _require(np.all(is_same | ~is_least), folder / ARRAYS, "B does not rebuild the queries")
    how = "by least squares" if is_least.all() else f"{is_least.sum():,} by least squares"
    told = f", off by at most {release.bias.max():.3g} counts" if release.is_biased.any() else ""
    return "B", f"{len(least):,} queries rebuilt from L_q, {how}{told}"


def _least_squares(release: Release) -> np.ndarray:
    """B of least error for noise of standard deviation 1, which L and y are scaled to: by NumPy, or
    query by query with LSQR where L is large and sparse."""
    from scipy.sparse.linalg import lsqr

    W, blocks, _ = over_classes(release.workload, release.parts)
    parts = [part for part in release.parts for _ in part.strategy.blocks]
    L = sparse.vstack([_scaled(part, one) for part, one in zip(parts, blocks, strict=True)])
    rows, columns = L.shape
    require(
        8 * rows * len(release.names), f"B of {len(release.names)} x {rows}", "verify elsewhere"
    )
    if rows * columns > _LARGE:
        solve = partial(lsqr, L.T, atol=_ROUNDING, btol=_ROUNDING, iter_lim=_MOST_STEPS)
        return np.array([solve(row)[0] for row in W.toarray()])
    B, *_ = np.linalg.lstsq(L.toarray().T, W.toarray().T, rcond=_SMALLEST)
    return np.asarray(B.T)


def _scaled(part: Part, numbers: Any) -> Any:
    """Divided by the standard deviation of the part's noise."""
    return numbers * (1 / np.sqrt(part.noise.variance))


def _sizes(release: Release) -> np.ndarray:
    """|B|·|y| of each query: what its answer is a sum of, for the rounding of it."""
    blocks = [
        (block.B, y)
        for part in release.parts
        for block, y in zip(part.strategy.blocks, part.numbers, strict=True)
    ]
    return np.asarray(sum(np.asarray(abs(B) @ np.abs(y.astype(float))) for B, y in blocks))


def _answers(folder: Path, release: Release) -> tuple[str, str]:
    """Every cell of both tables, from B, the noisy integers and the noise."""
    found = answer_columns(release)
    allowed = _SAME * release.std + _ROUNDING * _sizes(release)
    stated = _read_csv(folder / ANSWERS)
    _require(list(stated) == list(found), folder / ANSWERS, "the columns are others")
    for name, column in found.items():
        if isinstance(column[0], float):
            numbers = _numbers(folder / ANSWERS, stated[name])
            is_same = len(numbers) == len(column)
            is_same = is_same and bool(np.all(np.abs(numbers - column) <= allowed))
            stated[name] = numbers.tolist()
        else:
            is_same = stated[name] == column
        _require(is_same, folder / ANSWERS, f"{name} does not follow from what was measured")
    is_same = _read_table(folder / TABLE) == stated
    _require(is_same, folder / TABLE, f"it is not the table of {ANSWERS}")
    return "answers", f"{len(release.names):,} with standard errors and intervals, in both tables"


def _read_csv(path: Path) -> dict[str, Any]:
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    is_whole = all(len(row) == len(head) for row in rows)
    _require(is_whole, path, "its lines differ in length")
    return {name: [row[i] for row in rows] for i, name in enumerate(head)}


def _numbers(path: Path, cells: list[str]) -> np.ndarray:
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        raise FileError(f"{path} does not hold together: a cell is no number") from None


def _read_table(path: Path) -> dict[str, list[Any]]:
    import pyarrow.parquet  # type: ignore[import-untyped, unused-ignore]

    try:
        return dict(pyarrow.parquet.read_table(path).to_pydict())
    except Exception as error:  # pyarrow has a dozen of its own
        raise FileError(f"{path} is damaged ({type(error).__name__})") from error


def _bound(folder: Path, plan: Plan | None) -> list[tuple[str, str]]:
    """(‖diag(√(w·p))·W·diag(√q)‖_*)² at the least variance of any noise, by NumPy's SVD."""
    if plan is None or plan.certificate is None:
        return []
    certificate = plan.certificate
    p, q = certificate.proof.p, certificate.proof.q
    rows = plan.goal.row_factors * (1 if p is None else np.sqrt(p / p.sum()))
    scaled = rows[:, None] * dense(plan.workload.matrix) * np.sqrt(q / q.sum())
    nuclear = float(np.linalg.svd(scaled, compute_uv=False).sum())
    needed = replace(plan.privacy, calibration="analytic")
    bound = nuclear**2 * min(unit_variance(needed, kind) for kind in noises(needed))
    stated = certificate.lower_bound
    _require(abs(stated - bound) <= _SOLVED * bound, folder / MARK, "the bound is not proven by q")
    return [("bound", f"no unbiased linear strategy has less error than {stated:,.6g}")]


def _text(folder: Path, release: Release) -> tuple[str, str]:
    is_same = (folder / README).read_bytes() == readme(release).encode()
    _require(is_same, folder / README, "it does not say what the rest says")
    return "text", f"{README} says the same"
