"""Random MILPs: labels of foldable pairs by brute force, equal colours, laws of the families, HiGHS optima."""

import itertools

import networkx
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import ncosolve
from ncosolve.errors import InputError
from ncosolve.problems.base import replace
from ncosolve.problems.milp_families import _clique_rows, _preferential_graph
from ncosolve.problems.milp_fold import cycles, fold_batch, fold_pair


def highs(instance, relaxed=False):
    """What scipy's HiGHS says of an instance."""
    sign = -1.0 if instance.maximise else 1.0
    rows = LinearConstraint(instance.rows, instance.row_lower, instance.row_upper)
    return milp(
        sign * instance.objective,
        constraints=rows if instance.rows.shape[0] else (),
        bounds=Bounds(instance.lower, instance.upper),
        integrality=np.zeros(instance.n) if relaxed else instance.integer,
        options={"time_limit": 30.0},
    )


def has_solution(instance):
    """Whether some assignment of the binaries keeps all rows; the other columns are in none."""
    rows = instance.rows.toarray()[:, instance.integer]
    assert not instance.rows.toarray()[:, ~instance.integer].any()
    points = np.array(list(itertools.product((0.0, 1.0), repeat=rows.shape[1])))
    return bool((np.abs(points @ rows.T - instance.row_lower) < 1e-9).all(axis=1).any())


PAIRS = [(m, False) for m in (6, 8, 10, 12)] + [(m, True) for m in (8, 10, 12)]


@pytest.mark.parametrize(("m", "hard"), PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_the_labels_of_foldable_pairs_are_right(m, hard, seed):
    feasible, infeasible = fold_pair(m + 4, seed=seed, rows=m, hard=hard, shuffle=True)
    assert has_solution(feasible)
    assert not has_solution(infeasible)


@pytest.mark.parametrize("m", range(6, 62, 2))
def test_every_even_number_of_rows_splits_into_cycles_of_the_right_parity(m):
    """Halving m would give two even cycles, both feasible, whenever m / 2 is even."""
    for hard in (False, True) if m >= 8 else (False,):
        good, bad = cycles(m, True, hard), cycles(m, False, hard)
        assert sum(good) == sum(bad) == m
        assert all(length % 2 == 0 and length >= 4 for length in good)
        assert all(length % 2 == 1 and length >= 3 for length in bad)
        assert not hard or len(good) == len(bad)


@pytest.mark.parametrize("m", [20, 30, 60])
def test_larger_pairs_are_labelled_right_by_highs(m):
    feasible, infeasible = fold_pair(m + 5, seed=m, rows=m)
    assert highs(feasible).status == 0
    assert highs(infeasible).status == 2
    assert highs(infeasible, relaxed=True).status == 0


def colours(instance, rounds=10):
    """Sorted Weisfeiler-Leman colours of the graph of rows and columns, with all their data as first colours."""
    rows = instance.rows.tocoo()
    m, n = rows.shape
    label = [f"row {low} {high}" for low, high in zip(instance.row_lower, instance.row_upper, strict=True)]
    label += [
        f"column {cost} {low} {high} {whole}"
        for cost, low, high, whole in zip(
            instance.objective, instance.lower, instance.upper, instance.integer, strict=True
        )
    ]
    neighbours = [[] for _ in range(m + n)]
    for i, j, value in zip(*rows.coords, rows.data, strict=True):
        neighbours[i].append((m + j, value))
        neighbours[m + j].append((i, value))
    names = {}
    for _ in range(rounds):
        keys = [(label[v], tuple(sorted((label[u], w) for u, w in neighbours[v]))) for v in range(m + n)]
        label = [names.setdefault(key, f"c{len(names)}") for key in keys]
    return sorted(label), names


@pytest.mark.parametrize(("m", "shuffle"), [(6, False), (6, True), (12, False), (20, True)])
def test_the_members_of_a_pair_have_the_same_colours(m, shuffle):
    feasible, infeasible = fold_pair(m + 3, seed=1, rows=m, shuffle=shuffle)
    (first, names), (second, others) = colours(feasible), colours(infeasible)
    assert names == others
    assert first == second
    assert np.array_equal(np.sort(feasible.rows.sum(axis=0)), np.sort(infeasible.rows.sum(axis=0)))


def test_the_colours_tell_other_programs_apart():
    """The comparison above could fail: another pair has other bounds."""
    assert colours(fold_pair(9, seed=1)[0]) != colours(fold_pair(9, seed=2)[0])


def test_the_base_pair_is_a_hexagon_and_two_triangles():
    feasible, infeasible = fold_pair()
    for instance, parts in ((feasible, 1), (infeasible, 2)):
        assert instance.rows.shape == (6, 20)
        assert instance.rows.nnz == 12
        assert set(instance.rows.data) == {1.0}
        assert instance.integer.sum() == 6
        assert set(instance.rows.sum(axis=0)[instance.integer]) == {2.0}
        ends = instance.rows.tocoo()
        graph = networkx.Graph(list(ends.coords[1].reshape(6, 2)))
        assert networkx.number_connected_components(graph) == parts
        assert np.array_equal(instance.row_lower, np.ones(6))
        assert np.array_equal(instance.row_upper, np.ones(6))
    assert np.array_equal(feasible.lower, infeasible.lower)
    assert np.array_equal(feasible.integer, infeasible.integer)


def test_the_value_of_the_feasible_member_is_known():
    instance, _ = fold_pair(12, seed=4)
    value = 0.01 * (3 + instance.lower[~instance.integer].sum())
    assert highs(instance).fun == pytest.approx(value)


def test_fold_batches_hold_what_they_say():
    batch = fold_batch(1000, 20, 3, rows=12, hard=True)
    assert batch.ends.shape == (1000, 2, 12, 2)
    degree = np.zeros((1000, 2, 20), int)
    for k, member in itertools.product(range(1000), (0, 1)):
        np.add.at(degree[k, member], batch.ends[k, member].ravel(), 1)
    assert np.array_equal(degree == 2, np.repeat(batch.integer[:, None], 2, axis=1))
    assert (batch.integer.sum(axis=1) == 12).all()
    assert (batch.lower <= batch.upper).all()
    assert (batch.lower[batch.integer] == 0).all()
    assert (batch.upper[batch.integer] == 1).all()
    assert (batch.factor >= 0.5).all()
    assert (batch.factor <= 2).all()
    assert batch.factor.std() > 0.3
    spread = np.concatenate([batch.lower[~batch.integer], batch.upper[~batch.integer]])
    assert spread.std() == pytest.approx(10, rel=0.03)


def test_shuffling_only_reorders_the_rows():
    plain, mixed = fold_batch(50, 20, 3), fold_batch(50, 20, 3, shuffle=True)
    assert not np.array_equal(plain.ends, mixed.ends)
    for first, second in zip(plain.ends.reshape(100, 6, 2), mixed.ends.reshape(100, 6, 2), strict=True):
        assert sorted(first.tolist()) == sorted(second.tolist())


def test_binaries_lie_anywhere_among_the_columns():
    places = fold_batch(2000, 20, 1).integer.mean(axis=0)
    assert np.allclose(places, 6 / 20, atol=0.05)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rows": 7}, "^rows: is 7, expected an even number >= 6"),
        ({"rows": 4}, "^rows: is 4"),
        ({"rows": 6, "hard": True}, "^rows: is 6, expected an even number >= 8"),
        ({"rows": 22}, "^n: is 20"),
    ],
)
def test_pairs_that_cannot_be_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        fold_pair(20, **options)


def test_generate_gives_either_member():
    good, bad = (ncosolve.generate("milp", 20, seed=6, family="fold", feasible=label) for label in (True, False))
    assert has_solution(good)
    assert not has_solution(bad)
    assert np.array_equal(good.rows.toarray(), fold_pair(20, seed=6)[0].rows.toarray())


@pytest.mark.parametrize(
    ("family", "n", "options"),
    [
        ("setcover", 40, {}),
        ("setcover", 60, {"rows": 20, "density": 0.2}),
        ("auction", 40, {}),
        ("auction", 30, {"items": 20, "add_item": 0.9}),
        ("facility", 5, {"customers": 8}),
        ("facility", 5, {"customers": 8, "ratio": 3, "single_source": True}),
        ("indset", 40, {}),
        ("indset", 30, {"affinity": 2}),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_small_instances_are_feasible_and_bounded(family, n, options, seed):
    instance = ncosolve.generate("milp", n, seed=seed, family=family, **options)
    found = highs(instance)
    assert found.status == 0
    check = instance.check(np.where(instance.integer, np.round(found.x), found.x))
    assert check.feasible
    assert check.cost == pytest.approx(-found.fun if instance.maximise else found.fun)
    assert check.cost > 0
    assert instance.clash() is None


def test_set_covers_have_their_sizes():
    instance = ncosolve.generate("milp", 1000, seed=1, family="setcover")
    assert instance.rows.shape == (500, 1000)
    assert instance.rows.nnz == 25_000
    assert set(instance.rows.data) == {1.0}
    assert instance.rows.sum(axis=0).min() >= 2
    assert instance.rows.sum(axis=1).min() >= 1
    assert (instance.objective.min(), instance.objective.max()) == (1, 100)
    assert instance.integer.all()


def test_a_sparse_set_cover_still_covers_each_row():
    instance = ncosolve.generate("milp", 10, seed=1, family="setcover", rows=200, density=0.0)
    assert (instance.rows.sum(axis=1) >= 1).all()
    assert (instance.rows.sum(axis=0) >= 2).all()
    assert set(instance.rows.data) == {1.0}
    assert instance.check(np.ones(10)).feasible


def test_a_full_set_cover_is_full():
    assert ncosolve.generate("milp", 6, family="setcover", rows=5, density=1.0).rows.nnz == 30


def test_auctions_sell_each_item_once_and_each_bidder_one_bid():
    instance = ncosolve.generate("milp", 500, seed=1, family="auction")
    assert instance.n == 500
    assert instance.maximise
    assert set(instance.rows.data) == {1.0}
    assert instance.check(np.zeros(500)).feasible
    assert instance.objective.min() > 0
    assert 100 < instance.rows.shape[0] <= 100 + 250  # items and bidders of more than one bid
    bidders = instance.rows.toarray()[100:]
    assert bidders.sum(axis=0).max() == 1
    assert bidders.sum(axis=1).min() >= 2
    assert bidders.sum(axis=1).max() <= 6
    items = instance.rows.toarray()[:100]
    assert items.sum(axis=0).min() >= 1


def test_bids_of_one_bidder_have_one_size_and_keep_the_budget():
    instance = ncosolve.generate("milp", 300, seed=2, family="auction", items=60)
    table = instance.rows.toarray()
    sizes, owners = table[:60].sum(axis=0), table[60:]
    for row in owners:
        bids = np.flatnonzero(row)
        assert len(set(sizes[bids])) == 1
        assert len({tuple(table[:60, bid]) for bid in bids}) == len(bids)
        assert instance.objective[bids].max() <= 1.5 * instance.objective[bids[0]] + 1e-9


def test_without_substitutes_no_bidder_has_two_bids_and_bundles_are_geometric():
    """They grow by one item with probability 0.7: 1 / 0.3 items on average."""
    instance = ncosolve.generate("milp", 500, seed=2, family="auction", substitutes=0)
    assert instance.rows.shape[0] == 100
    assert instance.rows.sum() / 500 == pytest.approx(1 / 0.3, rel=0.1)


def test_facilities_have_capacity_for_the_ratio():
    instance = ncosolve.generate("milp", 25, seed=1, family="facility", customers=10)
    rows = instance.rows.toarray()
    assert rows.shape == (10 + 25 + 1 + 250, 25 + 250)
    capacity = -np.diag(rows[10:35, :25])
    demand = rows[10, 25::25]
    assert (demand.min() >= 5) & (demand.max() <= 35)
    assert capacity.sum() == pytest.approx(5 * demand.sum(), abs=25)
    assert instance.row_upper[35] == -demand.sum()
    assert np.array_equal(-rows[35, :25], capacity)
    assert instance.integer.sum() == 25
    everything_open = np.concatenate([np.ones(25), np.tile(capacity / capacity.sum(), 10)])
    assert instance.check(everything_open).feasible


def test_a_closed_facility_serves_nobody():
    instance = ncosolve.generate("milp", 5, seed=1, family="facility", customers=4)
    closed = np.concatenate([np.zeros(1), np.ones(4), np.full(20, 0.2)])
    assert "row" in {violation.constraint for violation in instance.check(closed).violations}


def test_single_source_costs_are_whole():
    instance = ncosolve.generate("milp", 5, seed=1, family="facility", customers=8, ratio=3, single_source=True)
    assert instance.integer.all()
    assert np.array_equal(instance.objective, np.floor(instance.objective))


def test_a_ratio_too_low_for_single_sources_is_refused():
    with pytest.raises(InputError, match=r"^ratio: is 1, too low"):
        ncosolve.generate("milp", 40, family="facility", customers=40, ratio=1, single_source=True)


@pytest.mark.parametrize("seed", range(5))
def test_clique_rows_say_exactly_that_no_two_neighbours_are_chosen(seed):
    """Each edge is in one row, and each row is a clique: so the rows and the edges have the same binary solutions."""
    neighbours = _preferential_graph(60, 4, np.random.default_rng(seed))
    edges = {(a, b) for a, others in enumerate(neighbours) for b in others if a < b}
    pairs = [pair for clique in _clique_rows(neighbours) for pair in itertools.combinations(sorted(clique), 2)]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == edges
    assert len(edges) == 4 * (60 - 4)


def test_preferential_attachment_makes_hubs():
    """The largest of 500 degrees is far above that of a random graph with as many edges, about 20."""
    degrees = [max(len(row) for row in _preferential_graph(500, 4, np.random.default_rng(seed))) for seed in range(5)]
    assert np.mean(degrees) > 40


def test_independent_sets_of_small_graphs_are_the_largest():
    instance = ncosolve.generate("milp", 12, seed=3, family="indset")
    rows = instance.rows.toarray()
    best = max(sum(choice) for choice in itertools.product((0, 1), repeat=12) if (rows @ np.array(choice) <= 1).all())
    assert -highs(instance).fun == pytest.approx(best)


def test_unfoldable_programs_follow_their_law():
    instances = [ncosolve.generate("milp", 20, seed=seed, family="unfoldable") for seed in range(60)]
    assert {instance.rows.nnz for instance in instances} == {60}
    assert {instance.rows.shape for instance in instances} == {(6, 20)}
    data = np.concatenate([instance.rows.data for instance in instances])
    assert data.std() == pytest.approx(1, rel=0.05)
    assert np.mean([instance.integer.mean() for instance in instances]) == pytest.approx(0.5, abs=0.05)
    low = np.concatenate([np.isinf(instance.row_lower) for instance in instances])
    high = np.concatenate([np.isinf(instance.row_upper) for instance in instances])
    assert low.mean() == pytest.approx(1 / 3, abs=0.08)
    assert high.mean() == pytest.approx(1 / 3, abs=0.08)
    feasible = [highs(replace(instance, objective=np.zeros(20))).status == 0 for instance in instances[:25]]
    assert 0.25 < np.mean(feasible) < 0.7  # 46 % in the study of Chen et al.


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"family": "knapsack"}, "^family: is 'knapsack', expected one of setcover"),
        ({"rows": 0}, "^rows: "),
        ({"density": 2}, "^density: "),
        ({"max_cost": 0}, "^max_cost: "),
        ({"family": "auction", "add_item": 1.5}, "^add_item: "),
        ({"family": "auction", "items": 0}, "^items: "),
        ({"family": "auction", "substitutes": -1}, "^substitutes: "),
        ({"family": "facility", "ratio": 0.5}, "^ratio: "),
        ({"family": "facility", "customers": 0}, "^customers: "),
        ({"family": "indset", "affinity": 0}, "^affinity: "),
        ({"family": "unfoldable", "nonzeros": 1000}, "^nonzeros: "),
    ],
)
def test_bad_milp_options_are_refused_by_name(options, says):
    with pytest.raises(InputError, match=says):
        ncosolve.generate("milp", 20, **options)
