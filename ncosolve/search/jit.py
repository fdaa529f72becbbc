"""How kernels are compiled: into the cache on disk, to run without the interpreter's lock."""

from numba import njit

kernel = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
"""Compile a function that Python calls."""

inner = njit(cache=True, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)
"""Compile a function that only kernels call, a tenth of a second faster; a call from Python would end the process."""
