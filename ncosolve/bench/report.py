"""The report of a benchmark: one page that stands alone, or Markdown for a README."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from ncosolve import __version__
from ncosolve.bench import curves, guide, markdown, pictures, sheets, table
from ncosolve.bench.analysis import study
from ncosolve.bench.findings import ProblemStudy, Study
from ncosolve.bench.looks import Look, looks
from ncosolve.bench.origin import Start, starts
from ncosolve.errors import InputError
from ncosolve.formats.text import save

TEMPLATE = "report.html"


@dataclass(frozen=True)
class Section:
    """What the page shows of a problem."""

    study: ProblemStudy
    figures: list[curves.Figure]
    pictures: list[pictures.Picture]
    troubles: sheets.Sheet


def write(folder: Path, target: Path) -> None:
    """Write the report of a benchmark, whole or not at all.

    Parameters
    ----------
    folder : Path
        Of the benchmark, with its table, its answers and, if there is one, the record of how it was run.
    target : Path
        ``.html`` for a page that needs nothing but a browser, ``.md`` for its tables as Markdown.

    Raises
    ------
    InputError
        When the suffix is another one, the folder holds no finished run, or the file cannot be written.
    MissingExtra
        When the page is asked for and plotly is not installed.
    """
    suffix = target.suffix.lower()
    if suffix not in (".html", ".md"):
        raise InputError(f"has the suffix {target.suffix!r}, expected .html or .md", str(target))
    rows = table.read(folder)
    if not rows:
        raise InputError("holds no finished run of a benchmark", str(folder))
    begun = starts(folder)
    asked = begun[-1].solvers if begun else ()
    found = study(rows, asked, sorted({mark for start in begun for mark in start.marks}))
    save(target, markdown.render(found, begun) if suffix == ".md" else page(found, begun, folder))


def page(found: Study, begun: list[Start], folder: Path) -> str:
    """The page as one string of HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(resources.files("ncosolve.bench").joinpath(TEMPLATE).read_text("utf-8"))
    look = looks(found.solvers)
    script = curves.plotly_script()
    return template.render(
        name=folder.resolve().name,
        study=found,
        sections=[_section(each, folder, look) for each in found.problems],
        looks=look,
        starts=begun,
        sheets=sheets,
        guide=guide,
        version=__version__,
        plotly=script,
    )


def _section(problem: ProblemStudy, folder: Path, look: dict[str, Look]) -> Section:
    return Section(
        problem,
        curves.figures(problem, look),
        pictures.pictures(problem, folder),
        sheets.troubles(problem),
    )
