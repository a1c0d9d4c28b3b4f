"""Everything a client holds for one agent, however often it registers or attaches the agent."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal

from ._acks import AckOutcome, AckQueue
from ._agent_ops import AgentOps
from ._channel import CallOptions, Channel
from ._control import ConnectionEvent, Control
from ._control_stream import ControlStream, StreamEvents, Subscription
from ._credential import Credential, Credentials, TokenLife
from ._flow import run_blocking
from ._ids import AgentId, wire_agent_id
from ._rpc import ACK_CONTROL, CONTROL_STREAM, RENEW_TOKEN
from .errors import (
    Closed,
    GatewayUnavailable,
    InternalError,
    ReeveError,
    ResourceExhausted,
    Unauthenticated,
)
from .v1.agent_service_pb2 import RenewTokenRequest
from .v1.policy_service_pb2 import AckOpControlRequest, OpControlMessage, OpControlSubscribeRequest

if TYPE_CHECKING:
    from ._link import GatewayLink

_log = logging.getLogger("reeve")

_OUTCOMES = {
    "received": AckOpControlRequest.RECEIVED,
    "failed": AckOpControlRequest.FAILED,
    "effective": AckOpControlRequest.EFFECTIVE,
}
#: These errors mean that the gateway does not know. Any other means that it does not care, or that all is over.
_UNTOLD = (GatewayUnavailable, ResourceExhausted, InternalError, Unauthenticated, Closed)


class AgentUser:
    """Somebody in this process who acts as the agent with a token."""

    def __init__(
        self,
        credential: Credential,
        shared: bool,
        on_control: Callable[[Control], object],
        on_connection: Callable[[ConnectionEvent], object],
        on_reports_due: Callable[[], object],
        on_revoked: Callable[[Unauthenticated], object],
    ) -> None:
        self.credential = credential
        #: Whether other processes act as the same agent.
        self.shared = shared
        self.on_control = on_control
        self.on_connection = on_connection
        self.on_reports_due = on_reports_due
        self.on_revoked = on_revoked

    @property
    def token(self) -> str:
        return self.credential.token


class AgentLink:
    """One control stream with the newest token, the operations, and the reports owed.

    So a new registration keeps operations under control.
    """

    def __init__(self, link: GatewayLink, agent_id: AgentId) -> None:
        self._link = link
        self._id = agent_id
        self._users: list[AgentUser] = []
        self._heard: Literal["nothing", "connected", "lost"] = "nothing"
        self._ever_connected = False
        self.lock = threading.RLock()
        self.credentials = Credentials(link.worker, self.lock, self._renewed)
        self._acks = AckQueue(self._acknowledge, link.worker, link.settings.retry, self.lock)
        self.ops = AgentOps(self._acks, self.lock, self._forget_if_unused, link.require_own_process)
        self._stream = ControlStream(
            str(self._id),
            self._subscribe,
            link.settings.retry,
            StreamEvents(self._take, self._connected, self._lost, self._refused),
        )

    def join(self, user: AgentUser, fresh: bool, life: TokenLife | None = None) -> None:
        """`fresh`: the gateway did not know the agent before, so its controls count from the start.

        `life` is that of the token, if it ends.
        """
        with self.lock:
            self._users.append(user)
            if life is not None and not user.shared:
                self.credentials.renew_before(user.credential, life)
            if fresh:
                self.ops.count_anew()
            self.ops.lost = None
            self.ops.deaf = False
        self._stream.open()
        self._acks.wake()

    def leave(self, user: AgentUser, why: ReeveError) -> None:
        with self.lock:
            if user not in self._users:
                return
            self._users.remove(user)
            self.credentials.let_go(user.credential)
        self._go_on(why)

    def revoke(self, token: str, why: Unauthenticated) -> None:
        with self.lock:
            gone = [user for user in self._users if user.token == token]
            self._users = [user for user in self._users if user.token != token]
            for user in gone:
                self.credentials.let_go(user.credential)
        self._go_on(why)
        event = ConnectionEvent("ended", self._link.gateways.address, str(why))
        for user in gone:
            _notify(user.on_connection, event)
            _notify(user.on_revoked, why)

    def follow(self) -> None:
        """The client has gone on to another gateway."""
        self._stream.follow()

    def close(self, why: ReeveError) -> None:
        """The client ends."""
        with self.lock:
            for user in self._users:
                self.credentials.let_go(user.credential)
            self._users = []
        self._stream.close()
        self._acks.rest()
        self.ops.lose(why)

    def join_threads(self) -> None:
        self._stream.join()

    def flush(self) -> list[Future[None]]:
        """Done when all acknowledgements are delivered, or the gateway is out of reach."""
        return self._acks.flush()

    def _renewed(self, credential: Credential) -> str | None:
        """In the worker. A token that others hold, too, is theirs to renew: it would end for them."""
        users = [user for user in list(self._users) if user.credential is credential]
        if any(user.shared for user in users):
            return None
        request = RenewTokenRequest(agent_id=wire_agent_id(self._id), credential_token=credential.token)
        answer = run_blocking(self._link.send(RENEW_TOKEN, request, self._link.deadline(None)))
        credential.replace(answer.credential_token)
        self._stream.follow()
        return answer.credential_token

    def _go_on(self, why: ReeveError) -> None:
        """The token that left may have been the token of the stream."""
        with self.lock:
            remaining = bool(self._users)
        if remaining:
            self._stream.follow()
            return
        self._stream.close()
        self._acks.rest()
        self.ops.lose(why)
        self._forget_if_unused()

    def _forget_if_unused(self) -> None:
        if not self._users and self.ops.idle:
            self._link.forget_agent(self._id, self)

    def _subscribe(self) -> Subscription:
        users = self._users
        if not users:
            raise Closed
        token = users[-1].token
        request = OpControlSubscribeRequest(
            agent_id=wire_agent_id(self._id), credential_token=token, after_sequence=self.ops.cursor
        )
        channel = self._link.gateways.use()
        return Subscription(channel.stream(CONTROL_STREAM, request), channel, token)

    def _take(self, message: OpControlMessage) -> None:
        users = list(self._users)
        control = self.ops.take(message, all(user.shared for user in users))
        if control is None:
            return
        if self.ops.owed:
            self._reports_due()
        for user in users:
            _notify(user.on_control, control)

    def _connected(self, to: Subscription) -> None:
        self._link.gateways.answered(to.channel, CONTROL_STREAM.path)
        again = self._ever_connected
        self._heard = "connected"
        self._ever_connected = True
        self._acks.wake()
        if again:
            self.ops.ask_again()
            self._reports_due()
        self._tell(ConnectionEvent("connected", to.channel.address, again=again))

    def _lost(self, error: ReeveError, at: Subscription) -> None:
        if isinstance(error, GatewayUnavailable):
            self._link.gateways.failed(at.channel, CONTROL_STREAM.path)
        if self._heard != "lost":
            self._heard = "lost"
            self._tell(ConnectionEvent("lost", at.channel.address, str(error)))

    def _refused(self, why: Literal["unauthenticated", "unsupported"], error: ReeveError, at: Subscription) -> None:
        if why == "unauthenticated":
            self.revoke(at.token, Unauthenticated(str(error)))
            return
        self.ops.deaf = True
        self.ops.ask_again()
        _log.warning("agents of this client cannot be stopped: %s", error)
        self._tell(ConnectionEvent("unsupported", at.channel.address, str(error)))

    def _reports_due(self) -> None:
        users = self._users
        if users:
            _notify(users[-1].on_reports_due)

    def _tell(self, event: ConnectionEvent) -> None:
        for user in list(self._users):
            _notify(user.on_connection, event)

    def _acknowledge(self, acks: list[tuple[int, AckOutcome, str]]) -> list[bool]:
        """In the worker: sends all at once, then waits for each."""
        users = self._users
        if not users:
            return [False for _ in acks]
        token = users[-1].token
        deadline = self._link.deadline(None)
        begun: list[tuple[Channel, Any] | None] = []
        for sequence, outcome, detail in acks:
            request = AckOpControlRequest(
                agent_id=wire_agent_id(self._id),
                credential_token=token,
                sequence=sequence,
                outcome=_OUTCOMES[outcome],
                detail=detail,
            )
            try:
                channel = self._link.gateways.use()
                begun.append((channel, channel.start(ACK_CONTROL, request, CallOptions(deadline))))
            except ReeveError:
                begun.append(None)
        results = []
        for started in begun:
            if started is None:
                results.append(False)
                continue
            at, call = started
            try:
                at.outcome_of(call)
                results.append(True)
            except ReeveError as error:
                if isinstance(error, GatewayUnavailable):
                    self._link.gateways.failed(at, ACK_CONTROL.path)
                results.append(not isinstance(error, _UNTOLD))
        return results


def _notify(listener: Callable[..., object], *event: object) -> None:
    """Calls a listener. If it raises, the error is logged and breaks nothing here."""
    try:
        listener(*event)
    except Exception:
        _log.exception("a listener failed")
