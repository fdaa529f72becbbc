"""What a person sees: the live line and aligned columns."""

from ncosolve.problems.cvrp import CVRP
from ncosolve.solution import Solution
from ncosolve.terminal import LiveLine, amount, columns, complain, per_cent


def test_the_live_line_shows_time_iterations_cost_and_gap():
    line = LiveLine("X", 10.0)
    assert line.__rich__().endswith("/ 10 s  no solution yet")
    instance = CVRP([[0, 1], [1, 0]], demand=[0, 1], capacity=1)
    line(Solution.of(instance, [[1]], iterations=12, bound=1.0))
    assert "12 iterations  cost 2  gap 50.00 %" in line.__rich__()


def test_columns_are_aligned_and_never_wrapped():
    assert columns([("a", "x" * 300), ("long", "y")]) == ["a     " + "x" * 300, "long  y"]
    assert [per_cent(x) for x in (0.0123, -1e-6, None)] == ["1.23 %", "0.00 %", "none"]
    assert [amount(x) for x in (27591.0, 827.3, 0.12345678, None)] == ["27591", "827.3", "0.1235", "none"]


def test_a_message_is_one_line_without_control_characters_and_not_endless(capsys):
    complain("a\n\tb \x1b[2J" + "x" * 5000)
    err = capsys.readouterr().err
    assert err.startswith("ncosolve: a b ?[2Jxxx")
    assert err.count("\n") == 1
    assert len(err) < 1100
