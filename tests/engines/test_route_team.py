import numpy as np
import pytest

import ncosolve
from ncosolve.deadline import Deadline
from ncosolve.engines.base import Incumbent, Task
from ncosolve.engines.route_part import RoutePart
from ncosolve.engines.route_plan import Plan
from ncosolve.engines.route_search import PARAMETERS
from ncosolve.problems.base import replace
from ncosolve.search.random import seed_state
from ncosolve.search.route_books import pack, unpack
from ncosolve.solving import solve


def make_plan(instance):
    return Plan(Task(instance, Deadline(), Incumbent(instance, Deadline()), parameters=PARAMETERS))


@pytest.mark.parametrize("problem", ["cvrp", "vrptw"])
def test_a_part_moves_its_members_only(problem):
    instance = ncosolve.generate(problem, 120, seed=4)
    plan = make_plan(instance)
    whole = solve(instance, "route-search", max_iterations=200).routes
    mine = [np.asarray(route) for route in whole[::2]]
    members = np.concatenate(mine)
    part = RoutePart(plan, seed_state(1), pack(mine), len(mine) + 1, members)
    before = part.length
    part.step(3000, plan.stops.unit, plan.removals)
    assert part.length <= before
    for routes in (part.current(), part.best()):
        assert sorted(routes[0]) == sorted(members)
    rest = [route for k, route in enumerate(whole) if k % 2]
    check = instance.check(instance.answer([*unpack(*part.best()), *rest]))
    assert check.feasible
    others = sum(instance.distance.matrix()[a, b] for r in rest for a, b in zip([0, *r], [*r, 0], strict=True))
    assert check.cost == pytest.approx(part.length + others)


@pytest.mark.parametrize(("problem", "threads"), [("cvrp", 2), ("vrptw", 3)])
def test_threads_share_a_solution_and_equal_seeds_give_equal_routes(problem, threads):
    instance = ncosolve.generate(problem, 350, seed=2)
    one, again = (
        solve(instance, "route-search", threads=threads, seed=5, max_iterations=9000).routes for _ in range(2)
    )
    assert list(map(list, one)) == list(map(list, again))
    alone = solve(instance, "route-search", seed=5, max_iterations=1000)
    assert instance.check(instance.answer(one)).cost < alone.cost


def test_threads_keep_a_limited_fleet():
    instance = ncosolve.generate("cvrp", 250, seed=1)
    few = int(np.ceil(instance.demand.sum() / instance.capacity)) + 1
    limited = replace(instance, max_vehicles=few)
    assert len(solve(limited, "route-search", threads=2, max_iterations=6000).routes) <= few


def test_threads_save_vehicles_first():
    instance = replace(ncosolve.generate("vrptw", 250, seed=1), objective="vehicles")
    shortest = solve(replace(instance, objective="distance"), "route-search", max_iterations=3000)
    fewest = solve(instance, "route-search", threads=2, max_iterations=20_000)
    assert len(fewest.routes) < len(shortest.routes)


def test_one_route_for_all_is_no_obstacle_to_threads():
    instance = ncosolve.CVRP(coords=np.random.default_rng(0).uniform(0, 99, (231, 2)), demand=[0] * 231, capacity=1)
    assert solve(instance, "route-search", threads=2, max_iterations=2000).feasible
