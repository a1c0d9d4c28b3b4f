"""US dollars as micro-dollars, the unit of all amounts on the wire."""

from __future__ import annotations

import re
from decimal import Decimal

from .errors import InvalidRequest

#: An amount in US dollars. Texts, decimals and whole numbers are exact.
Usd = Decimal | str | int | float

_TEXT = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?", re.ASCII)
_MOST = 999_999_999_999_999
_MICROS = 1_000_000


def micros_of(member: str, amount: Usd) -> int:
    """The amount in micro-dollars.

    A text, a decimal or a whole number is taken exactly, and refused if it has a fraction of a micro-dollar. A float is
    rounded to the nearest micro-dollar, because `0.1 + 0.2` is not exact to begin with.
    """
    if isinstance(amount, str):
        match = _TEXT.fullmatch(amount)
        if match is None:
            raise InvalidRequest(f'{member}: must be dollars with at most six decimals, as "1.37"')
        return int(match[1]) * _MICROS + int((match[2] or "").ljust(6, "0"))
    if isinstance(amount, bool) or not isinstance(amount, (int, float, Decimal)):
        raise InvalidRequest(f"{member}: must be a Decimal, a text or a number")
    if isinstance(amount, int):
        return _in_range(member, amount * _MICROS)
    if isinstance(amount, float):
        return _rounded_micros(member, amount)
    return _exact_micros(member, amount)


def _rounded_micros(member: str, amount: float) -> int:
    if not 0 <= amount < 1e9:
        raise _out_of_range(member)
    numerator, denominator = amount.as_integer_ratio()
    return _in_range(member, (2 * numerator * _MICROS + denominator) // (2 * denominator))


def _exact_micros(member: str, amount: Decimal) -> int:
    if not amount.is_finite() or not 0 <= amount < 1_000_000_000:
        raise _out_of_range(member)
    exponent = amount.as_tuple().exponent
    numerator, denominator = (1, 0) if not _is_short(exponent) else amount.as_integer_ratio()
    if denominator == 0 or numerator * _MICROS % denominator:
        raise InvalidRequest(f"{member}: has more than six decimals, so it is no whole number of micro-dollars")
    return _in_range(member, numerator * _MICROS // denominator)


def _is_short(exponent: int | str) -> bool:
    """Whether the fraction is of a sane length. Working out a huge one would take long, and none is an amount."""
    return isinstance(exponent, int) and exponent >= -100


def _in_range(member: str, micros: int) -> int:
    if 0 <= micros <= _MOST:
        return micros
    raise _out_of_range(member)


def _out_of_range(member: str) -> InvalidRequest:
    return InvalidRequest(f"{member}: must be from 0 to 999999999.999999 dollars")
