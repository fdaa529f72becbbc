"""What can go wrong, as types: bad input, nothing found, proved infeasible, something not installed."""

from collections.abc import Sequence


class NcosolveError(Exception):
    """Any error that ncosolve raises on purpose; its text is one line for the user."""


class InputError(NcosolveError, ValueError):
    """The input is wrong.

    Parameters
    ----------
    problem : str
        What was found and what was expected.
    file : str, optional
        The file in which it was found.
    where : str, optional
        The line or field, for instance ``"line 12"`` or ``"DEMAND_SECTION"``.
    """

    def __init__(self, problem: str, file: str = "", where: str = "") -> None:
        self.problem, self.file, self.where = problem, file, where
        super().__init__(": ".join(part for part in (file, where, problem) if part))

    def within(self, file: str) -> "InputError":
        """The same error, naming the file unless one is named already."""
        return InputError(self.problem, self.file or file, self.where)


class NoSolutionFound(NcosolveError):  # noqa: N818 - a state of the search, named so in the API
    """The time was up before any feasible solution was found; nothing is proved.

    Parameters
    ----------
    problem : str
        What was tried, and what it came to.
    violations : sequence of str, optional
        What the least violating candidate violates.
    """

    def __init__(self, problem: str, violations: Sequence[str] = ()) -> None:
        self.violations = tuple(violations)
        super().__init__(problem)


class Infeasible(NcosolveError):  # noqa: N818 - a proved fact about the instance
    """It is proved that no feasible solution exists; the text says which customers, windows or rows clash."""


class MissingExtra(NcosolveError):  # noqa: N818
    """A solver needs a package that is not installed.

    Parameters
    ----------
    package : str
        The package that failed to import.
    extra : str
        The extra of ncosolve that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'ncosolve[{extra}]' (in a checkout: '.[{extra}]')")


class EngineError(NcosolveError, RuntimeError):
    """An engine failed, or returned an answer that the independent check refuses."""
