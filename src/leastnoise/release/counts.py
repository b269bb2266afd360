"""Counts that the caller already holds, checked by hand before anything private begins."""

import numbers
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import InputError
from leastnoise.release.sensitivity import Integers

AnyArray: TypeAlias = NDArray[Any]


def checked_counts(counts: object, n: int, max_total: int) -> Integers:
    """`counts` as n exact int64 integers between 0 and `max_total`.

    A courtesy to a caller who can see the counts, not a step of the privacy proof: it refuses on
    values, so it must never run on counts that were drawn from a table for a release.
    """
    array = _as_array(counts)
    if array.ndim != 1:
        raise InputError(f"counts must have one dimension, not {array.ndim}; try counts.ravel()")
    if len(array) != n:
        raise InputError(f"counts must have length {n}, one for every cell, not {len(array)}")
    whole = _as_integers(array)
    if np.any(whole < 0):
        raise InputError("counts must not be negative; they are numbers of records")
    if np.any(whole > max_total):
        raise InputError("counts must not exceed max_total; plan with a larger one")
    return whole.astype(np.int64)


def _as_array(counts: object) -> AnyArray:
    """The array meant; a list is read item by item, because numpy would round 2⁵³ + 1 to a
    float beside 0.5."""
    try:
        array = np.asarray(counts)
        if array.dtype.kind == "f" and not hasattr(counts, "dtype"):
            array = np.asarray(counts, dtype=object)
    except (ValueError, TypeError):
        raise InputError("counts must be one flat sequence of integers") from None
    return array


def _as_integers(array: AnyArray) -> AnyArray:
    """The same numbers with an integer type: numpy's, or Python's own where they may be huge."""
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "f":
        return _from_floats(array)
    if array.dtype.kind == "O":
        return _from_objects(array.tolist())
    raise InputError("counts must be integers, not text, truth values or complex numbers")


def _from_floats(array: AnyArray) -> AnyArray:
    """Whole floats as int64; beyond 2⁶² they are only known to be too large, which is enough."""
    array = array.astype(np.promote_types(array.dtype, np.float64))
    if not np.isfinite(array).all():
        raise InputError("counts must be finite; replace NaN and infinity")
    if np.any(array != np.trunc(array)):
        raise InputError("counts must be whole numbers; round them yourself first")
    return np.clip(array, -(2.0**62), 2.0**62).astype(np.int64)


def _from_objects(items: list[object]) -> AnyArray:
    whole = [_from_object(item) for item in items]
    return np.array(whole, dtype=object)


def _from_object(item: object) -> int:
    if isinstance(item, numbers.Integral) and not isinstance(item, bool):
        return int(item)
    if isinstance(item, float | np.floating):
        return int(_from_floats(np.array([item]))[0])
    raise InputError("counts must be integers, not text, truth values or complex numbers")


def class_counts(counts: Integers, cells: Integers, classes: int) -> Integers:
    """Counts per class from counts per cell, where cells[j] is the class of cell j, or -1.

    Exact while n·max_total < 2⁶³, which planning ensures.
    """
    totals = np.zeros(classes, dtype=np.int64)
    used = cells >= 0
    np.add.at(totals, cells[used], counts[used])
    return totals
