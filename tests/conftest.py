"""Every test runs with the debug switch on: kernels recompute costs after each accepted move."""

import os

os.environ["NCOSOLVE_DEBUG"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")
