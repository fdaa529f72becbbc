"""The debug switch: with ``NCOSOLVE_DEBUG=1`` kernels recompute costs after every accepted move."""

import os

DEBUG = os.environ.get("NCOSOLVE_DEBUG", "") == "1"
