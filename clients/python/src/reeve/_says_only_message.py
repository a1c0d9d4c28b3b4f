"""Whether an error holds more than its message."""

from __future__ import annotations

from typing import Any

from .errors import OperationTerminated, ReeveError

_MOST_NUMBER = 9999
# Slots, properties and methods of other classes could hold anything. These hold no more than their arguments.
_KNOWN = frozenset(
    {
        Exception,
        RuntimeError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        LookupError,
        ArithmeticError,
        ZeroDivisionError,
        OverflowError,
        AssertionError,
        NotImplementedError,
        TimeoutError,
        PermissionError,
        FileNotFoundError,
        ConnectionError,
        OSError,
    }
)


def says_only_message(error: BaseException) -> bool:
    """Whether an error holds nothing besides its message that could tell what a tool brought back.

    That is: no other errors, no notes, no answer of a server. Codes and paths that the message names hold no more than
    that.
    """
    if type(error) not in _KNOWN and not isinstance(error, ReeveError):
        return False
    if error.__cause__ is not None or error.__context__ is not None or getattr(error, "__notes__", None):
        return False
    # These hold ids and words of Reeve, unless the work of another operation ended in them.
    if isinstance(error, ReeveError):
        return not isinstance(error, OperationTerminated) or error.result is None
    message = str(error)
    members = {name: member for name, member in vars(error).items() if name != "__notes__"}
    return all(_is_said(each, message) for each in (*error.args, *members.values()))


def _is_said(value: Any, message: str) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if type(value) is int:
        return abs(value) <= _MOST_NUMBER
    return type(value) is str and value in message
