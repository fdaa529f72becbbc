"""Drawings of solutions: the map of a tour or of routes, time windows, loads against draft limits."""

import colorsys
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncosolve.errors import InputError, MissingExtra
from ncosolve.formats.text import save
from ncosolve.problems.base import TIME_TOLERANCE, FloatArray, IntArray
from ncosolve.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELLED = 30
"""Up to this many nodes, each is labelled with its number."""
NAMED_ROWS = 60
"""Up to this many rows of windows, each is labelled with its node."""
RED, BLUE, INK, GREY, PALE = "#c62828", "#1f77b4", "#263238", "#8a949e", "#d5dde3"

Colour = str | tuple[float, float, float]


def plot_solution(solution: Solution, path: str | Path | None = None) -> "Figure":
    """Draw a solution.

    A tour or routes are drawn on the coordinates, one colour a route and the depot as a square; TSPTW and VRPTW get a
    second panel with each visit in its time window, TSPDL one with the load against the draft limits.

    Parameters
    ----------
    solution : Solution
        What to draw, feasible or not.
    path : str or Path, optional
        Where to write it, in the format that the suffix names; whole or not at all.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, known to no global state of matplotlib.

    Raises
    ------
    MissingExtra
        When matplotlib is not installed.
    InputError
        When there is nothing to draw, or the file cannot be written.
    """
    names = panels(solution.instance, path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5 * len(names), 7.0), layout="constrained")
    figure.suptitle(_title(solution), color=INK)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        _PANEL[name](axes, solution)
    if path is not None:
        drawing = io.BytesIO()
        figure.savefig(drawing, format=Path(path).suffix[1:].lower(), dpi=150)
        save(path, drawing.getvalue())
    return figure


def panels(instance: Any, path: str | Path | None = None) -> list[str]:
    """What will be drawn of an instance: "map", "windows", "draft"; asked before a search, it spares a vain one.

    Raises
    ------
    MissingExtra
        When matplotlib is not installed.
    InputError
        When there is nothing to draw, or the suffix of ``path`` names no format.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    known = FigureCanvasBase.get_supported_filetypes()
    if path is not None and Path(path).suffix[1:].lower() not in known:
        raise InputError(f"has the suffix {Path(path).suffix!r}, expected one of {', '.join(sorted(known))}", str(path))
    names = []
    if instance.kind != "values" and instance.distance.coords is not None:
        names.append("map")
    if hasattr(instance, "due_date"):
        names.append("windows")
    if hasattr(instance, "draft_limit"):
        names.append("draft")
    if not names:
        why = "has no tour or routes" if instance.kind == "values" else "has no coordinates"
        raise InputError(f"{instance.problem} {why}: nothing to draw", where="plot")
    return names


def _title(solution: Solution) -> str:
    instance = solution.instance
    parts = [instance.name or instance.problem.upper(), f"cost {solution.cost:,.2f}".removesuffix(".00")]
    if instance.kind == "routes":
        parts.append(f"{len(solution.answer)} routes")
    if not solution.feasible:
        parts.append("infeasible")
    return "   ".join(parts)


def _routes(solution: Solution) -> list[IntArray]:
    """The visits of each route without the depot; a tour is one route."""
    return (list(solution.answer) if solution.instance.kind == "routes" else [solution.answer[1:]]) or [
        np.empty(0, np.int64)
    ]


def _colours(solution: Solution) -> list[Colour]:
    """A colour a route that differs much from its neighbours': steps of the golden ratio around the hues."""
    if solution.instance.kind != "routes":
        return [BLUE]
    shades = ((0.75, 0.80), (0.90, 0.60), (0.55, 0.90))
    count = len(_routes(solution))
    return [colorsys.hsv_to_rgb((0.58 + 0.618034 * k) % 1.0, *shades[k % len(shades)]) for k in range(count)]


def _map(axes: "Axes", solution: Solution) -> None:
    from matplotlib.collections import LineCollection

    instance: Any = solution.instance
    xy, routes, colours = _plane(instance), _routes(solution), _colours(solution)
    width = float(np.clip(2.2 - 0.4 * np.log10(instance.n), 0.5, 1.8))
    paths = [np.concatenate([[0], route, [0]]) for route in routes]
    if instance.kind == "routes" and instance.n > LABELLED:
        spokes = [xy[[0, node]] for route in routes for node in (route[0], route[-1])]
        faint = [colour for colour in colours for _ in range(2)]
        axes.add_collection(LineCollection(spokes, colors=faint, linewidths=0.5 * width, alpha=0.35, zorder=1))
        paths = routes
    axes.add_collection(LineCollection([xy[path] for path in paths], colors=colours, linewidths=width, zorder=2))
    size = float(np.clip(3000 / instance.n, 1.0, 28.0))
    for route, colour in zip(routes, colours, strict=True):
        axes.scatter(xy[route, 0], xy[route, 1], s=size, color=colour, linewidths=0, zorder=3)
    axes.scatter(xy[:1, 0], xy[:1, 1], s=max(40.0, size), c=RED, marker="s", edgecolors="white", zorder=4)
    if instance.n <= LABELLED:
        for node, at in enumerate(xy):
            axes.annotate(str(node), at, xytext=(4, 4), textcoords="offset points", fontsize=8, color=INK)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    geographic = instance.distance.metric == "geo"
    _finish(axes, "longitude" if geographic else "x", "latitude" if geographic else "y")


def _plane(instance: Any) -> FloatArray:
    """Where each node lies on the page; TSPLIB gives the latitude first."""
    coords: FloatArray = instance.distance.coords
    return coords[:, [1, 0]] if instance.distance.metric == "geo" else coords[:, :2]


def _windows(axes: "Axes", solution: Solution) -> None:
    """A row a visit, in order: its window as a pale bar, the wait as a thin line, the service as a dot and a bar."""
    instance: Any = solution.instance
    routes = _routes(solution)
    node, arrival, start = (
        np.concatenate(parts) for parts in zip(*(_schedule(instance, r) for r in routes), strict=True)
    )
    lengths = [len(route) + 1 for route in routes]
    row = np.arange(len(node)) + np.repeat(np.arange(len(routes)), lengths)  # an empty row between routes
    colour = [shade for shade, length in zip(_colours(solution), lengths, strict=True) for _ in range(length)]
    end = start + np.where(node == 0, 0.0, instance.service_time[node])
    closes = instance.due_date[node]
    horizon = float(max(end.max(), closes.max(where=np.isfinite(closes), initial=0.0)))
    thick = float(np.clip(300.0 / len(row), 0.4, 7.0))
    _bars(axes, row, instance.ready_time[node], np.minimum(closes, horizon), PALE, thick)
    _bars(axes, row, arrival, start, GREY, max(0.4, 0.25 * thick))
    _bars(axes, row, start, end, colour, 0.6 * thick)
    late = start > closes + TIME_TOLERANCE * np.maximum(1.0, np.abs(start))
    size = float(np.clip(1200.0 / len(row), 1.0, 22.0))
    axes.scatter(start, row, s=size, c=colour, linewidths=0, zorder=3)
    axes.scatter(start[late], row[late], s=max(6.0, size), c=RED, marker="x", linewidths=0.8, zorder=4)
    axes.set_xlim(-0.02 * horizon, 1.02 * horizon)
    axes.set_ylim(row[-1] + 1, -1)
    named = len(row) <= NAMED_ROWS
    axes.set_yticks(row if named else [], [str(each) if each else "depot" for each in node] if named else [])
    axes.set_title("services in their time windows", fontsize=10, color=INK)
    _finish(axes, "time", "visits in order")


def _bars(axes: "Axes", row: IntArray, left: FloatArray, right: FloatArray, colour: Any, width: float) -> None:
    from matplotlib.collections import LineCollection

    lines = np.stack([np.stack([left, row], axis=1), np.stack([right, row], axis=1)], axis=1)
    axes.add_collection(LineCollection(list(lines), colors=colour, linewidths=width))


def _schedule(instance: Any, route: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """The visits of a route with the return to the depot, when each is reached and when its service starts."""
    visits = np.concatenate([route, [0]])
    stops = np.concatenate([[0], visits])
    travel = instance.distance.between(stops[:-1], stops[1:])
    arrival, start = np.empty(len(visits)), np.empty(len(visits))
    leave = instance.ready_time[0]
    for k, node in enumerate(visits):
        arrival[k] = leave + travel[k]
        start[k] = max(arrival[k], instance.ready_time[node])
        leave = start[k] + instance.service_time[node]
    return visits, arrival, start


def _draft(axes: "Axes", solution: Solution) -> None:
    """The load on arrival at each port of the tour, and the limit there."""
    instance: Any = solution.instance
    ports = solution.answer[1:]
    total = float(instance.demand.sum())
    load = total - np.cumsum(instance.demand[ports]) + instance.demand[ports]
    limit = np.minimum(instance.draft_limit[ports], 1.05 * total)
    place = np.arange(1, len(ports) + 1)
    over = load > limit + 1e-9 * max(1.0, total)
    size = float(np.clip(2000 / max(1, len(ports)), 3.0, 36.0))
    axes.vlines(place, load, limit, colors=PALE, linewidth=min(1.0, 50.0 / instance.n))
    axes.step(place, load, where="mid", color=BLUE, linewidth=1.5, label="load on arrival")
    axes.scatter(place, limit, s=size, c=INK, marker="v", linewidths=0, label="draft limit", zorder=3)
    if over.any():
        axes.scatter(place[over], load[over], s=24.0, c=RED, marker="x", label="load over the limit", zorder=4)
    if instance.n <= LABELLED:
        axes.set_xticks(place, [str(port) for port in ports])
    axes.set_ylim(bottom=0.0)
    axes.set_title("load against draft limits", fontsize=10, color=INK)
    axes.legend(frameon=False, fontsize=8)
    _finish(axes, "ports in order of visit", "load")


_PANEL = {"map": _map, "windows": _windows, "draft": _draft}


def _finish(axes: "Axes", across: str, up: str) -> None:
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=8)
