"""The figure of gaps by instance and solver, on which hard instances stand out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ncosolve.bench.axes import frame, gap_axis, label, marker, scaled
from ncosolve.bench.findings import Mark, ProblemStudy
from ncosolve.bench.gaps import Outcome
from ncosolve.bench.looks import Look
from ncosolve.bench.wording import cost, count, per_cent

MOST = 40
"""So many instances are shown, the hardest ones."""
LANE, GAP, FRAME = 11, 9, 110
"""Pixels a solver takes in an instance's row, between rows, and around all of them."""


def strip(problem: ProblemStudy, mark: Mark, looks: Mapping[str, Look]) -> dict[str, Any]:
    """One row an instance, the hardest on top; one lane a solver in each row."""
    rows = _hardest(mark)
    names = [problem.instances[k] for k in rows]
    lanes = np.linspace(-0.36, 0.36, len(mark.solvers)) if len(mark.solvers) > 1 else np.zeros(1)
    runs: dict[tuple[str, str], list[Outcome]] = {}
    for each in mark.outcomes:
        runs.setdefault((each.row.solver, each.row.instance), []).append(each)
    traces: list[dict[str, Any]] = []
    for solver, lane in zip(mark.solvers, lanes, strict=True):
        places = [k for k, name in enumerate(names) if (solver, name) in runs]
        found = [runs[solver, names[k]] for k in places]
        traces += _traces(problem, solver, looks[solver], [k + float(lane) for k in places], found)
    y = {
        "tickvals": list(range(len(names))),
        "ticktext": [label(name) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
    }
    bands = [
        {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": k - 0.5, "y1": k + 0.5, "layer": "below",
         "fillcolor": "rgba(31,41,51,0.035)", "line": {"width": 0}}
        for k in range(0, len(names), 2)
    ]  # fmt: skip
    shown = [each.gap for each in mark.outcomes if each.row.instance in set(names)]
    height = FRAME + len(names) * (LANE * len(mark.solvers) + GAP)
    return {"data": traces, "layout": frame(height, gap_axis(shown), y, shapes=bands, hovermode="closest")}


def _hardest(mark: Mark) -> list[int]:
    """The numbers of the instances that anyone was run on, by their mean gap over solvers."""
    ran = np.flatnonzero(~np.isnan(mark.gaps).all(axis=1))
    order = np.argsort(-np.nanmean(mark.gaps[ran], axis=1), kind="stable")
    return ran[order[:MOST]].tolist()


def _traces(
    problem: ProblemStudy, solver: str, look: Look, places: list[float], found: list[list[Outcome]]
) -> list[dict[str, Any]]:
    """The dots of a solver with the range of its seeds, and crosses where no seed has an answer."""
    gaps = [[each.gap for each in runs] for runs in found]
    middle = scaled([np.mean(each) for each in gaps])
    dots = {
        "x": middle.tolist(),
        "y": places,
        "type": "scatter",
        "mode": "markers",
        "name": label(solver),
        "legendgroup": solver,
        "marker": marker(look, 8.5),
        "error_x": {
            "type": "data",
            "array": (scaled([max(each) for each in gaps]) - middle).tolist(),
            "arrayminus": (middle - scaled([min(each) for each in gaps])).tolist(),
            "thickness": 1.4,
            "width": 0,
        },
        "customdata": [_story(problem, runs) for runs in found],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    lost = [k for k, runs in enumerate(found) if all(each.cost is None for each in runs)]
    crosses = {
        "x": middle[lost].tolist(),
        "y": [places[k] for k in lost],
        "type": "scatter",
        "mode": "markers",
        "legendgroup": solver,
        "showlegend": False,
        "hoverinfo": "skip",
        "marker": {"symbol": "x-thin-open", "size": 17, "color": look.colour, "line": {"width": 1.6}},
    }
    return [dots, crosses] if lost else [dots]


def _story(problem: ProblemStudy, runs: list[Outcome]) -> str:
    """What the runs of a solver on an instance came to, for the hover."""
    first = runs[0].row
    gaps = [each.gap for each in runs]
    costs = sorted(each.cost for each in runs if each.cost is not None)
    reference = problem.references.get(first.instance)
    lines = [
        f"<b>{label(first.instance, 80)}</b> (n = {first.n:,})",
        label(first.solver, 80),
        label(f"gap {per_cent(float(np.mean(gaps)))} %, from {per_cent(min(gaps))} to {per_cent(max(gaps))}", 80)
        + f" over {count(len(runs), 'run')}",
    ]
    if costs:
        lines.append(f"cost {cost(costs[0])}" + (f" … {cost(costs[-1])}" if costs[-1] != costs[0] else ""))
    if reference is not None:
        lines.append(f"{'best known' if reference.published else 'best found here'} {cost(reference.cost)}")
    missing = len(runs) - len(costs)
    if missing:
        lines.append(f"{missing} without an answer")
    return "<br>".join(lines)
