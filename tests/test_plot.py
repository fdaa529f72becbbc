"""Drawings hold what they should: every leg of every route, every window, and nothing else."""

import sys

import numpy as np
import pytest

from ncosolve.errors import InputError, MissingExtra
from ncosolve.plot import panels, plot_solution
from ncosolve.problems.cvrp import CVRP
from ncosolve.problems.milp import MILP
from ncosolve.problems.tsp import TSP
from ncosolve.problems.tspdl import TSPDL
from ncosolve.problems.tsptw import TSPTW
from ncosolve.problems.vrptw import VRPTW
from ncosolve.solution import Solution

SQUARE = np.array([[0.0, 0.0], [0.0, 10.0], [10.0, 10.0], [10.0, 0.0]])
TABLE = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


def drawn_lines(axes):
    """Every line of an Axes as an array of points."""
    from matplotlib.collections import LineCollection

    found = [c for c in axes.collections if isinstance(c, LineCollection)]
    return [np.asarray(line) for collection in found for line in collection.get_segments()]


def tsptw(due, **fields):
    return TSPTW(ready_time=[0, 0, 4, 0], due_date=due, **fields)


def test_a_tour_is_one_closed_line_through_all_nodes_in_order():
    figure = plot_solution(Solution.of(TSP(coords=SQUARE), [0, 2, 1, 3]))
    (line,) = drawn_lines(figure.axes[0])
    assert np.array_equal(line, SQUARE[[0, 2, 1, 3, 0]])
    assert figure.axes[0].get_aspect() == 1.0


def test_routes_of_a_large_instance_are_drawn_with_their_legs_to_the_depot():
    rng = np.random.default_rng(3)
    xy = rng.uniform(0, 100, (61, 2))
    instance = CVRP(coords=xy, demand=[0] + [1] * 60, capacity=20)
    routes = np.arange(1, 61).reshape(3, 20)
    lines = drawn_lines(plot_solution(Solution.of(instance, routes)).axes[0])
    length = sum(np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines)
    assert length == pytest.approx(Solution.of(instance, routes).cost)


def test_each_route_has_a_colour_of_its_own():
    from matplotlib.collections import LineCollection

    instance = CVRP(coords=SQUARE, demand=[0, 1, 1, 1], capacity=1)
    axes = plot_solution(Solution.of(instance, [[1], [2], [3]])).axes[0]
    (lines,) = [c for c in axes.collections if isinstance(c, LineCollection)]
    assert len({tuple(colour) for colour in lines.get_colors()}) == 3


def test_geographic_coordinates_have_the_longitude_across():
    from ncosolve.problems.distance import Distance

    distance = Distance(metric="geo", coords=np.array([[16.47, 96.10], [14.05, 98.12], [22.00, 92.30]]))
    axes = plot_solution(Solution.of(TSP(distance), [0, 1, 2])).axes[0]
    assert axes.get_xlabel() == "longitude"
    assert np.array_equal(drawn_lines(axes)[0][0], [96.10, 16.47])


def test_windows_without_coordinates_are_one_panel_with_waits_and_services():
    instance = tsptw([20, 20, 20, 20], distance=TABLE, service_time=[0, 1, 0, 0])
    figure = plot_solution(Solution.of(instance, [0, 1, 2, 3]))
    (axes,) = figure.axes
    spans = [(float(line[0, 0]), float(line[1, 0])) for line in drawn_lines(axes)]
    # windows, then arrival to start, then start to end: node 1 at 1 served to 2, node 2 reached at 3, open at 4
    assert spans == [
        (0, 20), (4, 20), (0, 20), (0, 20),
        (1, 1), (3, 4), (5, 5), (8, 8),
        (1, 2), (4, 4), (5, 5), (8, 8),
    ]  # fmt: skip
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2", "3", "depot"]


def test_a_late_service_is_marked_and_the_title_says_infeasible():
    solution = Solution.of(tsptw([20, 20, 20, 4.5], distance=TABLE), [0, 1, 2, 3])
    figure = plot_solution(solution)
    late = figure.axes[0].collections[-1]
    assert np.array_equal(late.get_offsets(), [[5.0, 2.0]])
    assert "infeasible" in figure.get_suptitle()


def test_open_windows_and_a_fleet_get_a_map_and_a_panel():
    instance = VRPTW(
        coords=SQUARE, demand=[0, 1, 1, 1], capacity=2, ready_time=[0] * 4, due_date=[np.inf] * 4, max_vehicles=3
    )
    figure = plot_solution(Solution.of(instance, [[1, 2], [3]]))
    assert len(figure.axes) == 2
    assert np.isfinite(figure.axes[1].get_xlim()).all()


def test_draft_limits_are_drawn_against_the_load_on_arrival():
    instance = TSPDL(coords=SQUARE, demand=[0, 1, 1, 1], draft_limit=[3, 3, 1, 3])
    axes = plot_solution(Solution.of(instance, [0, 1, 2, 3])).axes[1]
    assert list(axes.lines[0].get_ydata()) == [3, 2, 1]
    assert np.array_equal(axes.collections[-1].get_offsets(), [[2.0, 2.0]])  # port 2: load 2, limit 1


@pytest.mark.parametrize(
    ("instance", "answer"),
    [
        (TSP(coords=[[0, 0]]), [0]),
        (CVRP(coords=[[0, 0]], demand=[0], capacity=1), []),
        (VRPTW(coords=[[0, 0]], demand=[0], capacity=1, ready_time=[0], due_date=[1]), []),
        (TSPTW(coords=[[0, 0]], ready_time=[0], due_date=[1]), [0]),
        (TSPDL(coords=[[0, 0]], demand=[0], draft_limit=[0]), [0]),
        (TSP(coords=[[5, 5]] * 3), [0, 1, 2]),
    ],
)
def test_degenerate_instances_are_drawn(tmp_path, instance, answer):
    path = tmp_path / "tiny.png"
    plot_solution(Solution.of(instance, answer), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_thousand_nodes_are_written_in_every_panel(tmp_path):
    rng = np.random.default_rng(0)
    xy = rng.uniform(0, 1, (1000, 2))
    instance = VRPTW(
        coords=xy, demand=np.r_[0, np.ones(999)], capacity=50, ready_time=np.zeros(1000), due_date=np.full(1000, 9.0)
    )
    path = tmp_path / "large.svg"
    plot_solution(Solution.of(instance, np.array_split(np.arange(1, 1000), 20)), path)
    assert path.read_bytes().startswith(b"<?xml")
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_to_draw_is_an_input_error():
    milp = MILP([1.0], [[1.0]], [0.0], [1.0])
    for instance, answer in ((milp, [0.0]), (TSP(TABLE), [0, 1, 2, 3])):
        with pytest.raises(InputError, match="nothing to draw"):
            plot_solution(Solution.of(instance, answer))


def test_an_unknown_suffix_and_an_unwritable_place_are_input_errors(tmp_path):
    solution = Solution.of(TSP(coords=SQUARE), [0, 1, 2, 3])
    with pytest.raises(InputError, match=r"suffix '\.xyz', expected one of .*png"):
        plot_solution(solution, tmp_path / "a.xyz")
    with pytest.raises(InputError, match=r"nowhere/a\.png: cannot be written"):
        plot_solution(solution, tmp_path / "nowhere" / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(MissingExtra, match=r"ncosolve\[plot\]"):
        panels(TSP(coords=SQUARE))


def test_pyplot_does_not_get_to_know_the_figure():
    from matplotlib._pylab_helpers import Gcf

    before = len(Gcf.figs)
    figure = plot_solution(Solution.of(TSP(coords=SQUARE), [0, 1, 2, 3]))
    assert len(Gcf.figs) == before
    assert figure.canvas.manager is None
