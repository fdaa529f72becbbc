"""How each solver looks in every figure and table: a colour that the colour-blind can tell, a dash and a symbol."""

from collections.abc import Sequence
from dataclasses import dataclass

from ncosolve.bench.analysis import family

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5d4fa2", "#4d4d4d")
"""The palette of Okabe and Ito (2008) without its yellow, which is too pale on white, and two more."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "pentagon")
DASHES = ("solid", "longdash", "longdashdot")


@dataclass(frozen=True)
class Look:
    """How a solver is drawn; a variant ``NAME@variant`` is its solver's colour, dashed and hollow."""

    colour: str
    dash: str
    symbol: str
    hollow: bool

    @property
    def pale(self) -> str:
        """The colour of a band around a line."""
        red, green, blue = (int(self.colour[k : k + 2], 16) for k in (1, 3, 5))
        return f"rgba({red},{green},{blue},0.13)"


def looks(solvers: Sequence[str]) -> dict[str, Look]:
    """The look of each solver; the same for the same list."""
    families = list(dict.fromkeys(map(family, solvers)))
    found: dict[str, Look] = {}
    for name in solvers:
        turn, place = divmod(families.index(family(name)), len(COLOURS))
        hollow = name != family(name)
        dash = "dash" if hollow else DASHES[turn % len(DASHES)]
        found[name] = Look(COLOURS[place], dash, SYMBOLS[(place + turn) % len(SYMBOLS)], hollow)
    return found
