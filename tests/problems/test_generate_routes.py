"""Random CVRP and VRPTW instances: the X recipe, the unit square, Solomon-like classes; feasible by construction."""

import numpy as np
import pytest

import ncosolve
from ncosolve.errors import InputError
from ncosolve.problems import cvrp, vrptw
from ncosolve.problems.cvrp_recipes import CUSTOMERS, DEMANDS, DEPOTS, MOST_NODES, usual_capacity
from ncosolve.problems.vrptw_recipes import KINDS


def singles(n):
    return [[k] for k in range(1, n)]


@pytest.mark.parametrize("seed", range(40))
def test_x_instances_keep_their_recipe_whatever_the_seed_picks(seed):
    instance = ncosolve.generate("cvrp", 120, seed=seed)
    coords = instance.distance.coords
    assert len(np.unique(coords, axis=0)) == 120
    assert np.array_equal(coords, np.floor(coords))
    assert coords.min() >= 0
    assert coords.max() <= 1000
    assert instance.distance.rounding == "nint"
    assert instance.demand[1:].min() >= 1
    assert instance.demand.max() <= instance.capacity
    assert instance.check(singles(120)).feasible
    assert instance.clash() is None


def test_the_seed_picks_every_option():
    depots = {tuple(ncosolve.generate("cvrp", 8, seed=seed).distance.coords[0]) for seed in range(30)}
    assert {(0.0, 0.0), (500.0, 500.0)} < depots
    unitary = [ncosolve.generate("cvrp", 30, seed=seed).demand[1:].max() == 1 for seed in range(60)]
    assert 0 < sum(unitary) < 30


@pytest.mark.parametrize(("depot", "at"), [("centre", [500, 500]), ("corner", [0, 0])])
def test_the_depot_can_be_placed(depot, at):
    assert ncosolve.generate("cvrp", 20, seed=5, depot=depot).distance.coords[0].tolist() == at


def test_an_option_given_by_hand_leaves_the_customers_where_they_were():
    free = ncosolve.generate("cvrp", 60, seed=11)
    set_by_hand = ncosolve.generate("cvrp", 60, seed=11, demand="1-100")
    assert np.array_equal(free.distance.coords, set_by_hand.distance.coords)


@pytest.mark.parametrize(
    ("demand", "low", "high", "mean"),
    [
        ("unitary", 1, 1, 1),
        ("1-10", 1, 10, 5.5),
        ("5-10", 5, 10, 7.5),
        ("1-100", 1, 100, 50.5),
        ("50-100", 50, 100, 75),
    ],
)
def test_demands_are_uniform_in_their_range(demand, low, high, mean):
    loads = ncosolve.generate("cvrp", 5000, seed=3, demand=demand, customers="random").demand[1:]
    assert (loads.min(), loads.max()) == (low, high)
    assert loads.mean() == pytest.approx(mean, rel=0.03)
    assert np.array_equal(loads, np.floor(loads))


def test_demands_by_quadrant():
    instance = ncosolve.generate("cvrp", 4000, seed=3, demand="quadrant", customers="random")
    right, upper = (instance.distance.coords[1:] >= 500).T
    loads = instance.demand[1:]
    large = loads[right == upper]
    small = loads[right != upper]
    assert (large.min(), large.max(), small.min(), small.max()) == (51, 100, 1, 50)


@pytest.mark.parametrize("seed", range(5))
def test_many_small_demands_and_few_large_ones(seed):
    loads = ncosolve.generate("cvrp", 2001, seed=seed, demand="many-small").demand[1:]
    assert 0.7 <= (loads <= 10).mean() <= 0.95
    assert loads[loads > 10].min() >= 50


@pytest.mark.parametrize("length", [3, 7.5, 25])
def test_the_capacity_is_that_of_the_route_length(length):
    instance = ncosolve.generate("cvrp", 301, seed=1, demand="1-10", route_length=length)
    assert instance.capacity == np.ceil(length * instance.demand[1:].mean())


def test_a_short_route_length_still_admits_the_largest_demand():
    instance = ncosolve.generate("cvrp", 301, seed=1, demand="many-small", route_length=0.5)
    assert instance.capacity == instance.demand.max()


def test_route_lengths_are_triangular_over_3_to_25():
    lengths = []
    for seed in range(300):
        instance = ncosolve.generate("cvrp", 200, seed=seed, demand="1-100", customers="random")
        lengths.append(instance.capacity / instance.demand[1:].mean())
    assert min(lengths) >= 3
    assert max(lengths) <= 25.1
    assert np.mean(lengths) == pytest.approx((3 + 6 + 25) / 3, rel=0.08)


def _neighbour_distance(coords):
    table = np.linalg.norm(coords[:, None] - coords[None], axis=2)
    np.fill_diagonal(table, np.inf)
    return np.median(table.min(axis=1))


def test_customers_crowd_where_they_are_asked_to():
    """Median distance to the nearest customer: clustered < half and half < uniform."""
    apart = [
        np.mean(
            [
                _neighbour_distance(ncosolve.generate("cvrp", 400, seed=seed, customers=kind).distance.coords[1:])
                for seed in range(5)
            ]
        )
        for kind in ("clustered", "random-clustered", "random")
    ]
    assert apart[0] < 0.7 * apart[1]
    assert apart[1] < 0.9 * apart[2]


@pytest.mark.parametrize("n", [1, 2, 3, 9, 10])
def test_fewer_customers_than_seeds_are_placed_too(n):
    for customers in CUSTOMERS:
        for depot in DEPOTS:
            instance = ncosolve.generate("cvrp", n, seed=2, customers=customers, depot=depot)
            assert len(np.unique(instance.distance.coords, axis=0)) == n
            assert instance.capacity >= 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"recipe": "y"}, "^recipe: is 'y', expected one of x, uniform"),
        ({"depot": "moon"}, "^depot: is 'moon', expected one of random, centre, corner"),
        ({"customers": "none"}, "^customers: "),
        ({"demand": "2-3"}, f"^demand: is '2-3', expected one of {', '.join(DEMANDS)}"),
        ({"route_length": 0}, "^route_length: "),
        ({"recipe": "uniform", "capacity": 8}, "^capacity: is 8, expected a whole number >= 9"),
        ({"recipe": "uniform", "demand": "1-10"}, "^demand: is '1-10', expected one of uniform, heterogeneous"),
    ],
)
def test_bad_cvrp_options_are_refused_by_name(options, says):
    with pytest.raises(InputError, match=says):
        ncosolve.generate("cvrp", 20, **options)


def test_more_nodes_than_the_x_recipe_can_place_are_refused():
    with pytest.raises(InputError, match=r"^n: "):
        ncosolve.generate("cvrp", MOST_NODES + 1)


@pytest.mark.parametrize(
    ("customers", "capacity"),
    [(20, 30), (50, 40), (100, 50), (200, 70), (500, 100), (1000, 200), (2000, 300), (5000, 300)],
)
def test_the_usual_capacities(customers, capacity):
    assert usual_capacity(customers) == capacity
    assert cvrp.generate_batch(1, customers + 1).capacity == capacity


def test_capacities_between_and_beyond_the_usual_sizes():
    assert usual_capacity(1) == 30
    assert usual_capacity(300) == 80
    assert usual_capacity(20_000) == 300
    assert cvrp.generate_batch(1, 51, capacity=123).capacity == 123


def test_batches_of_customers_have_uniform_demands():
    batch = cvrp.generate_batch(1000, 51, seed=6)
    assert batch.coords.shape == (1000, 51, 2)
    assert batch.demand.shape == (1000, 51)
    assert not batch.demand[:, 0].any()
    shares = np.bincount(batch.demand[:, 1:].ravel(), minlength=10)[1:] / 50_000
    assert np.allclose(shares, 1 / 9, atol=0.006)
    assert batch.coords.min() >= 0
    assert batch.coords.max() <= 1
    assert abs(batch.coords.mean() - 0.5) < 0.005


def test_heterogeneous_demands_have_their_published_shares():
    loads = cvrp.generate_batch(1000, 51, seed=6, demand="heterogeneous").demand[:, 1:].ravel()
    shares = np.bincount(loads, minlength=10)[1:] / len(loads)
    assert np.allclose(shares, [0.2, 0.2, 0.04, 0.04, 0.04, 0.04, 0.04, 0.2, 0.2], atol=0.006)


def test_clustered_batches_stay_in_the_square_and_the_depot_near_it():
    batch = cvrp.generate_batch(200, 101, seed=6, layout="clustered")
    points, depot = batch.coords[:, 1:], batch.coords[:, 0]
    assert points.min() >= 0
    assert points.max() <= 1
    assert (depot >= points.min(axis=1) - 0.1).all()
    assert (depot <= points.max(axis=1) + 0.1).all()
    uniform = cvrp.generate_batch(200, 101, seed=6).coords[:, 1:]
    mixed = cvrp.generate_batch(200, 101, seed=6, layout="mixed").coords[:, 1:]
    apart = [np.mean([_neighbour_distance(sample) for sample in group[:20]]) for group in (points, mixed, uniform)]
    assert apart[0] < apart[1] < apart[2]


@pytest.mark.parametrize("recipe", ["uniform", "clustered", "mixed"])
def test_one_unit_square_instance_is_the_first_of_a_batch_of_one(recipe):
    batch = cvrp.generate_batch(1, 30, 4, layout=recipe)
    instance = ncosolve.generate("cvrp", 30, seed=4, recipe=recipe)
    assert np.array_equal(instance.distance.coords, batch.coords[0])
    assert np.array_equal(instance.demand, batch.demand[0])
    assert instance.capacity == batch.capacity
    assert instance.check(singles(30)).feasible


@pytest.mark.parametrize("kind", [*KINDS, "unit"])
@pytest.mark.parametrize("n", [1, 2, 3, 12, 101, 400])
def test_each_customer_can_be_served_by_a_vehicle_of_its_own(kind, n):
    for seed in range(4):
        instance = ncosolve.generate("vrptw", n, seed=seed, kind=kind)
        check = instance.check(singles(n))
        assert check.feasible, check.violations
        assert instance.clash() is None


@pytest.mark.parametrize(
    ("kind", "horizon", "capacity", "service"),
    [
        ("R1", 230, 200, 10),
        ("R2", 1000, 1000, 10),
        ("C1", 1236, 200, 90),
        ("C2", 3390, 700, 90),
        ("RC1", 240, 200, 10),
        ("RC2", 960, 1000, 10),
    ],
)
def test_solomons_figures_hold_for_100_customers(kind, horizon, capacity, service):
    instance = ncosolve.generate("vrptw", 101, seed=1, kind=kind)
    assert (instance.ready_time[0], instance.due_date[0]) == (0, horizon)
    assert instance.capacity == capacity
    assert set(instance.service_time[1:]) == {service}
    assert instance.service_time[0] == 0
    assert instance.max_vehicles is None
    for values in (instance.distance.coords, instance.demand, instance.ready_time, instance.due_date):
        assert np.array_equal(values, np.floor(values))
    assert len(np.unique(instance.distance.coords, axis=0)) == 101


@pytest.mark.parametrize("kind", KINDS)
def test_the_density_of_customers_does_not_change_with_their_number(kind):
    def area(n):
        coords = ncosolve.generate("vrptw", n, seed=2, kind=kind).distance.coords
        return np.prod(np.ptp(coords, axis=0)) / n

    assert area(901) == pytest.approx(area(3601), rel=0.25)


def _narrow(instance):
    """Which customers have a window of their own, and how wide those are."""
    far = instance.distance.between(0, np.arange(1, instance.n))
    latest = np.floor(instance.due_date[0] - instance.service_time[1:] - far)
    ready, due = instance.ready_time[1:], instance.due_date[1:]
    narrow = (ready > 0) | (due < latest)
    return narrow, (due - ready)[narrow]


@pytest.mark.parametrize("density", [0.0, 0.25, 0.5, 1.0])
def test_the_share_of_windows_can_be_set(density):
    narrow, _ = _narrow(ncosolve.generate("vrptw", 401, seed=5, kind="R2", density=density))
    assert narrow.mean() == pytest.approx(density, abs=0.02)


@pytest.mark.parametrize("width", [20, 100, 240])
def test_the_width_of_windows_can_be_set(width):
    _, widths = _narrow(ncosolve.generate("vrptw", 401, seed=5, kind="R2", density=1.0, width=width))
    assert np.median(widths) == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize("kind", ["C1", "C2"])
def test_clustered_windows_can_be_kept_by_few_vehicles(kind):
    """Windows lie around the times of routes along the clusters: in their order, a few vehicles keep all of them."""
    instance = ncosolve.generate("vrptw", 101, seed=3, kind=kind, density=1.0)
    by_time = np.argsort(instance.ready_time + instance.due_date)
    left = [int(node) for node in by_time if node]
    routes = []
    while left:
        route: list[int] = []
        for node in left:
            if _fits(instance, [*route, node]):
                route.append(node)
        routes.append(route)
        left = [node for node in left if node not in route]
    assert instance.check(routes).feasible
    assert len(routes) <= (16 if kind == "C1" else 8)


def _fits(instance, route):
    clock, here = 0.0, 0
    for there in route:
        clock = max(
            clock + instance.service_time[here] + instance.distance.between(here, there), instance.ready_time[there]
        )
        if clock > instance.due_date[there]:
            return False
        here = there
    home = clock + instance.service_time[here] + instance.distance.between(here, 0)
    return home <= instance.due_date[0] and instance.demand[route].sum() <= instance.capacity


def test_a_limit_on_the_fleet_is_handed_through():
    assert ncosolve.generate("vrptw", 20, max_vehicles=7).max_vehicles == 7


def test_the_unit_square_of_windows_follows_its_law():
    batch = vrptw.generate_batch(500, 51, seed=8)
    ready, due = batch.ready_time[:, 1:], batch.due_date[:, 1:]
    assert ready.min() == 0
    assert (batch.due_date[:, :1] >= due).all()
    assert (batch.due_date[:, 0] >= 3).all()
    assert (due - ready).max() <= 3
    assert not batch.service_time[:, 0].any()
    assert (batch.service_time[:, 1:] == 0.2).all()
    geometry = cvrp.generate_batch(500, 51, seed=8)
    assert np.array_equal(batch.coords, geometry.coords)
    assert np.array_equal(batch.demand, geometry.demand)


def test_the_horizon_of_the_unit_square_grows_where_a_customer_is_too_far():
    """Every customer of every instance can be served and left in time, also those that 3 would not suffice for."""
    batch = vrptw.generate_batch(2000, 60, seed=1, layout="mixed")
    far = np.linalg.norm(batch.coords - batch.coords[:, :1], axis=2)[:, 1:]
    start = np.maximum(far, batch.ready_time[:, 1:])
    assert (start <= batch.due_date[:, 1:]).all()
    assert (start + 0.2 + far <= batch.due_date[:, :1] + 1e-9).all()
    assert (batch.due_date[:, 0] > 3).any()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "Q1"}, "^kind: is 'Q1', expected one of R1, R2, C1"),
        ({"kind": 3}, "^kind: is 3"),
        ({"density": 1.5}, "^density: is 1.5, expected a number from 0 to 1"),
        ({"width": 1}, "^width: is 1"),
        ({"max_vehicles": 0}, "^max_vehicles: "),
        ({"kind": "unit", "capacity": 3}, "^capacity: "),
    ],
)
def test_bad_vrptw_options_are_refused_by_name(options, says):
    with pytest.raises(InputError, match=says):
        ncosolve.generate("vrptw", 20, **options)
