"""Random combinatorial auctions: the "arbitrary" scheme of Leyton-Brown, Pearson and Shoham (2000, section 4.3)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_array, coo_array

from ncosolve.problems.base import FloatArray, IntArray, positive, whole
from ncosolve.problems.milp import MILP
from ncosolve.problems.randomness import between

_LOW, _HIGH, _DEVIATION = 1.0, 100.0, 50.0  # common values of items, and how far a bidder's own may lie off them

Bid = tuple[frozenset[int], float]
"""A bundle of items and its price."""


@dataclass(frozen=True)
class _Market:
    """What all bidders share: common values, how well items go together, and the options of the scheme."""

    values: FloatArray
    affinity: FloatArray
    add_item: float
    substitutes: int
    additivity: float
    budget: float
    resale: float


def auction(
    n: int,
    rng: np.random.Generator,
    *,
    items: int | None = None,
    add_item: float = 0.7,
    substitutes: int = 5,
    additivity: float = 0.2,
    budget: float = 1.5,
    resale: float = 0.5,
) -> MILP:
    """Choose the bids of most revenue that sell no item twice.

    A bidder values an item at its common value (uniform in 1..100), up to 50 more or less by private interest, and a
    bundle of k items at their sum plus k ** (1 + additivity). A bundle starts with an item of interest and grows by
    items of interest that go well with it. Of the bids of one bidder, at most one wins.

    Parameters
    ----------
    n : int
        Bids, which are the columns; usual sizes are 150 (small), 500 and 1000.
    rng : numpy.random.Generator
        The source of randomness.
    items : int, optional
        n / 5, rounded up, when not given.
    add_item : float
        The probability that a bundle grows by one more item, 0..1.
    substitutes : int
        The most further bids of a bidder, each on as many items as the first bid and on one of them at least.
    additivity : float
        See above; >= 0.
    budget : float
        A further bid costs at most this times the first.
    resale : float
        The common value of a further bundle is at least this times that of the first.
    """
    size = -(-n // 5) if items is None else whole(items, "items")
    half = np.triu(rng.random((size, size)), 1)
    affinity = half + half.T
    market = _Market(
        values=rng.uniform(_LOW, _HIGH, size),
        affinity=affinity / np.maximum(affinity.sum(axis=1, keepdims=True), 1e-12),
        add_item=between(add_item, 0.0, 1.0, "add_item"),
        substitutes=whole(substitutes, "substitutes", 0),
        additivity=positive(additivity, "additivity", zero=True),
        budget=positive(budget, "budget"),
        resale=positive(resale, "resale", zero=True),
    )
    bids: list[Bid] = []
    bidder: list[int] = []
    rounds = 0
    while len(bids) < n:
        new = _bids(market, rng)[: n - len(bids)]
        bids += new
        bidder += [rounds] * len(new)
        rounds += 1
    return _winner_determination(bids, np.array(bidder), size)


def _winner_determination(bids: list[Bid], bidder: IntArray, items: int) -> MILP:
    n = len(bids)
    column = np.repeat(np.arange(n), [len(bundle) for bundle, _ in bids])
    item = np.array([k for bundle, _ in bids for k in sorted(bundle)])
    sold = coo_array((np.ones(len(item)), (item, column)), shape=(items, n)).tocsr()
    owned = coo_array((np.ones(n), (bidder, np.arange(n)))).tocsr()
    rows = block_array([[sold[sold.sum(axis=1) > 0]], [owned[owned.sum(axis=1) > 1]]])
    m = rows.shape[0]
    return MILP(
        [price for _, price in bids],
        rows,
        np.full(m, -np.inf),
        np.ones(m),
        upper=np.ones(n),
        integer=np.ones(n, np.bool_),
        maximise=True,
    )


def _bids(market: _Market, rng: np.random.Generator) -> list[Bid]:
    """The bids of one bidder, the first one first; none where it values the first bundle at nothing."""
    interest = rng.random(len(market.values))
    private = market.values + _DEVIATION * (2.0 * interest - 1.0)

    def price(bundle: list[int]) -> float:
        return float(private[bundle].sum() + len(bundle) ** (1.0 + market.additivity))

    first = [int(rng.choice(len(interest), p=interest / interest.sum()))]
    while len(first) < len(interest) and rng.random() < market.add_item:
        first.append(_next_item(first, interest, market.affinity, rng))
    if price(first) <= 0:
        return []
    others = []
    for item in first:
        bundle = [item]
        while len(bundle) < len(first):
            bundle.append(_next_item(bundle, interest, market.affinity, rng))
        others.append(bundle)
    bids = {frozenset(first): price(first)}
    for bundle in sorted(others, key=price, reverse=True):
        affordable = 0 < price(bundle) <= market.budget * price(first)
        sellable = market.values[bundle].sum() >= market.resale * market.values[first].sum()
        if affordable and sellable and frozenset(bundle) not in bids and len(bids) <= market.substitutes:
            bids[frozenset(bundle)] = price(bundle)
    return list(bids.items())


def _next_item(bundle: list[int], interest: FloatArray, affinity: FloatArray, rng: np.random.Generator) -> int:
    """An item not yet in the bundle, by interest and by how well it goes with what is in it."""
    weight = interest * affinity[bundle].mean(axis=0)
    weight[bundle] = 0.0
    return int(rng.choice(len(weight), p=weight / weight.sum()))
