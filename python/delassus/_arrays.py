"""Arrays of real numbers from whatever is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def real(name: str, value: Any, expected: str = "numbers") -> npt.NDArray[np.float64]:
    """Doubles in one piece of memory. Complex numbers and texts are no real numbers, whatever numpy makes of them."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"real numbers are wanted, found {array.dtype}")
        found: npt.NDArray[np.float64] = np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name}: expected {expected}: {error}") from None
    return found
