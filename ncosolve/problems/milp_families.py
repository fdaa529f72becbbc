"""Random mixed-integer programs over binaries: set cover, facility location, independent set."""

import numpy as np
from scipy.sparse import block_array, coo_array, csr_array, eye_array, kron

from ncosolve.errors import InputError
from ncosolve.problems.base import IntArray, whole
from ncosolve.problems.milp import MILP
from ncosolve.problems.randomness import between

_DRAWS = 100  # of capacities, before facility location gives up


def set_cover(
    n: int, rng: np.random.Generator, *, rows: int | None = None, density: float = 0.05, max_cost: int = 100
) -> MILP:
    """Cover each row by columns of least total cost (Balas and Ho 1980).

    Parameters
    ----------
    n : int
        Columns; usual sizes are 200 (small), 1000 and 2000.
    rng : numpy.random.Generator
        The source of randomness.
    rows : int, optional
        n / 2, rounded up, when not given.
    density : float
        The share of ones. Whatever it is, a column covers at least two rows (where there are two), and a row that is
        left is given to a random column.
    max_cost : int
        Costs are whole, uniform from 1 to this.
    """
    m = (n + 1) // 2 if rows is None else whole(rows, "rows")
    least = min(2, m)
    further = max(0, int(between(density, 0.0, 1.0, "density") * m * n) - least * n)
    sizes = least + rng.multivariate_hypergeometric(np.full(n, m - least), further, method="marginals")
    covered = np.concatenate([rng.choice(m, size, replace=False) for size in sizes])
    bare = np.setdiff1d(np.arange(m), covered)
    row = np.concatenate([covered, bare])
    column = np.concatenate([np.repeat(np.arange(n), sizes), rng.integers(n, size=len(bare))])
    return MILP(
        rng.integers(1, whole(max_cost, "max_cost") + 1, n),
        coo_array((np.ones(len(row)), (row, column)), shape=(m, n)),
        np.ones(m),
        np.full(m, np.inf),
        upper=np.ones(n),
        integer=np.ones(n, np.bool_),
    )


def facility_location(
    n: int,
    rng: np.random.Generator,
    *,
    customers: int | None = None,
    ratio: float = 5.0,
    single_source: bool = False,
) -> MILP:
    """Open sites and serve all customers within their capacities at least cost (Cornuejols et al. 1991).

    Columns: n binaries that open the sites, then for each customer the share that each site serves. Rows: each customer
    is served; the capacity of each site, 0 while it is closed; the capacity of the open sites suffices; a closed site
    serves nobody.

    Parameters
    ----------
    n : int
        Sites; usual sizes are 5 (single source), 25 (with 10 customers) and 100.
    rng : numpy.random.Generator
        The source of randomness.
    customers : int, optional
        n when not given. Their demands are whole, 5 to 35.
    ratio : float
        Total capacity over total demand, >= 1: capacities are drawn from 10..160, scaled and rounded up.
    single_source : bool
        Whether a customer must be served by one site. Serving costs are whole then, and capacities are drawn again
        until first-fit finds an assignment.

    Raises
    ------
    InputError
        Where it found none in 100 draws, because the ratio is too low.

    Notes
    -----
    Opening costs U{100..110} * sqrt(capacity drawn) + U{0..90}, rounded down; serving a customer in full costs
    10 * demand * distance, both uniform in the unit square.
    """
    count = n if customers is None else whole(customers, "customers")
    ratio = between(ratio, 1.0, 1e6, "ratio")
    demand = rng.integers(5, 36, count)
    for _ in range(_DRAWS):
        drawn = rng.integers(10, 161, n)
        capacity = np.ceil(drawn * (ratio * demand.sum() / drawn.sum())).astype(np.int64)
        if not single_source or _first_fit(demand, capacity):
            break
    else:
        raise InputError(f"is {ratio:g}, too low for customers that are served by one site each", where="ratio")
    opening = np.floor(rng.integers(100, 111, n) * np.sqrt(drawn)) + rng.integers(0, 91, n)
    sites, places = rng.random((n, 2)), rng.random((count, 2))
    serving = 10.0 * demand[:, None] * np.linalg.norm(places[:, None] - sites[None], axis=2)
    served = kron(eye_array(count), np.ones((1, n)))
    load = kron(demand[None, :], eye_array(n))
    rows = block_array(
        [
            [None, served],
            [-np.diag(capacity), load],
            [csr_array(-capacity[None, :]), None],
            [-kron(np.ones((count, 1)), eye_array(n)), eye_array(count * n)],
        ]
    )
    at_most = np.concatenate([np.zeros(n), [-demand.sum()], np.zeros(count * n)])
    integer = np.full(n + count * n, single_source)
    integer[:n] = True
    return MILP(
        np.concatenate([opening, (np.rint(serving) if single_source else serving).ravel()]),
        rows,
        np.concatenate([np.ones(count), np.full(len(at_most), -np.inf)]),
        np.concatenate([np.full(count, np.inf), at_most]),
        upper=np.ones(n + count * n),
        integer=integer,
    )


def _first_fit(demand: IntArray, capacity: IntArray) -> bool:
    """Whether each customer, by falling demand, fits into the first site with room for it."""
    room = -np.sort(-capacity)
    for load in -np.sort(-demand):
        fits = np.flatnonzero(room >= load)
        if not len(fits):
            return False
        room[fits[0]] -= load
    return True


def independent_set(n: int, rng: np.random.Generator, *, affinity: int = 4) -> MILP:
    """Choose as many nodes as possible of which no two are joined, on a Barabasi-Albert graph.

    Parameters
    ----------
    n : int
        Nodes, which are the columns; usual sizes are 150 (small), 500 and 1500.
    rng : numpy.random.Generator
        The source of randomness.
    affinity : int
        The edges that each node brings with it, chosen with a probability that grows with the degree; at most n - 1.

    Notes
    -----
    Cliques, found greedily from nodes of high degree on, have one row each; an edge between two cliques has a row of
    its own.
    """
    joined = _preferential_graph(n, min(whole(affinity, "affinity"), n - 1), rng)
    cliques = _clique_rows(joined)
    m = len(cliques)
    row = np.repeat(np.arange(m), [len(clique) for clique in cliques])
    column = np.array([node for clique in cliques for node in clique], np.int64)
    return MILP(
        np.ones(n),
        coo_array((np.ones(len(row)), (row, column)), shape=(m, n)),
        np.full(m, -np.inf),
        np.ones(m),
        upper=np.ones(n),
        integer=np.ones(n, np.bool_),
        maximise=True,
    )


def _preferential_graph(n: int, affinity: int, rng: np.random.Generator) -> list[set[int]]:
    """The neighbours of each node: node ``affinity`` is joined to all before it, each later one to ``affinity``."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    degree = np.zeros(n)
    for node in range(affinity, n if affinity else 0):
        weight = degree[:node] if node > affinity else np.ones(node)
        for other in rng.choice(node, affinity, replace=False, p=weight / weight.sum()):
            neighbours[node].add(int(other))
            neighbours[int(other)].add(node)
            degree[[node, other]] += 1
    return neighbours


def _clique_rows(neighbours: list[set[int]]) -> list[list[int]]:
    """Cliques that partition the nodes (those of one node left out), then the edges that lie in none of them."""
    by_degree = sorted(range(len(neighbours)), key=lambda node: (-len(neighbours[node]), node))
    rank = {node: place for place, node in enumerate(by_degree)}
    label: dict[int, int] = {}
    cliques: list[list[int]] = []
    for node in by_degree:
        if node in label:
            continue
        clique = [node]
        for other in sorted(neighbours[node] - label.keys(), key=rank.__getitem__):
            if neighbours[other].issuperset(clique):
                clique.append(other)
        label |= dict.fromkeys(clique, len(cliques))
        cliques.append(sorted(clique))
    across = [
        [node, other]
        for node, others in enumerate(neighbours)
        for other in sorted(others)
        if node < other and label[node] != label[other]
    ]
    return [clique for clique in cliques if len(clique) > 1] + across
