"""The report of a benchmark as Markdown, compact enough for a README."""

import html
import re
from collections.abc import Iterator, Sequence

from ncosolve.bench import guide, sheets
from ncosolve.bench.findings import Study
from ncosolve.bench.origin import Start
from ncosolve.bench.sheets import Cell, Sheet


def render(study: Study, starts: Sequence[Start]) -> str:
    """The headline, the comparisons and the tables of each problem, with the commands that made them."""
    return "\n".join(_lines(study, starts)).rstrip("\n") + "\n"


def _lines(study: Study, starts: Sequence[Start]) -> Iterator[str]:
    yield from (guide.READING, "")
    yield from _origin(starts)
    yield from (f"- Beware: {_plain(warning)}" for warning in study.warnings)
    yield from ("", *table(sheets.headline(study)), "")
    if study.pairs:
        yield from ("### With and without", "", guide.PAIRS, "", *table(sheets.pairs(study)), "")
    for problem in study.problems:
        yield from (f"### {_plain(problem.problem.upper())}", "", _plain(guide.facts(problem)), "")
        for mark in problem.marks:
            yield from (f"After {mark.seconds:g} s:", "", *table(sheets.summaries(mark)), "")
            if mark.contrasts:
                yield from (f"Against {_plain(mark.solvers[0])}:", "", *table(sheets.comparisons(mark)), "")


def _origin(starts: Sequence[Start]) -> Iterator[str]:
    for start in starts:
        yield from (f"    {' '.join(start.command.split())}", "") if start.command else ()
    if starts:
        facts = ", ".join(f"{name.lower()} {value}" for name, value in starts[-1].environment.items())
        yield from (_plain(facts), "")


def table(sheet: Sheet) -> Iterator[str]:
    """A table in the Markdown of GitHub; the best value of a column is bold."""
    yield _row(_plain(column.title) for column in sheet.columns)
    yield _row("--:" if column.numeric else ":--" for column in sheet.columns)
    yield from (_row(map(_cell, row)) for row in sheet.rows)


def _row(cells: "Iterator[str] | map[str]") -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    return f"**{_plain(cell.text)}**" if cell.best else _plain(cell.text)


def _plain(text: str) -> str:
    """Text in which nothing is taken for Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", html.escape(" ".join(text.split()), quote=False))
