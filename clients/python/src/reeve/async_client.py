"""The async client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from ._endpoints import TlsOptions
from ._enroll import Enrollment, Identified, agent_of_token, attach, enroll, identify, register
from ._flow import run_async
from ._ids import AgentId
from ._link import GatewayLink
from ._settings import OnUnavailable, RetryOptions, api_key_of, settings_of
from ._validate import require_text
from .async_agent import AsyncAgent

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._enroll import AttachMembers, EnrollMembers, RegisterMembers


class AsyncReeve:
    """The client for asyncio, with the methods of `Reeve`. One client may serve several event loops.

    Heartbeats, control and acknowledgements run in threads of the SDK, so a busy event loop does not make an agent look
    dead. Listeners of agents run there too.
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
        return f"<AsyncReeve {', '.join(endpoint.address for endpoint in self._link.settings.endpoints)}>"

    async def register(
        self, org_id: str, team_id: str, agent_id: str, **members: Unpack[RegisterMembers]
    ) -> AsyncAgent:
        """Registers an agent. If it is registered already, this replaces its token, and the old token stops at once."""
        agent = AgentId(org_id, team_id, agent_id)
        return AsyncAgent(await run_async(register(self._link, self._api_key, agent, members)))

    async def enroll(self, org_id: str, team_id: str, agent_id: str, **members: Unpack[EnrollMembers]) -> Enrollment:
        """Registers an agent for others to act as, and returns its token. Here nobody acts as the agent."""
        return await run_async(enroll(self._link, self._api_key, AgentId(org_id, team_id, agent_id), members))

    def attach(
        self, org_id: str, team_id: str, agent_id: str, *, token: str, **members: Unpack[AttachMembers]
    ) -> AsyncAgent:
        """Acts as a registered agent with its token. Needs no API key, and no call."""
        agent = AgentId(org_id, team_id, agent_id)
        return AsyncAgent(attach(self._link, agent, require_text("token", token), members))

    async def agent(
        self, token: str | None = None, *, deadline: float | None = None, **members: Unpack[AttachMembers]
    ) -> AsyncAgent:
        """Acts as the registered agent whose token this is, by default that of `REEVE_AGENT_TOKEN`.

        Raises `Unauthenticated` if it is nobody's.
        """
        return AsyncAgent(await run_async(agent_of_token(self._link, token, deadline, members)))

    async def identify(self, token: str, *, deadline: float | None = None) -> Identified:
        """Says whose token this is. Raises `Unauthenticated` if it is nobody's."""
        return await run_async(identify(self._link, require_text("token", token), deadline))

    async def close(self) -> None:
        """Ends the connection, the heartbeats and the control of all agents at once. Registrations stay.

        Calls in flight and waiting operations raise `Closed`. Close the agents first to deliver what is owed.
        """
        await asyncio.to_thread(self._link.close)

    async def __aenter__(self) -> AsyncReeve:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
