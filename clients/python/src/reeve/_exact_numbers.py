"""Numbers that readers of JSON disagree on: one rounds `12345678901234567`, another keeps it.

What was judged need then not be what is done. A number survives if the shortest text of its double denotes the same
number. `tests/exact-numbers/cases.json` holds every language to this.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|(-?\d[\d.eE+-]*)', re.DOTALL)
_PARTS = re.compile(r"^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?\Z")
#: No other text has a number of more than 15 digits, or one with an exponent.
_MAY_BE_INEXACT = re.compile(r"[\d.]{16}|\d[eE][+-]?\d")
_LONGEST_SHOWN = 40


def is_exact_number(text: str) -> bool:
    return _decimal_of(text) == _decimal_of(repr(float(text)))


def inexact_number_in(json_text: str) -> str | None:
    """The first number of a JSON text that does not survive, as it is written."""
    if not _MAY_BE_INEXACT.search(json_text):
        return None
    for token in _TOKEN.finditer(json_text):
        number = token.group(1)
        if number is not None and not is_exact_number(number):
            return str(number)
    return None


class InexactNumber:
    """Stands for such a number where it was parsed. It cannot be written as JSON."""

    def __init__(self, written: str) -> None:
        self.written = written


def kept_float(written: str) -> float | InexactNumber:
    """For `json.loads`."""
    return float(written) if is_exact_number(written) else InexactNumber(written)


def number_fault(number: str) -> str:
    shown = number if len(number) <= _LONGEST_SHOWN else f"{number[:_LONGEST_SHOWN]}…"
    return f"the number {shown} is not the same to every reader, so nobody can judge it: send it as a text"


def _decimal_of(text: str) -> tuple[str, str, int] | None:
    """The sign, the digits that count, and the place of the last one. The same for all texts of one number."""
    parts = _PARTS.match(text)
    if parts is None:
        return None
    fraction = parts.group(2) or ""
    digits = (parts.group(1) + fraction).lstrip("0")
    if not digits:
        return ("", "0", 0)
    counting = digits.rstrip("0")
    place = int(parts.group(3) or 0) - len(fraction) + len(digits) - len(counting)
    return ("-" if text.startswith("-") else "", counting, place)
