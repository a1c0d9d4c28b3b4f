"""A connection to one gateway."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, NamedTuple

import grpc

from ._endpoints import Endpoint, TlsOptions
from ._retry import Deadline
from ._rpc import LARGEST_MESSAGE, LARGEST_RESULT_MESSAGE, Request, Response, Rpc
from ._status import error_of_status
from ._version import __version__
from .errors import Closed, GatewayUnavailable, ReeveError

#: How long a gateway that was asked may say nothing, if there are others.
ANSWER_PATIENCE = 2.0


class CallOptions(NamedTuple):
    deadline: Deadline
    #: Sent as `authorization: Bearer …`.
    bearer: str | None = None
    #: Whether the call waits for a lost connection to return, or fails at once.
    wait_for_ready: bool = False


class Channel:
    """Carries calls. It connects with the first one, and again after a loss.

    With `connect_timeout` there are other gateways: the channel then notices one that is connected but silent. Silence
    counts from the first question without an answer, whoever asked it. A gateway that answers others is only slow.
    """

    def __init__(self, endpoint: Endpoint, connect_timeout: float | None) -> None:
        self.address = endpoint.address
        self._watched = connect_timeout is not None
        self._lock = threading.Lock()
        self._in_flight = 0
        #: Those of them that a gateway answers soon, unless it is silent.
        self._asking = 0
        self._since: float | None = None
        self._answered = False
        self._failed = False
        self._left = False
        self._forsaken = False
        self._closed = False
        self._methods: dict[str, Any] = {}
        options = _options(endpoint.tls, connect_timeout)
        if endpoint.tls is None:
            self._channel = grpc.insecure_channel(endpoint.address, options)
        else:
            self._channel = grpc.secure_channel(endpoint.address, _credentials(endpoint.tls), options)

    def unary(self, rpc: Rpc[Request, Response], request: Request, options: CallOptions) -> Response:
        """One attempt of one call, by the calling thread."""
        method = self._method(rpc)
        keywords = _keywords(options)
        is_slow = _is_slow(rpc)
        self._enter(is_slow)
        try:
            if not self._watched or is_slow:
                answer: Response = method(request, **keywords)
            else:
                call = method.future(request, **keywords)
                while not self._waited(call):
                    self._forsake_if_silent(call)
                answer = call.result()
        except BaseException as error:
            raise self._left_with(error, is_slow) from None
        self._exit(answered=True, is_slow=is_slow)
        return answer

    async def unary_async(self, rpc: Rpc[Request, Response], request: Request, options: CallOptions) -> Response:
        """One attempt of one call. The library finishes it in a thread of its own, and tells the loop."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        is_slow = _is_slow(rpc)
        self._enter(is_slow)
        try:
            call = self._method(rpc).future(request, **_keywords(options))
            call.add_done_callback(lambda _: _tell(loop, done))
            try:
                while not await self._awaited(done, is_slow):
                    self._forsake_if_silent(call)
            except asyncio.CancelledError:
                call.cancel()
                raise
            answer: Response = call.result()
        except BaseException as error:
            raise self._left_with(error, is_slow) from None
        self._exit(answered=True, is_slow=is_slow)
        return answer

    def start(self, rpc: Rpc[Request, Response], request: Request, options: CallOptions) -> Any:
        """Begins a call. `outcome_of` waits for it."""
        self._enter()
        try:
            return self._method(rpc).future(request, **_keywords(options))
        except BaseException as error:
            raise self._left_with(error) from None

    def outcome_of(self, call: Any) -> Any:
        try:
            while not self._waited(call):
                self._forsake_if_silent(call)
            answer = call.result()
        except BaseException as error:
            raise self._left_with(error) from None
        self._exit(answered=True)
        return answer

    def stream(self, rpc: Rpc[Request, Response], request: Request) -> Any:
        """A stream of messages from the gateway. It fails at once without a connection."""
        method = self._methods.get(rpc.path)
        if method is None:
            method = self._channel.unary_stream(rpc.path, rpc.request.SerializeToString, rpc.response.FromString)
            self._methods[rpc.path] = method
        try:
            return method(request)
        except ValueError:
            raise self._unusable() from None

    @property
    def lost(self) -> bool:
        """Whether the gateway failed after it had answered. It is probably shutting down."""
        return self._left or (self._answered and self._failed)

    @property
    def answered(self) -> bool:
        return self._answered and not self._failed

    def note(self, answered: bool) -> None:
        """What a stream heard of the gateway."""
        with self._lock:
            self._answered = self._answered or answered
            self._failed = not answered

    def leave(self) -> None:
        """Gives the connection up. Calls that have gone out may still be answered."""
        with self._lock:
            self._left = True
            idle = self._in_flight == 0
        if idle:
            self._channel.close()

    def close(self) -> None:
        """Ends every call that is in flight."""
        self._closed = True
        self._channel.close()

    def error_of(self, error: grpc.RpcError) -> ReeveError:
        if self._closed:
            return Closed()
        if self._forsaken:
            return self.unavailable("the gateway does not answer")
        if isinstance(error, grpc.Call):
            return error_of_status(error.code(), error.details(), self.address)
        return error_of_status(None, "", self.address)

    def unavailable(self, reason: str, may_have_arrived: bool = True) -> GatewayUnavailable:
        return GatewayUnavailable(reason, may_have_arrived, (self.address,))

    def _method(self, rpc: Rpc[Request, Response]) -> Any:
        method = self._methods.get(rpc.path)
        if method is None:
            method = self._channel.unary_unary(rpc.path, rpc.request.SerializeToString, rpc.response.FromString)
            self._methods[rpc.path] = method
        return method

    def _enter(self, is_slow: bool = False) -> None:
        """A slow call says nothing of a gateway while it waits."""
        with self._lock:
            self._in_flight += 1
            self._asking += not is_slow
            if self._since is None and not is_slow:
                self._since = time.monotonic()

    def _exit(self, answered: bool, withdrawn: bool = False, is_slow: bool = False) -> None:
        with self._lock:
            self._in_flight -= 1
            self._asking -= not is_slow
            if answered:
                self._answered, self._failed = True, False
                self._since = time.monotonic() if self._asking else None
            elif withdrawn:
                self._since = None if self._asking == 0 else self._since
            else:
                self._failed = True
            close = self._left and self._in_flight == 0
        if close:
            self._channel.close()

    def _left_with(self, error: BaseException, is_slow: bool = False) -> BaseException:
        """The error of a call that has ended, as the SDK's."""
        if isinstance(error, grpc.RpcError):
            found = self.error_of(error)
            self._exit(answered=not isinstance(found, (GatewayUnavailable, Closed)), is_slow=is_slow)
            return found
        if isinstance(error, grpc.FutureCancelledError):
            self._exit(answered=False, is_slow=is_slow)
            return Closed() if self._closed else self.unavailable("the gateway does not answer")
        self._exit(answered=False, withdrawn=True, is_slow=is_slow)
        return self._unusable() if isinstance(error, ValueError) else error

    def _unusable(self) -> ReeveError:
        """The library raises ValueError where the channel is closed already."""
        return Closed() if self._closed else self.unavailable("no connection in time", may_have_arrived=False)

    def _patience_left(self) -> float:
        since = self._since
        return ANSWER_PATIENCE if since is None else since + ANSWER_PATIENCE - time.monotonic()

    def _waited(self, call: Any) -> bool:
        if not self._watched:
            return True
        try:
            call.exception(timeout=max(0.01, self._patience_left()))
        except grpc.FutureTimeoutError:
            return False
        except grpc.FutureCancelledError:
            return True
        return True

    async def _awaited(self, done: asyncio.Future[None], is_slow: bool) -> bool:
        if not self._watched or is_slow:
            await done
            return True
        finished, _ = await asyncio.wait((done,), timeout=max(0.01, self._patience_left()))
        return bool(finished)

    def _forsake_if_silent(self, call: Any) -> None:
        if self._patience_left() > 0 or call.done():
            return
        self._forsaken = True
        self.leave()
        self._channel.close()


def _is_slow(rpc: Rpc[Any, Any]) -> bool:
    return rpc.longest > LARGEST_MESSAGE


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Future[None]) -> None:
    def finish() -> None:
        if not done.done():
            done.set_result(None)

    try:
        loop.call_soon_threadsafe(finish)
    except RuntimeError:
        # The loop has ended, and nobody waits any more.
        return


def _keywords(options: CallOptions) -> dict[str, Any]:
    keywords: dict[str, Any] = {"timeout": max(options.deadline.remaining, 0.001)}
    if options.bearer is not None:
        keywords["metadata"] = (("authorization", f"Bearer {options.bearer}"),)
    if options.wait_for_ready:
        keywords["wait_for_ready"] = True
    return keywords


def _options(tls: TlsOptions | None, connect_timeout: float | None) -> list[tuple[str, Any]]:
    options: list[tuple[str, Any]] = [
        ("grpc.primary_user_agent", f"reeve-python/{__version__}"),
        # The SDK finds a restarted gateway soon, and notices a connection that died silently.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2000),
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 5000),
        ("grpc.http2.max_pings_without_data", 0),
        # Each client has its own connection, so closing one takes nothing from another.
        ("grpc.use_local_subchannel_pool", 1),
        # The SDK retries under its own budget. A name server has no say in retries.
        ("grpc.service_config_disable_resolution", 1),
        ("grpc.enable_retries", 0),
        # The library has no limit for one method alone, and a masked result is as long as a result may be.
        ("grpc.max_receive_message_length", LARGEST_RESULT_MESSAGE),
    ]
    if connect_timeout is not None:
        options.append(("grpc.min_reconnect_backoff_ms", int(connect_timeout * 1000)))
    if tls is not None and tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    return options


def _credentials(tls: TlsOptions) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(_pem(tls.ca), _pem(tls.key), _pem(tls.cert))


def _pem(text: bytes | str | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text
