"""Axes and frames of the interactive figures, as the plain data that plotly.js draws."""

import html
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ncosolve.bench.looks import Look
from ncosolve.bench.statistics import CAP
from ncosolve.problems.base import FloatArray

LINEAR = 1e-4
"""Gaps up to this one, 0.01 %, are drawn on a linear scale and larger ones on a logarithmic one, so that 0, negative
gaps and 100 % fit on one axis."""
INK, GRID, MUTED = "#1f2933", "#e6e9ed", "#8a94a0"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LONGEST_LABEL = 26
"""Letters of a name on an axis or in a legend."""


def scaled(gaps: ArrayLike) -> FloatArray:
    """Where gaps lie on the axis; rounded, for more digits only make the page larger."""
    values = np.asarray(gaps, dtype=np.float64)
    return np.round(np.sign(values) * np.log10(1 + np.abs(values) / LINEAR), 4) + 0.0


def gap_axis(gaps: ArrayLike) -> dict[str, Any]:
    """An axis from the smallest to the largest gap; 0 is on it unless all gaps are far from it."""
    values = np.asarray(gaps, dtype=np.float64)
    low, high = _ends(float(values.min()), float(values.max())) if values.size else (0.0, CAP)
    left, right = scaled([low, high]).tolist()
    margin = 0.04 * (right - left)
    narrow = right - left < 2.2
    ticks = _ticks(low, high, LINEAR if narrow else 10 * LINEAR, (1, 2, 5) if narrow else (1,))
    return {
        "title": {"text": "gap, %"},
        "range": [left - margin, right + margin],
        "tickvals": scaled(ticks).tolist(),
        "ticktext": [f"{100 * tick:g}".replace("-", "\N{MINUS SIGN}") for tick in ticks],
        "tickangle": 0,
        "zeroline": True,
        "zerolinecolor": MUTED,
        "zerolinewidth": 1,
        "gridcolor": GRID,
    }


def _ends(low: float, high: float) -> tuple[float, float]:
    """Where an axis ends, so that there is a tick between."""
    if low <= 10 * LINEAR:
        return min(0.0, low), max(10 * LINEAR, high)
    return (low, high) if high > 2.5 * low else (low / 1.6, 1.6 * high)


def _ticks(low: float, high: float, smallest: float, steps: tuple[int, ...]) -> list[float]:
    """0 and the steps of each power of ten from the smallest on, as far as they lie between low and high."""
    reach = max(-low, high)
    powers = range(round(math.log10(smallest)), math.ceil(math.log10(reach) - 1e-9) + 1)
    sizes = [step * 10.0**power for power in powers for step in steps]
    ticks = [*(-size for size in reversed(sizes)), 0.0, *sizes]
    return [tick for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]


def frame(height: int, x: dict[str, Any], y: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The layout that all figures share."""
    return {
        "height": height,
        "margin": {"l": 10, "r": 14, "t": 10, "b": 10},
        "font": {"family": FONT, "size": 12.5, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": _axis(x),
        "yaxis": _axis(y),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "hoverlabel": {"font": {"family": FONT, "size": 12.5, "color": INK}, "bgcolor": "#fff", "bordercolor": MUTED},
        "modebar": {"bgcolor": "rgba(255,255,255,0.85)", "color": MUTED, "activecolor": INK},
        "dragmode": False,  # so that a finger scrolls the page
        **more,
    }


def _axis(given: dict[str, Any]) -> dict[str, Any]:
    return {"gridcolor": GRID, "linecolor": MUTED, "zeroline": False, "automargin": True, "ticks": "outside",
            "ticklen": 4, "tickcolor": MUTED, **given}  # fmt: skip


def line(look: Look, width: float = 2.0) -> dict[str, Any]:
    """The line of a solver."""
    return {"color": look.colour, "dash": look.dash, "width": width}


def marker(look: Look, size: float = 9.0) -> dict[str, Any]:
    """The symbol of a solver."""
    return {
        "color": look.colour,
        "symbol": look.symbol + ("-open" if look.hollow else ""),
        "size": size + 2 if look.symbol.startswith("triangle") else size,
        "line": {"width": 1.6 if look.hollow else 0.6, "color": look.colour if look.hollow else "#ffffff"},
    }


def label(name: str, longest: int = LONGEST_LABEL) -> str:
    """A name as plotly.js should show it: its own little markup switched off, and cut where it would take the room."""
    cut = name if len(name) <= longest else name[: longest - 1] + "…"
    return html.escape(cut, quote=False)
