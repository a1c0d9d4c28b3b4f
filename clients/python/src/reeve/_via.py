"""Who asks for an agent that does not ask by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._validate import optional_text
from .errors import InvalidRequest
from .v1.policy_service_pb2 import Via as WireVia

#: A proxy for MCP, one for model calls, or a hook.
Door = Literal["mcp", "model", "hook"]

_DOORS: dict[str, WireVia.Door] = {"mcp": WireVia.MCP, "model": WireVia.MODEL, "hook": WireVia.HOOK}


@dataclass(frozen=True, slots=True)
class Via:
    """The door that an action comes through. Agents that ask for themselves leave it out."""

    door: Door
    #: The MCP server, the upstream of the model, or the host of the hook.
    name: str | None = None


def wire_via(via: object) -> WireVia:
    if not isinstance(via, Via) or via.door not in _DOORS:
        raise InvalidRequest(f"via: must be a Via whose door is one of {', '.join(_DOORS)}")
    return WireVia(door=_DOORS[via.door], name=optional_text("via.name", via.name))
