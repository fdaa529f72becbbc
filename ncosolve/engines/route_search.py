"""Our own CVRP and VRPTW engine: savings or insertion start, ruin and recreate, annealing by the budget."""

from ncosolve.engines.base import Outcome, Task
from ncosolve.engines.route_annealing import RouteAnnealing
from ncosolve.engines.route_plan import Plan
from ncosolve.engines.route_team import LEAST_SHARE, RouteTeam
from ncosolve.engines.search_loop import run_searches

PROBLEMS = ("cvrp", "vrptw")
PARAMETERS = {"removals": 9.0, "start_temperature": 3.0}
"""Customers that a ruin removes, in the mean; the least temperature at the start, in mean distances to the five nearest
customers."""
CHUNK = 200


def run(task: Task) -> Outcome:
    """Search until the task is over; see `ncosolve.engines.base.Engine`."""
    plan = Plan(task)
    if task.threads == 1 or plan.n <= LEAST_SHARE * task.threads:
        return Outcome(run_searches(task, lambda seed: RouteAnnealing(plan, seed), CHUNK))
    with RouteTeam(plan, task.seed, task.threads, clocked=task.max_iterations is None) as team:
        return Outcome(run_searches(task, lambda _: team, CHUNK, count=1))
