"""What all problems share: canonical answers, validated fields, frozen instances, replace()."""

import dataclasses

import numpy as np
import pytest

import ncosolve
from ncosolve.errors import InputError
from ncosolve.problems import PROBLEMS
from ncosolve.problems.base import Problem, Violation, as_routes, as_tour, positive, replace, vector, worst


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_class_offers_the_protocol(problem):
    assert isinstance(ncosolve.generate(problem, 5), Problem)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_instances_are_frozen(problem):
    instance = ncosolve.generate(problem, 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.name = "other"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_replace_changes_one_field_and_keeps_the_rest(problem):
    instance = ncosolve.generate(problem, 6, seed=2)
    copy = replace(instance, name="other")
    assert copy.name == "other"
    assert type(copy) is type(instance)
    for field in dataclasses.fields(instance):
        if field.name not in ("name", "rows"):
            assert np.array_equal(getattr(copy, field.name), getattr(instance, field.name)), field.name


def test_replace_validates_anew():
    instance = ncosolve.generate("cvrp", 5)
    with pytest.raises(InputError, match=r"capacity"):
        replace(instance, capacity=-1)


@pytest.mark.parametrize("raw", [[2, 0, 3, 1], (2, 0, 3, 1), np.array([2.0, 0.0, 3.0, 1.0])])
def test_a_tour_is_rotated_to_start_at_node_0(raw):
    tour = as_tour(raw, 4)
    assert tour.tolist() == [0, 3, 1, 2]
    assert tour.dtype == np.int64


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([0, 1, 2], "node 3 is not visited"),
        ([0, 1, 2, 2], "node 2 is visited more than once"),
        ([0, 1, 2, 4], "node 4 does not exist"),
        ([0, 1, 2, -1], "node -1 does not exist"),
        ([0, 1, 2, 3, 0], "node 0 is visited more than once"),
        ([0, 1, 2.5, 3], "whole node numbers"),
        ([[0, 1], [2, 3]], "flat list"),
        (["a", "b"], "not a list of node numbers"),
        (None, "node numbers"),
        (3, "flat list"),
        ([], "node 0 is not visited"),
        ([0, 1, 2, float("nan")], "node numbers"),
        ([0, 1, 2, float("inf")], "node numbers"),
        ([0, 1, 2, 1e300], "node"),
    ],
)
def test_what_is_no_tour_is_refused_with_a_reason(raw, says):
    with pytest.raises(InputError, match=says):
        as_tour(raw, 4)


def test_routes_lose_their_empty_ones_and_keep_their_order():
    routes = as_routes([[3, 1], [], (2,)], 4)
    assert [route.tolist() for route in routes] == [[3, 1], [2]]
    assert as_routes([], 1) == ()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([[1, 2]], "node 3 is not visited"),
        ([[1, 2], [2, 3]], "node 2 is visited more than once"),
        ([[1, 2], [3, 4]], "node 4 does not exist"),
        ([[0, 1, 2, 3]], "node 0 does not exist"),
        ([], "node 1 is not visited"),
        ([1, 2, 3], "flat list"),
        (7, "not a list of routes"),
        (None, "not a list of routes"),
    ],
)
def test_what_are_no_routes_is_refused_with_a_reason(raw, says):
    with pytest.raises(InputError, match=says):
        as_routes(raw, 4)


def test_a_vector_is_copied_and_read_only():
    source = np.array([1.0, 2.0])
    made = vector(source, 2, "field")
    source[0] = 9.0
    assert made.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"read-only"):
        made[0] = 3.0


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1, 2, 3], r"shape \(3,\), expected \(2,\)"),
        ([1, float("nan")], "entry 1 is nan"),
        ([float("inf"), 1], "entry 0 is inf"),
        ([1, -1], "entry 1 is -1, expected a finite number >= 0"),
        (["a", "b"], "not an array of numbers"),
        ([[1], [2, 3]], "not an array of numbers"),
    ],
)
def test_a_bad_vector_names_the_field_and_the_entry(values, says):
    with pytest.raises(InputError, match=rf"^load: .*{says}"):
        vector(values, 2, "load", low=0.0)


def test_an_open_vector_takes_infinity_but_not_nan():
    assert np.isinf(vector([np.inf], 1, "bound", finite=False)[0])
    with pytest.raises(InputError, match=r"nan"):
        vector([np.nan], 1, "bound", finite=False)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "x", None])
def test_what_is_not_positive_is_refused(value):
    with pytest.raises(InputError, match=r"^size: "):
        positive(value, "size")


def test_the_worst_violation_is_named_and_the_places_counted():
    assert worst("row", np.zeros(3), "row") == []
    (found,) = worst("row", np.array([0.0, 0.5, 2.0]), "row")
    assert found == Violation("row", 2.0, "row 2", 2)
    assert str(found) == "row: row 2, by 2 (2 places)"


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("n", [0, -3, 2.5, float("nan"), "x", None, True])
def test_a_size_that_is_no_whole_number_is_refused(problem, n):
    with pytest.raises(InputError, match=r"^n: "):
        ncosolve.generate(problem, n)


@pytest.mark.parametrize("seed", [-1, 0.5, float("nan"), "x", None])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(InputError, match=r"^seed: "):
        ncosolve.generate("tsp", 5, seed=seed)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_an_unknown_option_is_named(problem):
    with pytest.raises(InputError, match=r"'colour'"):
        ncosolve.generate(problem, 20, colour="red")


def test_an_unknown_problem_is_named():
    with pytest.raises(InputError, match=r"'knapsack' is unknown"):
        ncosolve.generate("knapsack", 5)


def _arrays(instance):
    """All that an instance holds, as flat arrays."""
    values = {field.name: getattr(instance, field.name) for field in dataclasses.fields(instance)}
    if "rows" in values:
        values["rows"] = values["rows"].toarray()
    if "distance" in values:
        values["distance"] = values["distance"].matrix()
    return {key: np.asarray(value).tolist() for key, value in values.items() if key not in ("name", "ids")}


OPTIONS = [
    ("tsp", {}),
    ("tsp", {"layout": "clustered"}),
    ("cvrp", {}),
    ("cvrp", {"recipe": "uniform"}),
    ("cvrp", {"recipe": "clustered"}),
    ("cvrp", {"recipe": "mixed"}),
    *(("vrptw", {"kind": kind}) for kind in ("R1", "R2", "C1", "C2", "RC1", "RC2", "unit")),
    *(("tsptw", {"hardness": hardness}) for hardness in ("easy", "medium", "hard")),
    *(("tspdl", {"hardness": hardness}) for hardness in ("easy", "medium", "hard")),
    *(("milp", {"family": family}) for family in ("setcover", "auction", "facility", "indset", "fold", "unfoldable")),
]


@pytest.mark.parametrize(("problem", "options"), OPTIONS)
def test_equal_seeds_give_equal_instances_and_others_do_not(problem, options):
    first, again, other = (_arrays(ncosolve.generate(problem, 12, seed=seed, **options)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.parametrize(("problem", "options"), OPTIONS)
def test_generators_leave_the_global_random_state_alone(problem, options):
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()
    ncosolve.generate(problem, 12, **options)
    assert np.random.get_state()[1].tolist() == before


@pytest.mark.parametrize(("problem", "options"), [case for case in OPTIONS if case[1].get("family") != "fold"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_smallest_sizes_are_generated(problem, options, n):
    instance = ncosolve.generate(problem, n, **options)
    if options.get("family") != "facility":
        assert instance.n == n
