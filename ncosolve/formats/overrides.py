"""What a caller may say against a file: another problem, rounding, fleet or objective."""

from dataclasses import fields
from typing import Any

from ncosolve.errors import InputError
from ncosolve.problems import module
from ncosolve.problems.base import replace
from ncosolve.problems.distance import round_lengths

_DATA = ("distance", "demand", "capacity", "ready_time", "due_date", "service_time", "draft_limit")
_OPTIONS = {"max_vehicles": ("cvrp", "vrptw"), "objective": ("cvrp", "vrptw", "tsptw")}
_TIMES = ("ready_time", "due_date", "service_time")


def as_problem(instance: Any, problem: str) -> Any:
    """The instance as one of another problem that needs no more data, such as a VRPTW without its windows as a CVRP.

    Raises
    ------
    InputError
        For an unknown problem, or one that needs what the instance does not have.
    """
    made = module(problem).INSTANCE
    if isinstance(instance, made):
        return instance
    has, needs = ({entry.name for entry in fields(kind)} for kind in (instance, made))
    missing = [field for field in _DATA if field in needs - has]
    if missing or "distance" not in needs:
        lacks = f" without {', '.join(missing)}" if missing else ""
        raise InputError(f"the file holds a {instance.problem}{lacks}, no {problem.lower()}", where="problem")
    return made(**{field: getattr(instance, field) for field in needs & has})


def with_rounding(instance: Any, rounding: str) -> Any:
    """The instance with distances under another rule; "dimacs" truncates times to one decimal too.

    Raises
    ------
    InputError
        For an unknown rule, or one that the problem or the metric does not allow.
    """
    if not hasattr(instance, "distance"):
        raise InputError(f"does not apply to {instance.problem}", where="rounding")
    changes = {"distance": instance.distance.with_rounding(rounding)}
    if rounding == "dimacs":
        changes |= {key: round_lengths(getattr(instance, key), rounding) for key in _TIMES if hasattr(instance, key)}
    return replace(instance, **changes)


def with_options(instance: Any, **changes: Any) -> Any:
    """The instance with another ``max_vehicles`` or ``objective``; InputError for a problem that has none."""
    for key in changes:
        if instance.problem not in _OPTIONS[key]:
            raise InputError(f"does not apply to {instance.problem}, only to {', '.join(_OPTIONS[key])}", where=key)
    return replace(instance, **changes)
