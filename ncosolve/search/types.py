"""Short names for the array types of kernels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Bools = NDArray[np.bool_]
