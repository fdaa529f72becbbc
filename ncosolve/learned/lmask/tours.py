"""A batch of tour problems with windows or draft limits as tensors, and which nodes may come next."""

from typing import NamedTuple

import torch
from torch import Tensor


class Tours(NamedTuple):
    """B problems of N nodes each, node 0 the depot; `make_tours` fills in what is derived.

    Draft limits are windows too: seen backwards a ship loads, its clock is the load, and loading must begin by the
    draft limit less the demand.

    Attributes
    ----------
    cost, time : Tensor of float64, shape (B, N, N)
        What is to be minimised, and how long it takes from the start of service at one node to the arrival at another.
    ready, due : Tensor of float64, shape (B, N)
        Between these times service starts; the depot's are those of the departure and of the return.
    latest : Tensor of float64, shape (B, N, N)
        When service at i must start for j to be reached in time by the fastest way; infinite for i = j.
    features : Tensor of float32, shape (B, N, 4)
        Two coordinates in the unit square and two numbers from 0 to 1: the window, or demand and draft limit.
    horizon : Tensor of float64, shape (B,)
        The clock's unit in what a network sees.
    drafts : bool
        Whether the clock is a load: nothing waits, and the time from i does not depend on where to.
    """

    cost: Tensor
    time: Tensor
    ready: Tensor
    due: Tensor
    latest: Tensor
    features: Tensor
    horizon: Tensor
    drafts: bool

    def to(self, device: torch.device | str) -> "Tours":
        """The same on another device."""
        return Tours(**{name: getattr(self, name).to(device) for name in self._fields[:-1]}, drafts=self.drafts)

    def some(self, chosen: slice | Tensor) -> "Tours":
        """Some of the problems."""
        return Tours(**{name: getattr(self, name)[chosen] for name in self._fields[:-1]}, drafts=self.drafts)


def make_tours(
    cost: Tensor,
    time: Tensor,
    ready: Tensor,
    due: Tensor,
    features: Tensor,
    horizon: Tensor,
    drafts: bool,
    direct: bool = False,
) -> Tours:
    """Problems with their latest starts; ``direct``: no detour is quicker. The other parameters are as in `Tours`."""
    fastest = time.clone()
    fastest.diagonal(dim1=1, dim2=2).fill_(0.0)
    if not (drafts or direct):
        for k in range(time.shape[1]):  # rounded distances may break the triangle inequality
            torch.minimum(fastest, fastest[:, :, k : k + 1] + fastest[:, k : k + 1], out=fastest)
    latest = due[:, None, :] - fastest
    latest.diagonal(dim1=1, dim2=2).fill_(torch.inf)
    return Tours(cost, time, ready, due, latest, features, horizon, drafts)


def arrivals(tours: Tours, instance: Tensor, current: Tensor, clock: Tensor) -> Tensor:
    """When service would start at each node, coming from ``current`` where it started at ``clock``; shape (R, N)."""
    return torch.maximum(clock[:, None] + tours.time[instance, current], tours.ready[instance])


def open_nodes(
    tours: Tours, instance: Tensor, current: Tensor, clock: Tensor, unvisited: Tensor, look_ahead: int
) -> Tensor:
    """Nodes that may come next: every one that some feasible completion takes, and some more.

    Parameters
    ----------
    instance, current : Tensor of int64, shape (R,)
        Of which problem each of R partial tours is one, and where it ends.
    clock : Tensor of float64, shape (R,)
        When service starts there.
    unvisited : Tensor of bool, shape (R, N)
        Without the depot.
    look_ahead : int
        1: all or none, whether each unvisited node can still be reached. 2: those from which each other one can still
        be reached. For drafts 2 is exact: a completion is feasible if any order is, so if that of the limits is.

    Returns
    -------
    Tensor of bool, shape (R, N)
    """
    start = arrivals(tours, instance, current, clock)
    opened = unvisited & (start <= tours.due[instance])
    if tours.drafts and look_ahead == 2:
        return opened & _drafts_hold(tours, instance, start, unvisited)
    pending = unvisited.clone()
    pending[:, 0] = True  # the return
    if look_ahead == 1:
        soonest = torch.where(pending, tours.latest[instance, current], torch.inf).amin(dim=1)
        opened &= (clock <= soonest)[:, None]
    else:
        opened &= start <= torch.where(pending[:, None, :], tours.latest[instance], torch.inf).amin(dim=2)
    back = start + tours.time[instance, :, 0] <= tours.due[instance, :1]  # directly, however fast a detour is
    return opened & (back | (unvisited.sum(dim=1) > 1)[:, None])


def _drafts_hold(tours: Tours, instance: Tensor, start: Tensor, unvisited: Tensor) -> Tensor:
    """Whether the others can follow by rising draft limit: those before a node in this order give way to its demand."""
    demand = tours.time[instance, :, 0]
    due = tours.due[instance]
    order = torch.argsort(due + demand, dim=1, stable=True)
    waiting = torch.where(unvisited, demand, 0.0).gather(1, order)
    before = waiting.cumsum(dim=1) - waiting
    slack = due.gather(1, order) - start.gather(1, order) - before
    slack = torch.where(unvisited.gather(1, order), slack, torch.inf)
    ahead = slack.cummin(dim=1).values.roll(1, dims=1)
    after = slack.flip(1).cummin(dim=1).values.flip(1).roll(-1, dims=1)
    ahead[:, 0] = after[:, -1] = torch.inf
    spare = torch.where(after >= 0.0, ahead, -torch.inf)
    return demand <= torch.empty_like(spare).scatter_(1, order, spare)
