"""One closed tour through all nodes, each within its window: ruin and recreate with 2-opt, under annealing.

The ruin takes out strings near each other (Christiaens and Vanden Berghe 2020,
https://doi.org/10.1287/trsc.2019.0914), some of which stay whole and are put back as one piece, in either direction,
by the O(1) test of `ncosolve.search.time_warp`. Late tours are allowed at a price that adapts.
"""

import numpy as np

from ncosolve.search.arrays import copy_to, reverse
from ncosolve.search.jit import inner, tight
from ncosolve.search.random import below, uniform
from ncosolve.search.time_warp import (
    ASTRAY,
    BEST_LATE,
    COST,
    LATE,
    LEAST,
    MOST,
    UNIT,
    WEIGHT,
    WEIGHTS,
    State,
    Windows,
    keep_best,
    lateness_with,
    look_backward,
    look_forward,
    piece_of,
    take_current,
    tour_cost,
)

LARGEST_RUIN = 16
"""Nodes taken out at most, but for a single long string."""
LONGEST_STRING = 50
"""Nodes of a long string at most."""
TRAPPED = 10, 2000
"""After so many iterations times n, or so many, without a tour on time the search goes back to its best."""
CLOSE = 1e-6
"""By how much a change may differ from the recomputed one, relative to the cost of the tour, in debug runs."""


@inner
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


@inner
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


@inner
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


@inner
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


@inner
def _urgency(windows: Windows, x: int, rule: int) -> float:
    if rule == 1:
        return windows.due[x]
    if rule == 2:
        return windows.due[x] - windows.ready[x]
    return -windows.cost[0, x]


@inner
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
                reverse(removed, begin, begin + size - 1)
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


@tight
def _index_tour(windows: Windows, state: State) -> None:
    """Bring ``position`` and ``turned`` up to date."""
    tour = state.tour
    for k in range(len(windows.ready)):
        i = tour[k]
        state.position[i] = k
        if not windows.symmetric:
            j = tour[k + 1]
            state.turned[k + 1] = state.turned[k] + windows.cost[j, i] - windows.cost[i, j]


@tight
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


@inner
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
                reverse(tour, p + 1, q)
                look_forward(windows, state, p + 1, n)
                look_backward(windows, state, q, n)
                _index_tour(windows, state)
                r -= 1
                break
    return total


@tight
def _price(windows: Windows, state: State) -> None:
    """Let lateness become dearer while the tour is late, and cheaper otherwise."""
    n, numbers = len(state.marked), state.numbers
    largest = numbers[UNIT] * WEIGHTS[3] if numbers[BEST_LATE] > 0.0 else numbers[MOST]
    if numbers[LATE] == 0.0:
        numbers[ASTRAY] = 0.0
        numbers[WEIGHT] = max(numbers[WEIGHT] * (1.0 - 1.0 / n), numbers[LEAST])
        return
    numbers[ASTRAY] += 1.0
    numbers[WEIGHT] = min(numbers[WEIGHT] * (1.0 + 3.0 / n), largest)
    if numbers[ASTRAY] > min(TRAPPED[0] * n, TRAPPED[1]) and numbers[BEST_LATE] == 0.0:
        copy_to(state.current, state.best)
        take_current(windows, state)
        numbers[ASTRAY] = 0.0
        numbers[LEAST] = min(2.0 * numbers[LEAST], largest)
        numbers[WEIGHT] = largest


@tight
def _agrees(windows: Windows, state: State, cost: float, late: float) -> bool:
    """Whether cost and lateness of ``tour`` are what a fresh evaluation gives, and it is a permutation."""
    n = len(windows.ready)
    clock, warp = windows.ready[0], 0.0
    for k in range(n):
        i, j = state.tour[k], state.tour[k + 1]
        state.position[i] = k
        clock = max(clock + windows.time[i, j], windows.ready[j])
        warp += max(clock - windows.due[j], 0.0)
        clock = min(clock, windows.due[j])
    close = CLOSE * max(1.0, abs(cost))
    right = abs(tour_cost(windows, state.tour) - cost) <= close and abs(warp - late) <= CLOSE * max(1.0, abs(clock))
    for k in range(n):
        right &= state.position[state.tour[k]] == k
    return bool(right and state.tour[0] == 0 and state.tour[n] == 0)


@tight
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
            copy_to(state.current, state.tour)
            numbers[COST] += change
            numbers[LATE] = late
            if debug and not _agrees(windows, state, numbers[COST], late):
                return False
            keep_best(state)
        _price(windows, state)
    return True
