"""Numbers as people read them."""

import math

NOTHING = "–"
"""What stands where there is no number."""


def signed(value: float, decimals: int) -> str:
    """A number with a true minus sign, and none before a zero."""
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if not float(text.replace(",", "")) else text.replace("-", "\N{MINUS SIGN}")


def per_cent(share: float | None) -> str:
    """A gap in per cent, with two decimals; one that they would hide is said to be below them."""
    if share is None or math.isnan(share):
        return NOTHING
    value = 100 * share
    if 0 < abs(value) < 0.005:
        return "<0.01" if value > 0 else "\N{MINUS SIGN}<0.01"
    return signed(value, 2)


def points(difference: float) -> str:
    """A difference of gaps, in percentage points with three decimals."""
    return NOTHING if math.isnan(difference) else signed(100 * difference, 3)


def whole_per_cent(share: float) -> str:
    """A share of runs, 100 only where it is all of them and 0 only where it is none."""
    value = round(100 * share)
    return str(min(99, max(1, value))) if 0 < share < 1 else str(value)


def p_value(p: float) -> str:
    """A p-value with three decimals."""
    return NOTHING if math.isnan(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def amount(value: float | None, unit: str = "") -> str:
    """Seconds or megabytes with about three digits."""
    if value is None:
        return NOTHING
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f}{unit}"


def cost(value: float | None) -> str:
    """A cost with the digits that it has, up to four decimals."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return signed(value, 0) if value == math.floor(value) else signed(value, 4).rstrip("0")


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
