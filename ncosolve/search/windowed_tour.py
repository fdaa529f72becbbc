"""One closed tour through all nodes, each within its window: ruin and recreate with 2-opt, under annealing.

The kernel knows costs and times as two matrices, so it serves the travelling salesman with time windows and, seen
backwards, the one with draft limits. Lateness is measured as time warp (Nagata, Bräysy and Dullaert 2010,
https://doi.org/10.1016/j.cor.2009.06.022): a late visit starts at its due date, and the time jumped back is summed up.
The part of a tour before a position is then two numbers, its clock and its warp, and so is the part behind it, the
latest arrival that adds no warp and the warp that remains even so; putting a piece of any length between the two is
tested in O(1). The ruin takes out strings near each other (Christiaens and Vanden Berghe 2020,
https://doi.org/10.1287/trsc.2019.0914), some of which stay whole and are put back as one piece, in either direction.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ncosolve.search.random import RandomState, below, seed_state, uniform

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEIGHBOURS = 24
"""Related nodes kept for each node."""
LARGEST_RUIN = 16
"""Nodes taken out at most, but for a single long string."""
LONGEST_STRING = 50
"""Nodes of a long string at most."""
WEIGHTS = 0.05, 2.0, 50.0, 10_000.0
"""Least, first and largest price of lateness, the last while no tour was on time; in units of mean cost by mean time."""
CLOSE = 1e-6
"""By how much a change may differ from the recomputed one, relative to the cost of the tour, in debug runs."""

TRAPPED = 10, 2000
"""After so many iterations times n, or so many, without a tour on time the search goes back to its best and dares less."""

COST, LATE, BEST_COST, BEST_LATE, WEIGHT, LEAST, UNIT, ASTRAY = range(8)
"""What the entries of `State.numbers` hold: of the current tour, of the best one; the price of lateness, the least that it
may fall to, its unit; and for how many iterations the current tour has been late."""


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

    cost: FloatArray
    time: FloatArray
    ready: FloatArray
    due: FloatArray
    near: IntArray
    symmetric: bool


class State(NamedTuple):
    """A search: its current and best tour (closed, so n + 1 entries), its work space and its numbers.

    The arrays ``clock`` and ``warp`` describe ``tour`` up to and with each position, ``latest`` and ``behind`` from
    each position on; ``turned[k]`` is what the first k arcs cost more when they are reversed.
    """

    current: IntArray
    best: IntArray
    tour: IntArray
    position: IntArray
    clock: FloatArray
    warp: FloatArray
    latest: FloatArray
    behind: FloatArray
    turned: FloatArray
    removed: IntArray
    piece: IntArray
    extent: IntArray
    marked: NDArray[np.bool_]
    numbers: FloatArray
    random: RandomState


def make_windows(cost: ArrayLike, time: ArrayLike, ready: ArrayLike, due: ArrayLike) -> Windows:
    """Put an instance of n >= 3 nodes into the kernel's form and find the related nodes.

    Two nodes are related by the cheaper of the two arcs that the windows allow, waiting counted at a fifth.
    """
    costs, times, opens, closes = (np.ascontiguousarray(array, np.float64) for array in (cost, time, ready, due))
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
        numbers=np.array([0.0, 0.0, 0.0, np.inf, WEIGHTS[1] * unit, WEIGHTS[0] * unit, unit, 0.0]),
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


@njit(cache=True, nogil=True)
def take_current(windows: Windows, state: State) -> None:
    """Evaluate the tour in ``current``, after a write from outside, and keep it as best if it is."""
    n = len(windows.ready)
    state.tour[:] = state.current
    look_forward(windows, state, 1, n)
    state.numbers[COST] = tour_cost(windows, state.tour)
    state.numbers[LATE] = state.warp[n]
    _keep_best(state)


@njit(cache=True, nogil=True)
def _keep_best(state: State) -> None:
    numbers = state.numbers
    earlier = numbers[LATE] < numbers[BEST_LATE]
    if earlier or (numbers[LATE] == numbers[BEST_LATE] and numbers[COST] < numbers[BEST_COST]):
        state.best[:] = state.current
        numbers[BEST_COST], numbers[BEST_LATE] = numbers[COST], numbers[LATE]


@njit(cache=True, nogil=True)
def tour_cost(windows: Windows, tour: IntArray) -> float:
    """Sum the costs along a closed tour (n + 1 entries)."""
    total = 0.0
    for k in range(len(tour) - 1):
        total += windows.cost[tour[k], tour[k + 1]]
    return total


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def piece_of(windows: Windows, nodes: IntArray, start: int, stop: int, step: int) -> tuple[float, float, float, float]:
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _best_place(
    windows: Windows, state: State, m: int, first: int, last: int, piece: tuple[float, float, float, float], most: float
) -> tuple[float, float, int]:
    """The cheapest place for a piece by cost + weight * warp, the cost alone, and its value; -1 if none is below most.

    From the last position before which the piece is not late, the scan goes back until it could not be early enough
    for what follows, then forth until it would be too late itself.
    """
    tour, cost, weight = state.tour, windows.cost, state.numbers[WEIGHT]
    low, high = 0, m
    while low < high:
        middle = (low + high) // 2
        if state.clock[middle] <= piece[3]:
            low = middle + 1
        else:
            high = middle
    best, change, place = most, 0.0, -1
    for forth in range(2):
        k = low if forth else low - 1
        while 0 <= k < m:
            too_late = state.clock[k] - piece[3] if forth else piece[2] - state.latest[k + 1]
            if weight * too_late > best:
                break
            i, j = tour[k], tour[k + 1]
            delta = cost[i, first] + cost[last, j] - cost[i, j]
            if delta < best:
                value = delta + weight * lateness_with(windows, state, k, first, last, piece)
                if value < best:
                    best, change, place = value, delta, k
            k += 1 if forth else -1
    return best, change, place


@njit(cache=True, nogil=True)
def _mark_string(state: State, node: int, length: int, taken: int, whole: bool) -> int:
    """Mark a string of the current tour that holds a node; return how many nodes are out now."""
    n = len(state.marked)
    first = max(1, state.position[node] - below(state.random, length))
    begin = taken
    for k in range(first, min(n, first + length)):
        x = state.current[k]
        if state.marked[x]:
            begin = taken
            continue
        state.marked[x] = True
        state.removed[taken] = x
        state.extent[taken] = 1
        if whole and taken > begin:
            state.extent[taken] = 0
            state.extent[begin] += 1
        taken += 1
    return taken


@njit(cache=True, nogil=True)
def _ruin(windows: Windows, state: State) -> tuple[int, float]:
    """Take strings out of the current tour, the rest goes to ``tour``; return how many nodes and the change of cost."""
    n, random = len(windows.ready), state.random
    for k in range(n):
        state.position[state.current[k]] = k
    seed = 1 + below(random, n - 1)
    if uniform(random) < 0.15:
        taken = _mark_string(state, seed, 2 + below(random, max(1, min(LONGEST_STRING, n // 2))), 0, True)
    else:
        target = 1 + below(random, min(LARGEST_RUIN, n - 1))
        longest = 1 + below(random, target)
        whole = uniform(random) < 0.3
        taken = _mark_string(state, seed, longest, 0, whole)
        for y in windows.near[seed]:
            if taken >= target:
                break
            if not state.marked[y] and uniform(random) < 0.7:
                taken = _mark_string(state, y, min(longest, target - taken), taken, whole)
    m, change, last = 0, 0.0, 0
    for k in range(n + 1):
        x = state.current[k]
        if k > 0:
            change -= windows.cost[state.current[k - 1], x]
        if k == n or not state.marked[x]:
            if k > 0:
                change += windows.cost[last, x]
            state.tour[m] = last = x
            m += 1
    for k in range(taken):
        state.marked[state.removed[k]] = False
    return taken, change


@njit(cache=True, nogil=True)
def _order_pieces(windows: Windows, state: State, taken: int) -> int:
    """List the pieces in a random order, or by due date, width of window or distance from the depot."""
    random, piece = state.random, state.piece
    count = 0
    for k in range(taken):
        if state.extent[k] > 0:
            piece[count] = k
            count += 1
    for k in range(count - 1, 0, -1):
        j = below(random, k + 1)
        piece[k], piece[j] = piece[j], piece[k]
    rule = below(random, 4)
    for k in range(1, count if rule else 0):
        start, j = piece[k], k
        key = _urgency(windows, state.removed[start], rule)
        while j > 0 and _urgency(windows, state.removed[piece[j - 1]], rule) > key:
            piece[j] = piece[j - 1]
            j -= 1
        piece[j] = start
    return count


@njit(cache=True, nogil=True)
def _urgency(windows: Windows, x: int, rule: int) -> float:
    if rule == 1:
        return windows.due[x]
    if rule == 2:
        return windows.due[x] - windows.ready[x]
    return -windows.cost[0, x]


@njit(cache=True, nogil=True)
def _recreate(windows: Windows, state: State, taken: int) -> float:
    """Put all pieces back, each at the best place for it at that time; return the change of cost."""
    m = len(windows.ready) - taken
    tour, removed = state.tour, state.removed
    look_forward(windows, state, 1, m)
    look_backward(windows, state, m, m)
    total = 0.0
    for p in range(_order_pieces(windows, state, taken)):
        begin = state.piece[p]
        size = state.extent[begin]
        first, last = removed[begin], removed[begin + size - 1]
        data = piece_of(windows, removed, begin, begin + size, 1)
        value, change, place = _best_place(windows, state, m, first, last, data, np.inf)
        if size > 1:
            inner = 0.0
            for k in range(begin, begin + size - 1):
                i, j = removed[k], removed[k + 1]
                total += windows.cost[i, j]
                inner += windows.cost[j, i] - windows.cost[i, j]
            data = piece_of(windows, removed, begin + size - 1, begin - 1, -1)
            _, turned, other = _best_place(windows, state, m, last, first, data, value - inner)
            if other >= 0:
                change, place = turned + inner, other
                removed[begin : begin + size] = removed[begin : begin + size][::-1].copy()
        total += change
        for k in range(m, place, -1):
            tour[k + size] = tour[k]
            state.latest[k + size] = state.latest[k]
            state.behind[k + size] = state.behind[k]
        for k in range(size):
            tour[place + 1 + k] = removed[begin + k]
        m += size
        look_forward(windows, state, place + 1, m)
        look_backward(windows, state, place + size, m)
    return total


@njit(cache=True, nogil=True)
def _index_tour(windows: Windows, state: State) -> None:
    """Bring ``position`` and ``turned`` up to date."""
    tour = state.tour
    for k in range(len(windows.ready)):
        i = tour[k]
        state.position[i] = k
        if not windows.symmetric:
            j = tour[k + 1]
            state.turned[k + 1] = state.turned[k] + windows.cost[j, i] - windows.cost[i, j]


@njit(cache=True, nogil=True)
def reversal(windows: Windows, state: State, p: int, q: int) -> tuple[float, float]:
    """Tell how cost and cost + weight * warp change by reversing positions p+1..q; infinite if not for the better."""
    tour, cost, time = state.tour, windows.cost, windows.time
    weight, now = state.numbers[WEIGHT], state.warp[len(windows.ready)]
    a, b, c, d = tour[p], tour[p + 1], tour[q], tour[q + 1]
    change = cost[a, c] + cost[b, d] - cost[a, b] - cost[c, d] + state.turned[q] - state.turned[p + 1]
    value = change + weight * (state.warp[p] - now)
    i, clock, k = a, state.clock[p], q
    while k > p and value < 0.0:
        j = tour[k]
        clock = max(clock + time[i, j], windows.ready[j])
        if clock > windows.due[j]:
            value += weight * (clock - windows.due[j])
            clock = windows.due[j]
        i = j
        k -= 1
    if value >= 0.0:
        return np.inf, np.inf
    late = max(clock + time[b, d] - state.latest[q + 1], 0.0) + state.behind[q + 1]
    return change, value + weight * late


@njit(cache=True, nogil=True)
def _two_opt(windows: Windows, state: State, taken: int) -> float:
    """Reverse parts of the tour at the nodes that were put back, while that gains; return the change of cost."""
    n, tour, total = len(windows.ready), state.tour, 0.0
    gain = -1e-9 * max(1.0, state.numbers[COST] + state.numbers[WEIGHT] * state.warp[n])
    _index_tour(windows, state)
    r = 0
    while r < taken:
        x = state.removed[r]
        r += 1
        for y in windows.near[x]:
            p = min(state.position[x], state.position[y])
            q = max(state.position[x], state.position[y])
            change, value = reversal(windows, state, p, q)
            if value >= gain:
                p, q = p - 1, q - 1
                change, value = reversal(windows, state, p, q)
            if value < gain:
                total += change
                tour[p + 1 : q + 1] = tour[p + 1 : q + 1][::-1].copy()
                look_forward(windows, state, p + 1, n)
                look_backward(windows, state, q, n)
                _index_tour(windows, state)
                r -= 1
                break
    return total


@njit(cache=True, nogil=True)
def _price(state: State) -> None:
    """Let lateness become dearer while the tour is late, and cheaper otherwise."""
    n, numbers = len(state.marked), state.numbers
    largest = numbers[UNIT] * (WEIGHTS[3] if numbers[BEST_LATE] > 0.0 else WEIGHTS[2])
    if numbers[LATE] == 0.0:
        numbers[ASTRAY] = 0.0
        numbers[WEIGHT] = max(numbers[WEIGHT] * (1.0 - 1.0 / n), numbers[LEAST])
        return
    numbers[ASTRAY] += 1.0
    numbers[WEIGHT] = min(numbers[WEIGHT] * (1.0 + 3.0 / n), largest)
    if numbers[ASTRAY] > min(TRAPPED[0] * n, TRAPPED[1]) and numbers[BEST_LATE] == 0.0:
        state.current[:] = state.best
        numbers[COST], numbers[LATE], numbers[ASTRAY] = numbers[BEST_COST], 0.0, 0.0
        numbers[LEAST] = min(2.0 * numbers[LEAST], largest)
        numbers[WEIGHT] = largest


@njit(cache=True, nogil=True)
def _agrees(windows: Windows, state: State, cost: float, late: float) -> bool:
    """Whether cost and lateness of ``tour`` are what a fresh evaluation gives, and it is a permutation."""
    n = len(windows.ready)
    seen = np.zeros(n, np.bool_)
    clock, warp = windows.ready[0], 0.0
    for k in range(n):
        i, j = state.tour[k], state.tour[k + 1]
        seen[i] = True
        clock = max(clock + windows.time[i, j], windows.ready[j])
        warp += max(clock - windows.due[j], 0.0)
        clock = min(clock, windows.due[j])
    close = CLOSE * max(1.0, abs(cost))
    right = abs(tour_cost(windows, state.tour) - cost) <= close and abs(warp - late) <= CLOSE * max(1.0, abs(clock))
    return bool(right and seen.all() and state.tour[0] == 0 and state.tour[n] == 0)


@njit(cache=True, nogil=True)
def improve(windows: Windows, state: State, iterations: int, temperature: float, debug: bool) -> bool:
    """Run iterations of ruin, recreate and 2-opt on a state; the best tour is the least late, then the cheapest.

    Parameters
    ----------
    windows, state
        The instance, and the search, changed in place.
    iterations : int
        How many.
    temperature : float
        Of the acceptance, in units of cost.
    debug : bool
        Evaluate every accepted tour anew.

    Returns
    -------
    bool
        False when, in a debug run, a tour was not what the search took it for.
    """
    n, numbers = len(windows.ready), state.numbers
    numbers[COST] = tour_cost(windows, state.current)
    for _ in range(iterations):
        taken, change = _ruin(windows, state)
        change += _recreate(windows, state, taken)
        change += _two_opt(windows, state, taken)
        late = state.warp[n]
        value = change + numbers[WEIGHT] * (late - numbers[LATE])
        if value <= -temperature * np.log(uniform(state.random) + 1e-300):
            state.current[:] = state.tour
            numbers[COST] += change
            numbers[LATE] = late
            if debug and not _agrees(windows, state, numbers[COST], late):
                return False
            _keep_best(state)
        _price(state)
    return True
