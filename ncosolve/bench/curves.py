"""The interactive figures of a problem: gap over time, performance profile, gaps by instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncosolve.bench.axes import frame, gap_axis, label, line, marker, scaled
from ncosolve.bench.findings import Mark, ProblemStudy
from ncosolve.bench.gaps import trajectory
from ncosolve.bench.looks import Look
from ncosolve.bench.statistics import CAP, counted, performance_profile
from ncosolve.bench.strip import strip
from ncosolve.bench.table import Row
from ncosolve.bench.wording import per_cent, whole_per_cent
from ncosolve.errors import MissingExtra
from ncosolve.problems.base import FloatArray

STEPS = 160
"""Times at which a curve is evaluated."""
EARLIEST = 0.01
"""Seconds at which the time axis starts at the earliest."""
CLOSEST = 1e-4
"""Distance from the best solver at which a performance profile starts; what is closer is drawn there."""


@dataclass(frozen=True)
class Figure:
    """A figure: what plotly.js draws, its title, and one sentence on how to read it."""

    title: str
    note: str
    drawing: dict[str, Any]


def plotly_script() -> str:
    """All of plotly.js, to stand in the page once.

    Raises
    ------
    MissingExtra
        When plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingExtra("plotly", "plot") from None
    return get_plotlyjs()


def figures(problem: ProblemStudy, looks: Mapping[str, Look]) -> list[Figure]:
    """The figures of a problem."""
    last = problem.marks[-1]
    return [
        Figure(
            "Gap over time",
            "Median over instances, with the band between the quartiles. Symbols joined by dots: solvers whose "
            "runs do not tell of earlier times.",
            anytime(problem, looks),
        ),
        Figure(
            f"Performance profile at {last.seconds:g} s",
            "Share of instances on which a solver is within a distance of the best one there; higher is better.",
            profile(last, looks),
        ),
        Figure(
            f"Instances at {last.seconds:g} s",
            "Mean gap over seeds with the range of the seeds; the hardest instances on top. A cross: no answer.",
            strip(problem, last, looks),
        ),
    ]


def anytime(problem: ProblemStudy, looks: Mapping[str, Look]) -> dict[str, Any]:
    """Median gap over instances against time, on a logarithmic time axis."""
    traces: list[dict[str, Any]] = []
    shown: list[FloatArray] = []
    streaming = {name: rows for name in problem.solvers if (rows := _streaming(problem, name))}
    firsts = [row.history[0][0] for rows in streaming.values() for row in rows if row.solved and row.history]
    begin = max(EARLIEST, min([*firsts, 0.5 * problem.marks[0].seconds]))
    for name in problem.solvers:
        if name in streaming:
            rows = streaming[name]
            times = np.geomspace(begin, max(rows[0].limit, 1.01 * begin), STEPS)
            bands = _quartiles(rows, problem, times)
            traces += _curve(name, looks[name], times, bands)
        else:
            marks = [(mark, mark.solvers.index(name)) for mark in problem.marks if name in mark.solvers]
            bands = np.array([np.nanquantile(mark.gaps[:, k], [0.25, 0.5, 0.75]) for mark, k in marks]).T
            traces.append(_dots(name, looks[name], [mark.seconds for mark, _ in marks], bands))
        shown.append(bands[:, bands[1] < CAP].ravel())
    x = {"type": "log", "title": {"text": "wall-clock time, s"}, "tickformat": "~g", "dtick": 1, "hoverformat": ".3~g"}
    return {"data": traces, "layout": frame(400, x, gap_axis(np.concatenate(shown)), hovermode="x unified")}


def _streaming(problem: ProblemStudy, solver: str) -> list[Row]:
    """The longest runs of a solver, where each tells what it had at any earlier time; otherwise none."""
    rows = [row for row in problem.rows if row.solver == solver]
    longest = [row for row in rows if row.limit == max(row.limit for row in rows)]
    return longest if all(row.anytime for row in longest) else []


def _quartiles(rows: Sequence[Row], problem: ProblemStudy, times: FloatArray) -> FloatArray:
    """Quartiles over instances of the gap at each time, seeds averaged; shape (3, times)."""
    curves: dict[str, list[FloatArray]] = {}
    for row in rows:
        curves.setdefault(row.instance, []).append(trajectory(row, problem.references.get(row.instance), times))
    return np.quantile([np.mean(each, axis=0) for each in curves.values()], [0.25, 0.5, 0.75], axis=0)


def _curve(name: str, look: Look, times: FloatArray, bands: FloatArray) -> list[dict[str, Any]]:
    x = [float(f"{each:.4g}") for each in times]
    edge = {"x": x, "type": "scatter", "mode": "lines", "legendgroup": name, "showlegend": False, "hoverinfo": "skip"}
    thin = {"shape": "hv", "width": 0}
    return [
        {**edge, "y": scaled(bands[0]).tolist(), "line": thin},
        {**edge, "y": scaled(bands[2]).tolist(), "line": thin, "fill": "tonexty", "fillcolor": look.pale},
        {
            "x": x,
            "y": scaled(bands[1]).tolist(),
            "type": "scatter",
            "mode": "lines",
            "name": label(name),
            "legendgroup": name,
            "line": {**line(look), "shape": "hv"},
            "customdata": [_spread(*each) for each in bands.T.tolist()],
            "hovertemplate": "%{customdata}",
        },
    ]


def _dots(name: str, look: Look, times: list[float], bands: FloatArray) -> dict[str, Any]:
    middle = scaled(bands[1])
    return {
        "x": times,
        "y": middle.tolist(),
        "type": "scatter",
        "mode": "lines+markers",
        "name": label(name),
        "line": {**line(look, 1.4), "dash": "dot"},
        "marker": marker(look),
        "error_y": {
            "type": "data",
            "array": (scaled(bands[2]) - middle).tolist(),
            "arrayminus": (middle - scaled(bands[0])).tolist(),
            "thickness": 1.2,
            "width": 4,
        },
        "customdata": [_spread(*each) for each in bands.T.tolist()],
        "hovertemplate": "%{customdata}",
    }


def _spread(lower: float, median: float, upper: float) -> str:
    text = f"{per_cent(median)} % (quartiles {per_cent(lower)} … {per_cent(upper)})"
    return text.replace("<", "&lt;")


def profile(mark: Mark, looks: Mapping[str, Look]) -> dict[str, Any]:
    """The share of the instances in common on which each solver is within a distance of the best one."""
    gaps = counted(mark.gaps[~np.isnan(mark.gaps).any(axis=1)])
    excess = gaps - gaps.min(axis=1, keepdims=True, initial=CAP)
    steps = excess[(excess > CLOSEST) & (gaps < CAP)]
    farthest = max(10 * CLOSEST, 1.3 * float(steps.max(initial=0.0)))
    taus = np.unique(np.concatenate([[CLOSEST], steps, [farthest]]))
    shares = performance_profile(gaps, taus) if len(gaps) else np.zeros((len(mark.solvers), len(taus)))
    traces = [
        {
            "x": np.round(100 * taus, 5).tolist(),
            "y": np.round(100 * share, 2).tolist(),
            "type": "scatter",
            "mode": "lines",
            "name": label(name),
            "line": {**line(looks[name]), "shape": "hv"},
            "customdata": [whole_per_cent(each) for each in share.tolist()],
            "hovertemplate": "%{customdata} % of instances",
        }
        for name, share in zip(mark.solvers, shares, strict=True)
    ]
    title = {"text": "within … percentage points of the best solver"}
    x = {"type": "log", "title": title, "tickformat": "~g", "dtick": 1, "hoverformat": ".3~g"}
    y = {"title": {"text": "share of instances, %"}, "range": [-2, 102]}
    return {"data": traces, "layout": frame(400, x, y, hovermode="x unified")}
