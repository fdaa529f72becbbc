"""Travelling salesman with draft limits: a loaded ship may enter a port only when it lies high enough in the water."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.errors import InputError
from ncosolve.problems.base import Check, FloatArray, IntArray, as_tour, describe, load_slack, vector, whole, worst
from ncosolve.problems.distance import Distance
from ncosolve.problems.randomness import legacy_generator, one_of


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TSPDL:
    """A travelling salesman problem with draft limits, in delivery form (Rakke et al. 2012); node 0 is the depot.

    The ship leaves the depot with the total demand aboard. On arrival at a port, before unloading, the load must not be
    over the draft limit of the port.

    Parameters
    ----------
    distance, coords, rounding, name
        As in `ncosolve.TSP`.
    demand : array_like, shape (n,)
        What is unloaded at each port, >= 0; 0 for the depot.
    draft_limit : array_like, shape (n,)
        The largest load on arrival, >= 0; that of the depot does not bind.

    Raises
    ------
    InputError
        When the arrays do not fit together or hold a number that is not allowed.
    """

    problem: ClassVar[str] = "tspdl"
    kind: ClassVar[str] = "tour"
    distance: Distance
    demand: FloatArray
    draft_limit: FloatArray
    name: str

    __repr__ = describe

    def __init__(
        self,
        distance: Distance | ArrayLike | None = None,
        *,
        demand: ArrayLike,
        draft_limit: ArrayLike,
        coords: ArrayLike | None = None,
        rounding: str = "exact",
        name: str = "",
    ) -> None:
        put = object.__setattr__
        put(self, "distance", Distance.of(distance, coords, rounding))
        put(self, "demand", vector(demand, self.n, "demand", low=0.0))
        put(self, "draft_limit", vector(draft_limit, self.n, "draft_limit", low=0.0, finite=False))
        put(self, "name", name)
        if self.demand[0] != 0:
            raise InputError(f"of the depot is {self.demand[0]:g}, expected 0", where="demand")

    @property
    def n(self) -> int:
        """Nodes including the depot."""
        return self.distance.n

    def answer(self, raw: Any) -> IntArray:
        """A tour in canonical form: a permutation of 0..n-1 that starts at 0."""
        return as_tour(raw, self.n)

    def order(self, answer: IntArray, cost: float) -> tuple[float, ...]:
        """The key by which answers compare; smaller is better."""
        return (cost,)

    def check(self, answer: IntArray) -> Check:
        """The sum of distances along the closed tour; violations: draft limit."""
        tour = self.answer(answer)
        load = np.zeros(self.n)
        load[tour] = self.demand.sum() - (np.cumsum(self.demand[tour]) - self.demand[tour])
        slack = load_slack(float(self.demand.sum()))
        excess = np.where(load > self.draft_limit + slack, load - self.draft_limit, 0.0)
        excess[0] = 0.0
        cost = self.distance.total(np.append(tour, tour[0]))
        return Check(cost, tuple(worst("draft limit", excess, "port")))

    def clash(self) -> str | None:
        """Why no feasible tour exists. Exact: visiting by falling draft limit is feasible if anything is.

        Seen backwards, the ship loads: a job per port of length ``demand`` and due date ``draft_limit``, for which the
        order of earliest due dates is feasible if any order is.
        """
        ports = 1 + np.argsort(self.draft_limit[1:], kind="stable")
        load = np.cumsum(self.demand[ports])
        slack = load_slack(float(self.demand.sum()))
        over = load > self.draft_limit[ports] + slack
        if not over.any():
            return None
        k = int(np.argmax(over))
        limit = self.draft_limit[ports[k]]
        return f"{k + 1} ports with a draft limit of at most {limit:g} have {load[k]:g} to unload"


INSTANCE = TSPDL


class TSPDLBatch(NamedTuple):
    """Generated instances of one size; every port but the depot takes one unit of cargo.

    Attributes
    ----------
    coords : ndarray of float64, shape (count, n, 2)
        Positions in the unit square.
    demand, draft_limit : ndarray of int64, shape (count, n)
        0 for the depot and 1 elsewhere; from 1 to n - 1.
    """

    coords: FloatArray
    demand: IntArray
    draft_limit: IntArray


_TIGHTENED = {"easy": 0.5, "medium": 0.75, "hard": 0.9}  # ports with a limit under the full load, as a share of n
HARDNESS = tuple(_TIGHTENED)


def generate(n: int, *, seed: int = 0, hardness: str = "hard") -> TSPDL:
    """A random instance, always feasible: the first of ``generate_batch(1, n, seed, hardness)``.

    Loads and limits are whole numbers, so that nothing rests on a tolerance.
    """
    batch = generate_batch(1, n, seed, hardness)
    return TSPDL(
        coords=batch.coords[0],
        demand=batch.demand[0],
        draft_limit=batch.draft_limit[0],
        name=f"tspdl-{hardness}-n{n}-s{seed}",
    )


def generate_batch(count: int, n: int, seed: int = 0, hardness: str = "hard") -> TSPDLBatch:
    """Random instances, drawn as the test sets of PIP (Bi et al. 2024) and LMask (Li et al. 2026) were.

    With the seeds of those sets (validation: 4321, 256 instances; test: 2025, 10,000 instances), and with loads divided
    by n - 1, they are the published ones. Those state the mirror image: a ship that loads. The same limits hold for
    one that unloads, and each feasible tour of the one is a feasible tour of the other, reversed.

    Parameters
    ----------
    count, n : int
        Instances, and nodes including the depot.
    seed : int
        0..2**32 - 1; equal seeds give equal batches.
    hardness : str
        ``easy``, ``medium`` or ``hard``: 50, 75 or 90 % of n ports (at most n - 2, which matters for n <= 10) get a
        random limit from 1 to n - 2, drawn again until a feasible tour exists.
    """
    rng = legacy_generator(seed)
    share = _TIGHTENED[one_of(hardness, HARDNESS, "hardness")]
    coords = rng.uniform(size=(whole(count, "count"), whole(n, "n"), 2))
    demand = np.ones((count, n), np.int64)
    demand[:, 0] = 0
    limits = np.full((count, n), n - 1, np.int64)
    tightened = max(0, min(int(share * n), n - 2))
    for row in limits if tightened else ():
        row[rng.choice(np.arange(1, n), tightened, replace=False)] = _feasible_limits(tightened, n - 1, rng)
    return TSPDLBatch(coords, demand, limits)


def _feasible_limits(ports: int, cargo: int, rng: np.random.RandomState) -> IntArray:
    """Limits from 1 to cargo - 1 of which, for every v, at most v are at most v."""
    while True:
        limits = rng.randint(1, cargo, size=ports)
        if (np.sort(limits) > np.arange(ports)).all():
            return limits
