import pytest

import ncosolve
from ncosolve import catalog
from ncosolve.errors import InputError, MissingExtra
from ncosolve.problems import PROBLEMS
from ncosolve.solving import solve


@pytest.fixture
def user_folder(tmp_path, monkeypatch):
    """A folder of the user's own, found through the environment."""
    monkeypatch.setenv(catalog.USER_FOLDERS, str(tmp_path))
    catalog.solvers.cache_clear()

    def add(name, text):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solver.toml").write_text(text)

    yield add
    catalog.solvers.cache_clear()


BASIC = 'engine = "tour_search"\nproblems = ["tsp"]\nsummary = "Mine."\n'


def test_every_shipped_solver_loads_and_says_what_it_takes():
    for name, solver in catalog.solvers().items():
        assert solver.summary.endswith("."), name
        assert set(solver.auto) <= set(solver.problems) <= set(PROBLEMS), name
        assert (solver.path / "README.md").is_file(), f"{name} has no card"
        if not solver.missing():
            engine = solver.load()
            assert set(solver.problems) <= set(engine.PROBLEMS), name


def test_a_users_folder_is_found(user_folder):
    user_folder("mine", BASIC + "[parameters]\nkicks = 5\n")
    assert catalog.find("mine", "tsp").parameters == {"kicks": 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engine = ", "solver.toml"),
        (BASIC + 'colour = "red"\n', "colour: is unknown"),
        ('problems = ["tsp"]\nsummary = "x"\n', "engine: is missing"),
        (BASIC.replace("tsp", "chess"), "'chess' is unknown"),
        (BASIC + "[auto]\nchess = 3\n", "'chess' is unknown"),
    ],
)
def test_a_broken_file_is_named(user_folder, text, message):
    user_folder("bad", text)
    with pytest.raises(InputError, match=message):
        catalog.solvers()


def test_a_missing_package_names_the_extra(user_folder):
    user_folder("far", BASIC + '[needs]\nno_such_package = "bench"\n')
    with pytest.raises(MissingExtra, match=r"no_such_package is not installed: pip install 'ncosolve\[bench\]'"):
        catalog.find("far", "tsp").load()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BASIC + "[parameters]\nneighbors = 5\n", r"parameters: 'neighbors' is unknown, expected one of population"),
        (BASIC.replace('"tsp"', '"cvrp"'), "engine: 'tour_search' does not solve cvrp, only tsp"),
        (BASIC.replace("tour_search", "no_such_engine"), "no_such_engine"),
        (BASIC.replace("tour_search", "json"), "json has no PROBLEMS"),
    ],
)
def test_what_an_engine_does_not_take_is_refused(user_folder, text, message):
    user_folder("odd", text)
    problem = "cvrp" if "cvrp" in text else "tsp"
    with pytest.raises(InputError, match=message):
        solve(ncosolve.generate(problem, 5), "odd", time_limit=1)


def test_parameters_change_the_search(user_folder):
    user_folder("hot", BASIC + "[parameters]\nstart_temperature = 20.0\n")
    instance = ncosolve.generate("tsp", 100, seed=1)
    hot, usual = (solve(instance, name, max_iterations=300) for name in ("hot", "tour-search"))
    assert hot.cost != usual.cost


def test_auto_skips_what_is_not_installed(user_folder):
    user_folder("far", BASIC + '[needs]\nno_such_package = "bench"\n[auto]\ntsp = 5\n')
    assert "far" not in [solver.name for solver in catalog.automatic("tsp", 4)]


def test_auto_prefers_the_most_specialised(user_folder):
    user_folder("small", BASIC + "[auto]\ntsp = 4\n")
    assert catalog.automatic("tsp", 4)[0].name == "small"
    assert "small" not in [solver.name for solver in catalog.automatic("tsp", 5)]


def test_unknown_names_list_what_there_is():
    with pytest.raises(InputError, match=r"'nothing' is unknown.*tour-search"):
        catalog.find("nothing", "tsp")
    with pytest.raises(InputError, match=r"'tour-search' does not solve cvrp.*route-search"):
        catalog.find("tour-search", "cvrp")
