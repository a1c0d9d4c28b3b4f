"""A registered agent of the sync client."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from ._completion import Outcome, completion_of
from ._core import AgentCore, AgentStatus
from ._delegate import delegate, revoke
from ._flow import run_blocking
from ._guard import (
    GuardedCalls,
    guarded_members,
    require_no_coroutine,
    require_no_generator,
    rewritable,
    wants_operation,
)
from ._ids import AgentId
from ._subject import for_user
from ._validate import require_text
from .answer import Answer
from .async_operation import AsyncOperation, AsyncOperationContext
from .operation import Operation, OperationContext

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._delegate import DelegateMembers
    from .actions import CheckMembers, GuardMembers, RunMembers, WaitMembers
    from .money import Usd

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Agent:
    """It asks before it acts and reports when it is done. An operator can stop it in between."""

    def __init__(self, core: AgentCore, subject_token: str | None = None) -> None:
        self._core = core
        self._subject_token = subject_token

    def __repr__(self) -> str:
        return f"<Agent {self.id}>"

    @property
    def id(self) -> AgentId:
        return self._core.id

    @property
    def created(self) -> bool:
        """False if the same identity was registered before."""
        return self._core.created

    @property
    def suspended(self) -> bool:
        """Whether an operator has suspended the agent, as of the last heartbeat. Its checks are then denied."""
        return self._core.status.suspended

    @property
    def policy_version(self) -> str:
        """The version of the policies in force, as of the last heartbeat. Empty before the first."""
        return self._core.status.policy_version

    @property
    def revoked(self) -> bool:
        """Whether the gateway has stopped accepting the token."""
        return self._core.revoked

    def on_behalf_of(self, subject_token: str) -> Agent:
        """The same agent, acting for a person or service: every check carries their JWT, unless a call has its own.

        Closing either closes both.
        """
        return Agent(self._core, require_text("subject_token", subject_token))

    def check(self, **members: Unpack[CheckMembers]) -> Answer:
        """Asks whether an action may happen. No answer in time means no."""
        return run_blocking(self._core.open().checks.check(for_user(members, self._subject_token)))

    def check_many(self, checks: Sequence[CheckMembers], *, deadline: float | None = None) -> list[Answer]:
        """Checks many actions at once. The gateway judges each on its own. Answers come in the order of the checks."""
        every = [for_user(members, self._subject_token) for members in checks]
        return run_blocking(self._core.open().checks.check_many(every, deadline))

    def decision(self, **members: Unpack[WaitMembers]) -> Answer:
        """Asks as `check` does, and waits while the action is held, for as long as `wait` says.

        An action that is still held then stays held: the answer is `pending`, and the same ids ask about it again.
        """
        return run_blocking(self._core.open().checks.decision(for_user(members, self._subject_token)))

    def operation(self, **members: Unpack[RunMembers]) -> OperationContext:
        """A block that runs only if the action is allowed: `with agent.operation(tool="search") as op: ...`.

        It waits for a held action. It raises `ActionDenied` if the action is denied or held for too long,
        `OperationTerminated` if an operator terminated it, and `GatewayUnavailable` if nobody could be asked.
        """
        return OperationContext(self._core, for_user(members, self._subject_token))

    def run(self, work: Callable[[], Result] | Callable[[Operation], Result], **members: Unpack[RunMembers]) -> Result:
        """Checks an action, does it if it is allowed, and reports how it ended. Raises as `operation` does.

        It gives the result as it may be read, and raises `ResultDenied` if nobody may. A report that cannot be
        delivered does not cost the result. The SDK sends it later.
        """
        require_no_generator(work)
        require_no_coroutine(work)
        act: Callable[..., Result] = work
        takes_operation = wants_operation(work)
        checked = OperationContext(self._core, for_user(rewritable(members, takes_operation), self._subject_token))
        return checked.run(lambda op: act(op) if takes_operation else act())

    @overload
    def guard(
        self,
        tool: str | None = None,
        *,
        pass_operation: Literal[True],
        source: str | None = None,
        url: str | None = None,
        args: Callable[..., Any] | None = None,
        **details: Unpack[GuardMembers],
    ) -> Callable[[Callable[Concatenate[Any, Arguments], Result]], Callable[Arguments, Result]]: ...

    @overload
    def guard(
        self,
        tool: str | None = None,
        *,
        pass_operation: Literal[False] = False,
        source: str | None = None,
        url: str | None = None,
        args: Callable[..., Any] | None = None,
        **details: Unpack[GuardMembers],
    ) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]: ...

    def guard(
        self,
        tool: str | None = None,
        *,
        pass_operation: bool = False,
        source: str | None = None,
        url: str | None = None,
        args: Callable[..., Any] | None = None,
        **details: Unpack[GuardMembers],
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Wraps a function so that each call is checked first, as an operation of the tool. Raises as `operation` does.

        The function may be a coroutine function. `tool` is by default its name, and what policies see as `args` are the
        arguments by their names, unless `args` makes something else of them. With `pass_operation` the function gets
        the operation as its first argument.
        """

        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            members = guarded_members(function, tool, source, url, for_user(details, self._subject_token))
            calls = GuardedCalls(function, members, args, pass_operation)

            @functools.wraps(function)
            def guarded(*given: Any, **keywords: Any) -> Any:
                def call(op: Operation) -> Any:
                    passed, named = calls.given(op, given, keywords)
                    return function(*passed, **named)

                return OperationContext(self._core, calls.members(given, keywords)).run(call)

            @functools.wraps(function)
            async def guarded_async(*given: Any, **keywords: Any) -> Any:
                def call(op: AsyncOperation) -> Any:
                    passed, named = calls.given(op, given, keywords)
                    return function(*passed, **named)

                return await AsyncOperationContext(self._core, calls.members(given, keywords)).run(call)

            return guarded_async if inspect.iscoroutinefunction(function) else guarded

        return wrap

    def complete(
        self,
        op_id: str,
        outcome: Outcome = "succeeded",
        cost_usd: Usd | None = None,
        detail: str | None = None,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cached_input_tokens: int | None = None,
        deadline: float | None = None,
    ) -> None:
        """Reports that an allowed action has ended. For a terminated action, this reports that the work has stopped."""
        completion = completion_of(outcome, cost_usd, detail, input_tokens, output_tokens, cached_input_tokens)
        run_blocking(self._core.reports.complete(op_id, completion, self._core.link.deadline(deadline)))

    def check_result(self, op_id: str, result: Any, *, is_error: bool = False) -> Any:
        """Has judged what an allowed action brought back, and gives it as it may be read. Raises `ResultDenied`.

        For those who use `check` and `complete`, where the answer says `judge_result`.
        """
        return run_blocking(self._core.check_result(op_id, result, is_error))

    def denied_tools(self, source: str, names: Sequence[str], *, deadline: float | None = None) -> list[str]:
        """The tools of the source, of those named, that policy denies to this agent whatever their arguments."""
        return run_blocking(self._core.denied_tools(source, names, deadline))

    def delegate(self, *, child_id: str, ttl: int, **members: Unpack[DelegateMembers]) -> Agent:
        """Lets another agent of the team act for this one, within limits and for `ttl` seconds, and returns it.

        It may do nothing that this one may not. To delegate to the same id again replaces its limits and its token.
        """
        return Agent(run_blocking(delegate(self._core.open(), child_id, ttl, members)))

    def revoke_delegation(self, child_id: str, *, deadline: float | None = None) -> None:
        """Ends what was delegated to this child: its token stops, and its running operations are terminated."""
        run_blocking(revoke(self._core, child_id, deadline))

    def heartbeat(self, *, deadline: float | None = None) -> AgentStatus:
        """Sends a heartbeat now. The regular ones go on by themselves."""
        return run_blocking(self._core.heartbeat(deadline))

    def deregister(self, reason: str = "", *, deadline: float | None = None) -> None:
        """Ends the registration. The token stops working and running operations are terminated."""
        run_blocking(self._core.deregister(reason, deadline))

    def close(self) -> None:
        """Ends heartbeats and control of this agent, after owed reports are delivered. The registration stays."""
        run_blocking(self._core.close())

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
