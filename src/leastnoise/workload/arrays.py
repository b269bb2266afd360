"""Arrays of other libraries: any of the array API standard, torch's on a GPU among them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_array,
    is_numpy_array,
    is_torch_array,
    to_device,
)


def as_numpy(values: Any) -> np.ndarray:
    """A NumPy array of the same values, from whichever library and device."""
    is_elsewhere = is_torch_array(values) or is_cupy_array(values)
    return np.asarray(to_device(values, "cpu") if is_elsewhere else values)


def like(values: np.ndarray, other: Any) -> Any:
    """`values` as an array of the library and on the device of `other`, in double precision."""
    xp = array_namespace(other)
    return xp.asarray(values, dtype=xp.float64, device=device(other))


def beside(queries: Any) -> Callable[[np.ndarray], Any]:
    """Where matrices are optimised: where `queries` live if they are an array, else in NumPy."""
    if not is_array_api_obj(queries) or is_numpy_array(queries):
        return np.asarray
    return lambda matrix: like(matrix, queries)
