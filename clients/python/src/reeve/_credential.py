"""The token of an agent, which is renewed while it is in use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._flow import Flow, Result
from .errors import ReeveError, Unauthenticated

if TYPE_CHECKING:
    from ._worker import Job, Worker

#: How soon a renewal that failed is tried again, by the life of the token.
TRIES_PER_LIFE = 30
#: A renewal whose answer was lost can be repeated while the former token works, for a minute.
LONGEST_PAUSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class TokenLife:
    """How long a token works, and for how much longer, in seconds."""

    ttl: float
    left: float

    @property
    def renew_after(self) -> float:
        """The wait until two thirds of the life are over."""
        return max(self.left - self.ttl / 3, 0.0)


class Credential:
    """One for all who act with a token. Whoever sends takes the token from here each time."""

    __slots__ = ("_first", "_former", "renewing", "token", "users")

    def __init__(self, token: str) -> None:
        self.token = token
        # What everybody came with, and the token before this. Whoever comes with them later means this credential.
        self._first = token
        self._former = token
        #: How many act with it.
        self.users = 0
        self.renewing: Job | None = None

    def had(self, token: str) -> bool:
        return token in (self.token, self._former, self._first)

    def replace(self, token: str) -> None:
        self._former = self.token
        self.token = token


def with_token(credential: Credential, call: Callable[[str], Flow[Result]]) -> Flow[Result]:
    """Makes a call with the token.

    If the gateway does not accept it, and it was renewed meanwhile, the call is made once more: the gateway has done
    nothing for the first.
    """
    sent = credential.token
    try:
        return (yield from call(sent))
    except Unauthenticated:
        if sent == credential.token:
            raise
    return (yield from call(credential.token))


def check_with_token(
    credential: Credential, check: Callable[[str], Flow[Result]], is_refused: Callable[[Result], bool]
) -> Flow[Result]:
    """Makes a check in the same way. A check that is refused has an answer that says so."""
    sent = credential.token
    answer = yield from check(sent)
    if sent != credential.token and is_refused(answer):
        return (yield from check(credential.token))
    return answer


class Credentials:
    """The credentials of one agent, one for each token, so that a token is renewed once, whoever acts with it."""

    def __init__(self, worker: Worker, lock: threading.RLock, renewed: Callable[[Credential], str | None]) -> None:
        self._worker = worker
        self._lock = lock
        #: Asks for a new token, and waits. None: not now.
        self._renewed = renewed
        self._known: list[Credential] = []

    def take(self, token: str) -> Credential:
        """The credential of a token, for one user more, who lets it go once."""
        with self._lock:
            known = self.that_had(token)
            if known is None:
                known = Credential(token)
                self._known.append(known)
            known.users += 1
            return known

    def that_had(self, token: str) -> Credential | None:
        with self._lock:
            return next((known for known in self._known if known.had(token)), None)

    def let_go(self, credential: Credential) -> None:
        with self._lock:
            credential.users -= 1
            if credential.users == 0:
                self._known.remove(credential)
                if credential.renewing is not None:
                    credential.renewing.cancel()

    def renew_before(self, credential: Credential, life: TokenLife) -> None:
        """Renews in time from now on. Of several who say when it ends, the first counts."""
        with self._lock:
            if credential.renewing is None:
                self._schedule(credential, life.ttl, life.renew_after)

    def _schedule(self, credential: Credential, ttl: float, delay: float) -> None:
        with self._lock:
            if credential.users > 0:
                credential.renewing = self._worker.schedule(delay, lambda: self._renew(credential, ttl))

    def _renew(self, credential: Credential, ttl: float) -> None:
        """In the worker. Calls with the old token still succeed for a while."""
        try:
            token = self._renewed(credential)
        except Unauthenticated:
            # The heartbeat notices, too, and says so.
            return
        except ReeveError:
            token = None
        soon = min(ttl / TRIES_PER_LIFE, LONGEST_PAUSE_SECONDS)
        self._schedule(credential, ttl, soon if token is None else ttl * 2 / 3)
