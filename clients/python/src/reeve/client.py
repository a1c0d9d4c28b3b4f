"""The sync client."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from ._endpoints import TlsOptions
from ._enroll import Enrollment, Identified, agent_of_token, attach, enroll, identify, register
from ._flow import run_blocking
from ._ids import AgentId
from ._link import GatewayLink
from ._settings import OnUnavailable, RetryOptions, api_key_of, settings_of
from ._validate import require_text
from .agent import Agent

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._enroll import AttachMembers, EnrollMembers, RegisterMembers


class Reeve:
    """A client of one gateway, or of several that act as one. Its agents share one connection.

    It connects with the first call. After a loss it connects again by itself, to the next gateway if there are several.
    `address` and `api_key` default to `REEVE_GRPC_ADDR` (several separated by commas) and `REEVE_API_KEY`. TLS is on,
    except for an address on this machine.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        addresses: Sequence[str] | None = None,
        api_key: str | None = None,
        tls: bool | TlsOptions | None = None,
        deadline: float = 5.0,
        retry: RetryOptions | None = None,
        on_unavailable: OnUnavailable = "deny",
    ) -> None:
        settings = settings_of(address, addresses, tls, deadline, retry, on_unavailable)
        self._api_key = api_key_of(api_key)
        self._link = GatewayLink(settings)

    def __repr__(self) -> str:
        return f"<Reeve {', '.join(endpoint.address for endpoint in self._link.settings.endpoints)}>"

    def register(self, org_id: str, team_id: str, agent_id: str, **members: Unpack[RegisterMembers]) -> Agent:
        """Registers an agent. If it is registered already, this replaces its token, and the old token stops at once."""
        return Agent(run_blocking(register(self._link, self._api_key, AgentId(org_id, team_id, agent_id), members)))

    def enroll(self, org_id: str, team_id: str, agent_id: str, **members: Unpack[EnrollMembers]) -> Enrollment:
        """Registers an agent for others to act as, and returns its token. Here nobody acts as the agent."""
        return run_blocking(enroll(self._link, self._api_key, AgentId(org_id, team_id, agent_id), members))

    def attach(
        self, org_id: str, team_id: str, agent_id: str, *, token: str, **members: Unpack[AttachMembers]
    ) -> Agent:
        """Acts as a registered agent with its token. Needs no API key, and no call."""
        return Agent(attach(self._link, AgentId(org_id, team_id, agent_id), require_text("token", token), members))

    def agent(
        self, token: str | None = None, *, deadline: float | None = None, **members: Unpack[AttachMembers]
    ) -> Agent:
        """Acts as the registered agent whose token this is, by default that of `REEVE_AGENT_TOKEN`.

        Raises `Unauthenticated` if it is nobody's.
        """
        return Agent(run_blocking(agent_of_token(self._link, token, deadline, members)))

    def identify(self, token: str, *, deadline: float | None = None) -> Identified:
        """Says whose token this is. Raises `Unauthenticated` if it is nobody's."""
        return run_blocking(identify(self._link, require_text("token", token), deadline))

    def close(self) -> None:
        """Ends the connection, the heartbeats and the control of all agents at once. Registrations stay.

        Calls in flight and waiting operations raise `Closed`. Close the agents first to deliver what is owed.
        """
        self._link.close()

    def __enter__(self) -> Reeve:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
