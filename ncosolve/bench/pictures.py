"""Drawings of answers: where the reference solver did best and worst, beside the best answer that anyone found."""

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncosolve.bench.findings import ProblemStudy
from ncosolve.bench.gaps import gap
from ncosolve.bench.statistics import TIE
from ncosolve.bench.table import SOLUTIONS, Row
from ncosolve.bench.wording import cost, per_cent
from ncosolve.errors import NcosolveError
from ncosolve.formats import read_solution
from ncosolve.plot import plot_solution

DOTS = 100
"""Resolution of the drawings, in dots per inch."""


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Attributes
    ----------
    title, caption : str
        What is shown and why.
    image : str
        The drawing as data URI; empty where there is none.
    note : str
        Why there is none.
    wide : bool
        Whether it has more than one panel.
    """

    title: str
    caption: str
    image: str = ""
    note: str = ""
    wide: bool = False


def pictures(problem: ProblemStudy, folder: Path) -> list[Picture]:
    """The best and the worst answer of the reference solver at the last mark, for problems on a map.

    Parameters
    ----------
    problem : ProblemStudy
        Whose runs to draw.
    folder : Path
        Of the benchmark, which holds the answers.
    """
    return list(_pictures(problem, folder / SOLUTIONS)) if problem.problem != "milp" else []


def _pictures(problem: ProblemStudy, answers: Path) -> Iterator[Picture]:
    cases = _cases(problem)
    shown = {row.key for _, row in cases}
    for title, row in cases:
        try:
            instance = _instance(row)
        except (NcosolveError, OSError, ValueError, KeyError, TypeError) as error:
            note = f"The instance cannot be read again: {error}"
            yield Picture(title, _caption(problem, row), note=note)
            continue
        if instance.distance.coords is not None:
            yield _picture(instance, title, _caption(problem, row), answers / row.solution)
            for best in _better(problem, row):
                if best.key in shown:
                    continue
                found = f"Best answer of all: {row.instance}"
                yield _picture(instance, found, _caption(problem, best), answers / best.solution)


def _cases(problem: ProblemStudy) -> list[tuple[str, Row]]:
    mark = problem.marks[-1]
    solver = mark.solvers[0]
    found = [each for each in mark.outcomes if each.row.solver == solver and each.own and each.row.solution]
    found = [each for each in found if each.cost is not None]
    if not found:
        return []
    best = min(found, key=lambda each: (each.gap, -each.row.n))
    worst = max(found, key=lambda each: (each.gap, each.row.n))
    cases = [("Best", best), ("Worst", worst)] if worst.gap - best.gap > TIE else [("An", best)]
    return [(f"{which} answer of {solver}: {each.row.instance}", each.row) for which, each in cases]


def _better(problem: ProblemStudy, row: Row) -> list[Row]:
    """The run with the best answer on the instance, unless it is no better than this one."""
    runs = [each for each in problem.rows if each.instance == row.instance and each.solved and each.solution]
    reference = problem.references.get(row.instance)
    best = min(runs, key=lambda each: gap(each.cost, reference, each.maximise))
    better = gap(best.cost, reference, best.maximise) < gap(row.cost, reference, row.maximise) - TIE
    return [best] if better else []


def _instance(row: Row) -> Any:
    from ncosolve.bench.suites import instance_of

    return instance_of(row.source)


def _caption(problem: ProblemStudy, row: Row) -> str:
    share = gap(row.cost, problem.references.get(row.instance), row.maximise)
    return f"{row.solver}, {row.limit:g} s, seed {row.seed}: cost {cost(row.cost)}, gap {per_cent(share)} %"


def _picture(instance: Any, title: str, caption: str, file: Path) -> Picture:
    try:
        figure = plot_solution(read_solution(file, instance))
    except NcosolveError as error:
        return Picture(title, caption, note=f"The answer cannot be drawn: {error}")
    drawing = io.BytesIO()
    figure.savefig(drawing, format="png", dpi=DOTS)
    image = f"data:image/png;base64,{base64.b64encode(drawing.getvalue()).decode()}"
    return Picture(title, caption, image, wide=len(figure.axes) > 1)
