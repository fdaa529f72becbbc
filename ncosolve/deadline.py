"""One clock for a whole solve: made on its first line, handed down, read everywhere."""

import math
import time

from ncosolve.errors import InputError

HORIZON, GROWTH = 10.0, 6.25
"""Without a limit, seconds that a search is planned for at first, and by how much it goes on once they have passed."""


class Deadline:
    """A time limit that leaves out the first-ever compilation of kernels.

    Parameters
    ----------
    limit : float
        Seconds; ``math.inf`` for none.
    spent : float
        Seconds of it that have passed already.

    Attributes
    ----------
    compiling : float
        Seconds spent on compiling kernels so far; they do not count against the limit.
    announced : bool
        Whether the user was told of compiling.
    cancelled : bool
        True once someone has asked to stop early (Ctrl-C, target reached).
    """

    def __init__(self, limit: float = math.inf, spent: float = 0.0) -> None:
        try:
            seconds = math.nan if isinstance(limit, str | bool) else float(limit)
        except (TypeError, ValueError):
            seconds = math.nan
        if not seconds >= 0:
            raise InputError(f"is {limit!r}, expected a number of seconds >= 0", where="time_limit")
        self.limit = seconds
        self.compiling = 0.0
        self.cancelled = False
        self.announced = False
        self._start = time.perf_counter() - spent

    def total(self) -> float:
        """Seconds since the start, compilation included."""
        return time.perf_counter() - self._start

    def elapsed(self) -> float:
        """Seconds since the start, compilation left out."""
        return self.total() - self.compiling

    def remaining(self) -> float:
        """Seconds left, never negative; 0 once cancelled."""
        return 0.0 if self.cancelled else max(0.0, self.limit - self.elapsed())

    def progress(self) -> float:
        """The share of the limit that has passed, from 0 to 1.

        Without a limit it is the share of a horizon, which grows as often as it is reached: whoever cools down with
        progress then warms up again, longer each time.
        """
        if self.limit <= 0:
            return 1.0
        elapsed, horizon = self.elapsed(), self.limit
        if horizon == math.inf:
            horizon = HORIZON * GROWTH ** max(0, math.ceil(math.log(max(1e-9, elapsed) / HORIZON, GROWTH)))
        return min(1.0, elapsed / horizon)

    def over(self) -> bool:
        """Whether it is time to stop."""
        return self.cancelled or self.elapsed() >= self.limit

    def cancel(self) -> None:
        """Ask everyone who reads this clock to stop."""
        self.cancelled = True
