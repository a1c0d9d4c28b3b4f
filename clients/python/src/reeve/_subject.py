"""For whom an agent acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def for_user(members: Mapping[str, Any], token: str | None) -> Mapping[str, Any]:
    """The members of a check, with the token of the user unless the call has its own."""
    if token is None or members.get("subject_token") is not None:
        return members
    return {**members, "subject_token": token}
