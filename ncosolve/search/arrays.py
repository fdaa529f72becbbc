"""Small work on arrays in place, in loops: slices and NumPy's methods take Numba far longer to compile."""

from ncosolve.search.jit import inner
from ncosolve.search.types import Floats, Ints


@inner
def copy_to(target: Ints | Floats, source: Ints | Floats) -> None:
    """Make one array equal to another of its length."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@inner
def reverse(nodes: Ints, first: int, last: int) -> None:
    """Turn the part from place ``first`` to place ``last`` around."""
    while first < last:
        nodes[first], nodes[last] = nodes[last], nodes[first]
        first, last = first + 1, last - 1
