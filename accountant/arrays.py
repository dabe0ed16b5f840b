"""Types of arrays, defined once for all packages; shapes are documented where they are used."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
SignArray = npt.NDArray[np.int8]
"""−1, 0 or 1."""

ExactArray = npt.NDArray[np.int64]
"""Counts, and sums that nothing rounds."""

CodeArray = npt.NDArray[np.integer[Any]]
"""Whole numbers of any width."""
