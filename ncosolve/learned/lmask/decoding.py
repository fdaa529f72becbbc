"""Lazy-mask decoding: depth-first searches in a batch, whose branching order a policy decides.

A mask holds the nodes that may follow a partial tour. It is made when the tour gets there, too large rather than too
small, and is refined only when the search has to come back: the child just left is taken out.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Protocol, Self

import torch
from torch import Tensor

from ncosolve.learned.lmask.tours import Tours, arrivals, open_nodes

SWEEP = 8
"""Steps between two looks at which searches have ended; these are then left out."""


class Policy(Protocol):
    """What says which open node comes next, for the searches of a batch that have not ended."""

    def logits(self, current: Tensor, clock: Tensor, opened: Tensor, refined: Tensor, spent: Tensor) -> Tensor:
        """A number for each node, shape (R, N): the larger, the sooner.

        ``current`` is where each partial tour ends and ``clock`` when service starts there, ``opened`` (R, N) the mask,
        ``refined`` how often it was refined, and ``spent`` whether there are no backtracks left.
        """

    def take(self, kept: Tensor) -> Self:
        """The same for these searches only, given by their places among the present ones."""


@dataclass
class Decoded:
    """What R searches have come to; all but ``found`` holds where a tour was found (or broken windows were allowed).

    Attributes
    ----------
    tour : Tensor of int64, shape (R, N)
        From the depot on.
    found, exhausted : Tensor of bool, shape (R,)
        Whether there is a tour, and whether it is proved that there is none.
    cost : Tensor of float64, shape (R,)
        Of the closed tour.
    clock : Tensor of float64, shape (R, N)
        When service starts, by place in the tour.
    mask : Tensor of bool, shape (R, N, N)
        The open nodes when the decision after each place was made.
    refined : Tensor of int64, shape (R, N)
        How often that mask had been refined.
    spent : Tensor of bool, shape (R, N)
        Whether there were no backtracks left then.
    backtracks : Tensor of int64, shape (R,)
        Steps back.
    """

    tour: Tensor
    found: Tensor
    exhausted: Tensor
    cost: Tensor
    clock: Tensor
    mask: Tensor
    refined: Tensor
    spent: Tensor
    backtracks: Tensor


@dataclass
class _Searches:
    """The stacks of the searches that have not ended, one row each; a place in a tour is a depth of the stack."""

    row: Tensor
    instance: Tensor
    node: Tensor
    clock: Tensor
    mask: Tensor
    refined: Tensor
    spent: Tensor
    unvisited: Tensor
    depth: Tensor
    backtracks: Tensor
    ended: Tensor

    def take(self, kept: Tensor) -> Self:
        return type(self)(**{field.name: getattr(self, field.name)[kept] for field in fields(self)})


def decode(
    tours: Tours,
    policy: Policy,
    budget: int,
    *,
    copies: int = 1,
    look_ahead: int = 2,
    noise: torch.Generator | None = None,
    relax: bool = False,
    over: Callable[[], bool] = lambda: False,
) -> Decoded:
    """Search ``copies`` times for a tour of each problem.

    Parameters
    ----------
    tours : Tours
        B problems.
    policy : Policy
        For B * copies searches, those of one problem behind one another.
    budget : int
        Backtracks a search may make; with one more to make it ends without a tour.
    look_ahead : int
        As in `ncosolve.learned.lmask.tours.open_nodes`.
    noise : torch.Generator, optional
        Nodes are sampled by the policy's probabilities; without it the likeliest is taken.
    relax : bool
        Once the budget is used up, open all nodes where no node is open, so that every search ends with a tour, which
        may be late.
    over : callable
        Asked now and then whether to end all searches; those under way have found nothing.
    """
    problems, n = tours.due.shape
    count, device = problems * copies, tours.due.device
    instance = torch.arange(problems, device=device).repeat_interleave(copies)
    state = _begin(tours, instance, look_ahead)
    result = _empty(count, n, device)
    step = 0
    while len(state.row) and not (step % SWEEP == 0 and over()):
        if n > 1:
            _step(tours, policy, state, budget, look_ahead, noise, relax)
        step += 1
        if step % SWEEP == 0 or n == 1:
            _collect(result, state, n)
            kept = torch.nonzero(~(state.ended | (state.depth == n - 1)))[:, 0]
            if len(kept) < len(state.row):
                state = state.take(kept)
                policy = policy.take(kept)
    result.cost = _costs(tours, instance, result.tour)
    return result


def _begin(tours: Tours, instance: Tensor, look_ahead: int) -> _Searches:
    count, n = len(instance), tours.due.shape[1]
    device = instance.device

    def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=device)

    state = _Searches(
        row=torch.arange(count, device=device),
        instance=instance,
        node=zeros(count, n),
        clock=tours.ready[instance, :1].repeat(1, n),
        mask=zeros(count, n, n, dtype=torch.bool),
        refined=zeros(count, n),
        spent=zeros(count, n, dtype=torch.bool),
        unvisited=torch.ones(count, n, dtype=torch.bool, device=device),
        depth=zeros(count),
        backtracks=zeros(count),
        ended=zeros(count, dtype=torch.bool),
    )
    state.unvisited[:, 0] = False
    state.mask[:, 0] = open_nodes(tours, instance, state.node[:, 0], state.clock[:, 0], state.unvisited, look_ahead)
    return state


def _empty(count: int, n: int, device: torch.device) -> Decoded:
    return Decoded(
        tour=torch.zeros(count, n, dtype=torch.int64, device=device),
        found=torch.zeros(count, dtype=torch.bool, device=device),
        exhausted=torch.zeros(count, dtype=torch.bool, device=device),
        cost=torch.zeros(count, dtype=torch.float64, device=device),
        clock=torch.zeros(count, n, dtype=torch.float64, device=device),
        mask=torch.zeros(count, n, n, dtype=torch.bool, device=device),
        refined=torch.zeros(count, n, dtype=torch.int64, device=device),
        spent=torch.zeros(count, n, dtype=torch.bool, device=device),
        backtracks=torch.zeros(count, dtype=torch.int64, device=device),
    )


def _step(
    tours: Tours,
    policy: Policy,
    state: _Searches,
    budget: int,
    look_ahead: int,
    noise: torch.Generator | None,
    relax: bool,
) -> None:
    """One step of every search, forward where a node is open and back where none is."""
    n = tours.due.shape[1]
    at = torch.arange(len(state.row), device=state.row.device)
    depth = state.depth
    opened = state.mask[at, depth]
    under_way = ~state.ended & (depth < n - 1)
    forward = under_way & opened.any(dim=1)
    back = under_way & ~forward
    spent = state.backtracks >= budget
    if not relax:
        state.ended |= back & (spent | (depth == 0))
        back = back & ~state.ended

    current, clock = state.node[at, depth], state.clock[at, depth]
    opened[:, 0] |= ~forward  # a row without an open node would be no distribution
    logits = policy.logits(current, clock, opened, state.refined[at, depth], spent)
    if noise is not None:
        uniform = torch.rand(logits.shape, generator=noise, device=logits.device)
        logits = logits - torch.log(-torch.log(uniform.clamp(1e-20, 1.0 - 1e-7)))
    chosen = torch.where(opened, logits, -torch.inf).argmax(dim=1)
    begin = arrivals(tours, state.instance, current, clock)[at, chosen]

    state.spent[at, depth] = torch.where(forward, spent, state.spent[at, depth])

    left = state.node[at, depth]
    state.unvisited[at, left] |= back
    state.unvisited[at, chosen] &= ~forward
    state.unvisited[:, 0] = False
    new = torch.where(forward, depth + 1, torch.where(back, (depth - 1).clamp_min(0), depth))
    state.depth = new
    state.node[at, new] = torch.where(forward, chosen, state.node[at, new])
    state.clock[at, new] = torch.where(forward, begin, state.clock[at, new])
    fresh = open_nodes(tours, state.instance, state.node[at, new], state.clock[at, new], state.unvisited, look_ahead)
    stored = state.mask[at, new]
    stored[at, left] &= ~back
    if relax:
        fresh |= state.unvisited & (spent & ~fresh.any(dim=1))[:, None]
        stored |= state.unvisited & (back & (new == 0) & ~stored.any(dim=1))[:, None]
    state.mask[at, new] = torch.where(forward[:, None], fresh, stored)
    state.refined[at, new] = torch.where(forward, 0, state.refined[at, new] + back)
    state.backtracks += back


def _collect(result: Decoded, state: _Searches, n: int) -> None:
    """Write down the searches that have ended."""
    found = state.depth == n - 1
    over = found | state.ended
    row = state.row[over]
    result.tour[row], result.clock[row] = state.node[over], state.clock[over]
    result.mask[row], result.refined[row], result.spent[row] = state.mask[over], state.refined[over], state.spent[over]
    result.found[row], result.backtracks[row] = found[over], state.backtracks[over]
    result.exhausted[row] = (state.ended & (state.depth == 0))[over]


def replay(tours: Tours, tour: Tensor, look_ahead: int = 2) -> Decoded:
    """Given tours as a decoding without a step back would have made them, late ones too.

    Parameters
    ----------
    tour : Tensor of int64, shape (R, N)
        ``R / B`` tours of each problem, behind one another.
    """
    count, n = tour.shape
    at = torch.arange(count, device=tour.device)
    instance = at // (count // len(tours.due))
    result = _empty(count, n, tour.device)
    result.tour, result.clock = tour, tours.ready[instance, :1].repeat(1, n)
    result.cost = _costs(tours, instance, tour)
    unvisited = torch.ones(count, n, dtype=torch.bool, device=tour.device)
    unvisited[:, 0] = False
    for k in range(n):
        if k > 0:
            begin = arrivals(tours, instance, tour[:, k - 1], result.clock[:, k - 1])
            result.clock[:, k] = begin[at, tour[:, k]]
            unvisited[at, tour[:, k]] = False
        result.mask[:, k] = open_nodes(tours, instance, tour[:, k], result.clock[:, k], unvisited, look_ahead)
    following = tour.roll(-1, dims=1)[:, :-1, None]
    result.found = result.mask[:, :-1].gather(2, following)[..., 0].all(dim=1)
    return result


def _costs(tours: Tours, instance: Tensor, tour: Tensor) -> Tensor:
    return tours.cost[instance[:, None], tour, tour.roll(-1, dims=1)].sum(dim=1)


@dataclass
class Ordered:
    """A policy without learning: nodes by a fixed number for each pair of nodes, the smallest first.

    Attributes
    ----------
    value : Tensor, shape (R, N, N)
        Of each node as the next after each other; distances give nearest-first, ready times earliest-first.
    """

    value: Tensor

    def logits(self, current: Tensor, clock: Tensor, opened: Tensor, refined: Tensor, spent: Tensor) -> Tensor:
        """See `Policy`."""
        return -self.value[torch.arange(len(current), device=current.device), current]

    def take(self, kept: Tensor) -> "Ordered":
        """See `Policy`."""
        return Ordered(self.value[kept])
