"""TSP: tour lengths by hand, asymmetric matrices, networkx graphs."""

import networkx
import numpy as np
import pytest

from ncosolve import TSP
from ncosolve.errors import InputError

SQUARE = [(0, 0), (0, 3), (4, 3), (4, 0)]


def test_the_closed_tour_is_measured_however_it_is_given():
    instance = TSP(coords=SQUARE)
    for tour in ([0, 1, 2, 3], [2, 3, 0, 1], (3, 2, 1, 0), np.array([1, 0, 3, 2])):
        check = instance.check(instance.answer(tour))
        assert check.cost == 14.0
        assert check.feasible
    assert instance.check([0, 2, 1, 3]).cost == 5 + 4 + 5 + 4


def test_an_asymmetric_tour_costs_its_own_direction():
    instance = TSP([[0, 1, 10], [10, 0, 2], [3, 10, 0]])
    assert instance.check([0, 1, 2]).cost == 6
    assert instance.check([0, 2, 1]).cost == 30
    assert instance.order(instance.answer([0, 1, 2]), 6.0) < instance.order(instance.answer([0, 2, 1]), 30.0)


@pytest.mark.parametrize(("n", "cost"), [(1, 0.0), (2, 6.0), (3, 12.0)])
def test_one_two_and_three_nodes(n, cost):
    instance = TSP(coords=SQUARE[:n])
    assert instance.n == n
    assert instance.check(range(n)).cost == cost
    assert instance.clash() is None


def test_ids_count_from_1_unless_given():
    assert TSP(coords=SQUARE).ids.tolist() == [1, 2, 3, 4]
    assert TSP(coords=SQUARE, ids=[10, 30, 20, 40]).ids.tolist() == [10, 30, 20, 40]


def test_a_graph_becomes_shortest_paths_in_its_own_order():
    graph = networkx.Graph(name="triangle")
    graph.add_weighted_edges_from([("b", "a", 2.0), ("a", "c", 3.0), ("b", "c", 9.0)])
    instance = TSP.from_networkx(graph)
    assert instance.name == "triangle"
    assert instance.distance.matrix().tolist() == [[0, 2, 5], [2, 0, 3], [5, 3, 0]]


def test_a_directed_graph_stays_asymmetric():
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)])
    assert TSP.from_networkx(graph).distance.matrix().tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]


def test_a_graph_in_two_parts_is_refused():
    graph = networkx.Graph()
    graph.add_nodes_from([0, 1])
    with pytest.raises(InputError, match=r"^distance: from node 0 to 1 is inf"):
        TSP.from_networkx(graph)


@pytest.mark.parametrize(("ids", "message"), [([1, 2], "ids: has shape"), ([4, 4, 5], "ids: holds a number twice")])
def test_ids_must_be_one_each(ids, message):
    with pytest.raises(InputError, match=message):
        TSP(coords=[[0, 0], [1, 0], [0, 1]], ids=ids)


def test_coordinates_for_drawing_must_fit_the_matrix():
    with pytest.raises(InputError, match="coords: are of 2 nodes, the matrix has 4"):
        TSP(np.ones((4, 4)), coords=[[0, 0], [1, 1]])
