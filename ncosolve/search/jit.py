"""How kernels are compiled: into the cache on disk, to run without the interpreter's lock."""

from numba import njit

kernel = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
"""Compile a function that may allocate arrays."""

tight = njit(cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False)
"""Compile a function that allocates no array: nothing counts references then, which makes hot loops twice as fast."""

inner = njit(cache=True, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=False)
"""Compile a function that allocates no array and that only kernels call: a call from Python would end the process."""
