"""What a client and its agents share: the gateways, the retry budget and the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._channel import CallOptions, Channel
from ._flow import Effect, Flow, Sleep
from ._fork import follow_forks
from ._gateways import Gateways, Tour
from ._retry import Deadline, Retries, RetryBudget, deadline_in
from ._rpc import Request, Response, Rpc, require_sendable
from ._settings import Settings
from ._validate import require_seconds
from ._worker import Worker
from .errors import Closed, GatewayUnavailable, ReeveError

if TYPE_CHECKING:
    from ._agent_link import AgentLink
    from ._ids import AgentId


class _Attempt:
    """One attempt of one call, as an effect."""

    __slots__ = ("_channel", "_options", "_request", "_rpc")

    def __init__(self, channel: Channel, rpc: Rpc[Any, Any], request: Any, options: CallOptions) -> None:
        self._channel = channel
        self._rpc = rpc
        self._request = request
        self._options = options

    def block(self) -> Any:
        return self._channel.unary(self._rpc, self._request, self._options)

    async def wait(self) -> Any:
        return await self._channel.unary_async(self._rpc, self._request, self._options)


class GatewayLink:
    """The connection of a client."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.closing = threading.Event()
        #: Whether this process is the child of the one that made the client.
        self.forked = False
        self._lock = threading.RLock()
        self._agents: dict[AgentId, AgentLink] = {}
        self._budget = RetryBudget(settings.retry.burst, settings.retry.ratio)
        self._no_retries = RetryBudget(0, 0)
        self.worker = Worker()
        self.gateways = Gateways(settings.endpoints, settings.retry, self._follow)
        follow_forks(self)

    def require_own_process(self) -> None:
        """In a forked child, locks may be held by threads that do not exist there. So this comes first of all."""
        if self.forked:
            raise Closed("this client belongs to the process that was forked: make a new one in the child")

    def deadline(self, seconds: float | None) -> Deadline:
        if seconds is None:
            return deadline_in(self.settings.deadline)
        return deadline_in(require_seconds("deadline", seconds))

    def send(
        self,
        rpc: Rpc[Request, Response],
        request: Request,
        deadline: Deadline,
        *,
        bearer: str | None = None,
        once: bool = False,
        on_attempt: Callable[[], object] | None = None,
    ) -> Flow[Response]:
        """Calls until there is an answer, within the deadline. `once`: each gateway at most once, without retries."""
        self.require_own_process()
        require_sendable(request, rpc.longest)
        budget = self._no_retries if once else self._budget
        tour = Tour(self.gateways, rpc.path)
        retries: Retries | None = None
        while True:
            if on_attempt is not None:
                on_attempt()
            channel = self.gateways.use()
            attempt: Effect = _Attempt(channel, rpc, request, CallOptions(deadline, bearer, tour.waits_for_ready))
            try:
                answer: Response = yield attempt
            except GatewayUnavailable as error:
                retries = retries or Retries(budget, self.settings.retry, deadline)
                retries.overdue(error)
                pause = retries.pause(tour.after(error, channel))
            except ReeveError as error:
                if not isinstance(error, Closed):
                    self.gateways.answered(channel, rpc.path)
                    budget.answered()
                raise
            else:
                self.gateways.answered(channel, rpc.path)
                budget.answered()
                return answer
            if pause > 0:
                yield Sleep(pause, self.closing)

    def tell(
        self, rpc: Rpc[Request, Response], request: Request, deadline: Deadline, done: type[ReeveError]
    ) -> Flow[None]:
        """Calls until the gateway knows.

        The error `done` says that it knew already: an earlier attempt may have been carried out although its answer was
        lost.
        """
        attempts = 0

        def count() -> None:
            nonlocal attempts
            attempts += 1

        try:
            yield from self.send(rpc, request, deadline, on_attempt=count)
        except done:
            if attempts <= 1:
                raise

    def agent(self, agent_id: AgentId) -> AgentLink:
        """The link of this client for an agent, however often it registers or attaches the agent."""
        from ._agent_link import AgentLink

        self.require_own_process()
        with self._lock:
            if self.closing.is_set():
                raise Closed
            known = self._agents.get(agent_id)
            if known is None:
                known = self._agents[agent_id] = AgentLink(self, agent_id)
            return known

    def token_now(self, token: str) -> str:
        """The token that an agent of this client has got in place of this one, or itself."""
        with self._lock:
            agents = list(self._agents.values())
        found = (agent.credentials.that_had(token) for agent in agents)
        return next((credential.token for credential in found if credential is not None), token)

    def forget_agent(self, agent_id: AgentId, link: AgentLink) -> None:
        with self._lock:
            if self._agents.get(agent_id) is link:
                del self._agents[agent_id]

    def close(self) -> None:
        """Ends calls in flight, heartbeats and control. No thread remains."""
        if self.forked:
            return
        self.closing.set()
        with self._lock:
            agents = list(self._agents.values())
        for agent in agents:
            agent.close(Closed())
        self.gateways.close()
        self.worker.stop()
        for agent in agents:
            agent.join_threads()

    def _follow(self) -> None:
        """All streams of the client go where its calls go."""
        for agent in list(self._agents.values()):
            agent.follow()
