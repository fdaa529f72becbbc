"""One closed tour within time windows: the data of a search, and its lateness before and behind every position.

Costs and times are two matrices, so that the same data serve the travelling salesman with time windows and, seen
backwards, the one with draft limits. Lateness is measured as time warp (Nagata, Bräysy and Dullaert 2010,
https://doi.org/10.1016/j.cor.2009.06.022): a late visit starts at its due date, and the time jumped back is summed up.
The part of a tour before a position is then two numbers, its clock and its warp, and so is the part behind it, the
latest arrival that adds no warp and the warp that remains even so; putting a piece of any length between the two is
tested in O(1).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncosolve.search.arrays import copy_to
from ncosolve.search.jit import inner, tight
from ncosolve.search.random import RandomState, seed_state
from ncosolve.search.types import Floats, Ints

NEIGHBOURS = 24
"""Related nodes kept for each node."""
WEIGHTS = 0.05, 2.0, 50.0, 10_000.0
"""Least, first, largest price of lateness, and that while no tour was on time; in units of mean cost by mean time."""
COST, LATE, BEST_COST, BEST_LATE, WEIGHT, LEAST, MOST, UNIT, ASTRAY = range(9)
"""What the entries of `State.numbers` hold: of the current tour, of the best one; the price of lateness, the least that
it may fall to, the most that it may rise to once a tour was on time, its unit; and for how many iterations the current
tour has been late."""


class Windows(NamedTuple):
    """An instance as the kernel sees it; node 0 is the depot.

    Attributes
    ----------
    cost, time : ndarray of float64, shape (n, n)
        What an arc costs, and the time from the start of the visit at its tail to the arrival at its head.
    ready, due : ndarray of float64, shape (n,)
        When a visit may start; those of the depot are the departure and the latest return.
    near : ndarray of int64, shape (n, k)
        The nodes most related to each, the closest first; never the depot.
    symmetric : bool
        Whether ``cost`` is.
    """

    cost: Floats
    time: Floats
    ready: Floats
    due: Floats
    near: Ints
    symmetric: bool


class State(NamedTuple):
    """A search: its current and best tour (closed, so n + 1 entries), its work space and its numbers.

    The arrays ``clock`` and ``warp`` describe ``tour`` up to and with each position, ``latest`` and ``behind`` from
    each position on; ``turned[k]`` is what the first k arcs cost more when they are reversed.
    """

    current: Ints
    best: Ints
    tour: Ints
    position: Ints
    clock: Floats
    warp: Floats
    latest: Floats
    behind: Floats
    turned: Floats
    removed: Ints
    piece: Ints
    extent: Ints
    marked: NDArray[np.bool_]
    numbers: Floats
    random: RandomState


def make_windows(cost: ArrayLike, time: ArrayLike, ready: ArrayLike, due: ArrayLike) -> Windows:
    """Put an instance of n >= 3 nodes into the kernel's form and find the related nodes.

    Two nodes are related by the cheaper of the two arcs that the windows allow, waiting counted at a fifth.
    """
    # copies: Numba compiles once more for an array that must not be written to
    costs, times, opens, closes = (np.array(array, np.float64, order="C") for array in (cost, time, ready, due))
    n = len(costs)
    wait = np.clip(opens[None, :] - closes[:, None] - times, 0.0, 1e100)
    relation = costs + 0.2 * wait + np.where(opens[:, None] + times > closes[None, :], 1e100, 0.0)
    relation = np.minimum(relation, relation.T)
    relation[:, 0] = np.inf
    np.fill_diagonal(relation, np.inf)
    near = np.argsort(relation[:, 1:], axis=1, kind="stable")[:, : min(NEIGHBOURS, n - 2)] + 1
    return Windows(costs, times, opens, closes, np.ascontiguousarray(near), bool(np.array_equal(costs, costs.T)))


def make_state(windows: Windows, tour: ArrayLike, seed: int) -> State:
    """Start a search from a permutation of 0..n-1 that begins at 0, feasible or not."""
    n = len(windows.ready)
    unit = float(windows.cost.mean() / max(windows.time.mean(), 1e-100)) or 1.0
    closed = np.append(np.asarray(tour, np.int64), 0)
    state = State(
        current=closed,
        best=closed.copy(),
        tour=closed.copy(),
        position=np.zeros(n, np.int64),
        clock=np.zeros(n + 1),
        warp=np.zeros(n + 1),
        latest=np.zeros(n + 1),
        behind=np.zeros(n + 1),
        turned=np.zeros(n + 1),
        removed=np.zeros(n, np.int64),
        piece=np.zeros(n, np.int64),
        extent=np.zeros(n, np.int64),
        marked=np.zeros(n, np.bool_),
        numbers=np.array([0.0, 0.0, 0.0, np.inf, *(unit * WEIGHTS[k] for k in (1, 0, 2)), unit, 0.0]),
        random=seed_state(seed),
    )
    take_current(windows, state)
    return state


def cost_scale(windows: Windows) -> float:
    """The typical difference between a near and a not so near arc, the unit of the temperature; > 0."""
    costs = windows.cost.copy()
    np.fill_diagonal(costs, np.inf)
    costs = np.sort(costs, axis=1)
    spread = float(np.mean(costs[:, min(10, len(costs) - 2)] - costs[:, 0]))
    return spread or float(windows.cost.mean()) or 1.0


@tight
def take_current(windows: Windows, state: State) -> None:
    """Evaluate the tour in ``current``, after a write from outside, and keep it as best if it is."""
    n = len(windows.ready)
    copy_to(state.tour, state.current)
    look_forward(windows, state, 1, n)
    state.numbers[COST] = tour_cost(windows, state.tour)
    state.numbers[LATE] = state.warp[n]
    keep_best(state)


@inner
def keep_best(state: State) -> None:
    """Keep the current tour as best if it is less late, or no later and cheaper."""
    numbers = state.numbers
    earlier = numbers[LATE] < numbers[BEST_LATE]
    if earlier or (numbers[LATE] == numbers[BEST_LATE] and numbers[COST] < numbers[BEST_COST]):
        copy_to(state.best, state.current)
        numbers[BEST_COST], numbers[BEST_LATE] = numbers[COST], numbers[LATE]


@tight
def tour_cost(windows: Windows, tour: Ints) -> float:
    """Sum the costs along a closed tour (n + 1 entries)."""
    total = 0.0
    for k in range(len(tour) - 1):
        total += windows.cost[tour[k], tour[k + 1]]
    return total


@tight
def look_forward(windows: Windows, state: State, first: int, m: int) -> None:
    """Bring ``clock`` and ``warp`` of ``tour[: m + 1]`` up to date from position ``first`` >= 1 on."""
    tour = state.tour
    if first == 1:
        state.clock[0] = windows.ready[0]
        state.warp[0] = 0.0
    i, clock, warp = tour[first - 1], state.clock[first - 1], state.warp[first - 1]
    for k in range(first, m + 1):
        j = tour[k]
        clock = max(clock + windows.time[i, j], windows.ready[j])
        if clock > windows.due[j]:
            warp += clock - windows.due[j]
            clock = windows.due[j]
        state.clock[k] = clock
        state.warp[k] = warp
        i = j


@tight
def look_backward(windows: Windows, state: State, last: int, m: int) -> None:
    """Bring ``latest`` and ``behind`` of ``tour[: m + 1]`` up to date from position ``last`` down to 1."""
    tour = state.tour
    if last == m:
        state.latest[m] = windows.due[0]
        state.behind[m] = 0.0
        last = m - 1
    j, latest, behind = tour[last + 1], state.latest[last + 1], state.behind[last + 1]
    for k in range(last, 0, -1):
        i = tour[k]
        latest = min(latest - windows.time[i, j], windows.due[i])
        if latest < windows.ready[i]:
            behind += windows.ready[i] - latest
            latest = windows.ready[i]
        state.latest[k] = latest
        state.behind[k] = behind
        j = i


@tight
def piece_of(windows: Windows, nodes: Ints, start: int, stop: int, step: int) -> tuple[float, float, float, float]:
    """Sum up a piece of a tour, ``nodes[start:stop:step]``: from the start of its first visit to that of its last.

    Returns
    -------
    duration, warp, earliest, latest : float
        Started within earliest..latest, the piece takes ``duration - warp`` and has the least warp, ``warp``; started
        before, it waits; started after, each unit of time is a unit of warp more.
    """
    i = nodes[start]
    duration, warp, earliest, latest = 0.0, 0.0, windows.ready[i], windows.due[i]
    for k in range(start + step, stop, step):
        j = nodes[k]
        shift = duration - warp + windows.time[i, j]
        wait = max(windows.ready[j] - shift - latest, 0.0)
        jump = max(earliest + shift - windows.due[j], 0.0)
        duration += windows.time[i, j] + wait
        warp += jump
        earliest, latest = (
            max(windows.ready[j] - shift, earliest) - wait,
            min(windows.due[j] - shift, latest) + jump,
        )
        i = j
    return duration, warp, earliest, latest


@tight
def lateness_with(
    windows: Windows,
    state: State,
    k: int,
    first: int,
    last: int,
    piece: tuple[float, float, float, float],
) -> float:
    """Tell the warp of the tour with a piece, from node ``first`` to node ``last``, put behind position k."""
    duration, warp, earliest, latest = piece
    arrival = state.clock[k] + windows.time[state.tour[k], first]
    late = state.warp[k] + max(arrival - latest, 0.0) + warp
    clock = min(max(arrival, earliest), latest) + duration - warp
    return late + max(clock + windows.time[last, state.tour[k + 1]] - state.latest[k + 1], 0.0) + state.behind[k + 1]
