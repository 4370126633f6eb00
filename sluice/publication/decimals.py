"""Whole units of a last decimal as text, and back."""

import re

from sluice.ground.errors import DataError


def in_decimals(units: int | None, decimals: int) -> str:
    """A number of units of the last decimal as text: 1234 with 2 decimals is '12.34'; '' for None."""
    if units is None:
        return ""
    if not decimals:
        return str(units)
    whole, part = divmod(abs(units), 10**decimals)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{decimals}d}"


def units_of(text: str, decimals: int, where: str) -> int | None:
    """The units that `in_decimals` wrote. Raises DataError, naming the place, unless the text has exactly that form."""
    if not text:
        return None
    if not re.fullmatch(rf"-?\d+\.\d{{{decimals}}}" if decimals else r"-?\d+", text, re.ASCII):
        raise DataError(f"must be a number with {decimals} decimals, or empty", field=where)
    return int(text.replace(".", ""))
