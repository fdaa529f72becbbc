"""Solutions as GeoJSON (RFC 7946), for maps: a point a node, a line a route."""

import json
from typing import Any

import numpy as np

from ncosolve.errors import InputError
from ncosolve.problems.base import FloatArray, IntArray
from ncosolve.problems.distance import Distance
from ncosolve.solution import Solution


def dumps(solution: Solution) -> str:
    """A FeatureCollection of nodes (``node``, and ``demand`` where there is one) and routes (``route``, ``load``).

    Coordinates stand as they are in the instance, x before y; those of the metric "geo" become longitude and latitude
    in degrees.

    Raises
    ------
    InputError
        When the instance has no coordinates.
    """
    instance: Any = solution.instance
    require_coords(instance)
    places = _positions(instance.distance)
    demand = getattr(instance, "demand", None)
    routes = [solution.answer[1:]] if instance.kind == "tour" else solution.answer
    features = [_point(k, place, demand) for k, place in enumerate(places.tolist())]
    features += [_line(k, route, places, demand) for k, route in enumerate(routes, 1)]
    about = {"name": instance.name, "problem": instance.problem, "cost": solution.cost}
    return json.dumps({"type": "FeatureCollection", "properties": about, "features": features}) + "\n"


def require_coords(instance: Any) -> None:
    """InputError when the instance has no coordinates."""
    if instance.kind == "values" or instance.distance.coords is None:
        raise InputError(f"GeoJSON needs coordinates, and this {instance.problem} has none")


def _positions(distance: Distance) -> FloatArray:
    assert distance.coords is not None
    if distance.metric != "geo":
        return distance.coords
    whole = np.trunc(distance.coords)
    return (whole + 5.0 * (distance.coords - whole) / 3.0)[:, ::-1]


def _point(node: int, place: list[float], demand: FloatArray | None) -> dict[str, Any]:
    about: dict[str, Any] = {"node": node, "depot": node == 0}
    if demand is not None:
        about["demand"] = float(demand[node])
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": place}, "properties": about}


def _line(number: int, route: IntArray, places: FloatArray, demand: FloatArray | None) -> dict[str, Any]:
    path = places[np.concatenate([[0], route, [0]])]
    about: dict[str, Any] = {"route": number, "nodes": route.tolist()}
    if demand is not None:
        about["load"] = float(demand[route].sum())
    return {"type": "Feature", "geometry": {"type": "LineString", "coordinates": path.tolist()}, "properties": about}
