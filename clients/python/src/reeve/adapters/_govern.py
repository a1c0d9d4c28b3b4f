"""Has a call decided, does it if it may happen, and reports how it ended."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from .._core import AgentCore
from .._flow import Flow, run_blocking, run_through
from .._ids import AgentId
from .._said import Said
from .._subject import for_user
from ..agent import Agent
from ..answer import Answer
from ..async_agent import AsyncAgent
from ..async_operation import AsyncOperation, AsyncOperationContext
from ..current import CallContext, call_around, inside
from ..errors import InvalidRequest, MaskedError, OperationTerminated, ReeveError, ResultDenied
from ..operation import Operation, OperationContext
from ._judged import WHOLE, JudgedPart
from ._options import CallOptions, GovernOptions, cost_of, require_known, run_id_of
from ._outcome import Refusal, refusal_of
from .subagents import acting_as, subagent

AnyAgent = Agent | AsyncAgent
Result = TypeVar("Result")

_DEFAULT_WAIT = 50.0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What a framework tells of a call of a tool."""

    tool: str
    #: JSON, as the tool will get it.
    args: Any
    #: The run, as the framework knows it.
    run_id: str | None = None
    #: The trace and the span of the operation that the call continues. Otherwise a new one.
    ids: tuple[str, str] | None = None
    #: Whether the framework says that the tool starts another agent.
    spawns: bool = False
    #: Whether the tool is called with the arguments of the answer, where rules have rewritten them.
    takes_args: bool = False


_ID = re.compile(r"[A-Za-z0-9_-]{1,100}\Z")


def ids_of_call(run_id: str | None, call_id: str) -> tuple[str, str]:
    """The same operation for the same call of a tool, also after the process has restarted.

    Frameworks that interrupt a run ask again when it goes on. Models choose the ids of calls, so that without its run a
    call could pass for one of another run.
    """
    if not run_id:
        raise InvalidRequest(
            "run_id: a run that can be interrupted needs one of its own; for a graph it is the thread_id"
        )
    trace_id, span_id = (
        text if _ID.match(text) else hashlib.sha256(text.encode()).hexdigest() for text in (run_id, call_id)
    )
    return trace_id, span_id


class Calls:
    """The governed calls of an agent, sync and async. Either kind of agent serves both."""

    def __init__(self, agent: AnyAgent) -> None:
        if not isinstance(agent, (Agent, AsyncAgent)):
            raise InvalidRequest("agent: must be an agent of Reeve or AsyncReeve")
        self._given = agent._core
        self.subject_token = agent._subject_token

    @property
    def core(self) -> AgentCore:
        """Who acts: in the work of a sub-agent, that."""
        return acting_as(self._given)

    @property
    def agent_id(self) -> AgentId:
        return self.core.id

    def details(self, options: CallOptions, run_id: str | None) -> dict[str, Any]:
        """What a call itself says of its run counts before the call around it."""
        around = call_around()
        by = options.get("caller")
        if by is None and around is not None and around.agent != self.agent_id:
            by = around.agent
        return {
            "run_id": run_id_of(options) or run_id or (around.run_id if around is not None else None),
            "caller": by,
            "wait": options.get("approval_wait", _DEFAULT_WAIT),
        }

    def decision(self, members: Mapping[str, Any]) -> Flow[Answer]:
        """Asks without waiting. A held call stays held, so that the framework can interrupt the run."""
        return self.core.open().checks.decision({**for_user(members, self.subject_token), "wait": 0})

    def call(
        self, members: Mapping[str, Any], work: Callable[[Operation], Result], part: JudgedPart = WHOLE
    ) -> Result | Refusal:
        """A refusal is a result, because the model is to read it.

        Raises what the work raises, and `OperationTerminated` if an operator stopped the work.
        """
        held: list[Answer] = []
        begun = False
        try:
            with OperationContext(self.core, {**for_user(members, self.subject_token), "on_held": held.append}) as op:
                begun = True
                with inside(self._context(op, members)):
                    result = work(op)
                    op._given = part.of(result) if op.answer.judge_result else None
            return _put(op, part, result)
        except ResultDenied as error:
            return refusal_of(error)
        except ReeveError as error:
            if begun:
                raise
            if held and not isinstance(error, OperationTerminated):
                run_blocking(self.core.reports.call_off(held[0].op_id))
            return refusal_of(error)

    async def call_async(
        self,
        members: Mapping[str, Any],
        work: Callable[[AsyncOperation], Awaitable[Result]],
        begun: AsyncOperationContext | None = None,
        part: JudgedPart = WHOLE,
    ) -> Result | Refusal:
        """As `call`. A termination cancels the work."""
        runs = False
        try:
            async with begun or self.operation(members) as op:
                runs = True
                with inside(self._context(op, members)):
                    result = await work(op)
                    op._given = part.of(result) if op.answer.judge_result else None
            return _put(op, part, result)
        except ResultDenied as error:
            return refusal_of(error)
        except ReeveError as error:
            if runs:
                raise
            return refusal_of(error)

    def operation(self, members: Mapping[str, Any]) -> AsyncOperationContext:
        """As that of the SDK. A held call that its caller gives up is called off."""
        return _CalledOff(self.core, for_user(members, self.subject_token))

    def _context(self, op: Said, members: Mapping[str, Any]) -> CallContext:
        return CallContext(op, self.agent_id, members.get("run_id"))


def _put(op: Said, part: JudgedPart, result: Result) -> Result:
    judged: Result = part.put(result, op._result()) if op.answer.judge_result else result
    return judged


class _CalledOff(AsyncOperationContext):
    async def begin(self) -> AsyncOperation:
        held: list[Answer] = []
        self._members = {**self._members, "on_held": held.append}
        try:
            return await super().begin()
        except (ReeveError, asyncio.CancelledError) as error:
            if held and not isinstance(error, OperationTerminated):
                await run_through(self._core.reports.call_off(held[0].op_id))
            raise


class ToolCalls(Calls):
    """The governed calls of tools."""

    def __init__(
        self,
        agent: AnyAgent,
        options: GovernOptions,
        own_options: type = GovernOptions,
        told: type[Exception] | None = None,
    ) -> None:
        super().__init__(agent)
        #: The error by which a tool tells the model something.
        self._told = told
        require_known(options, own_options)
        if isinstance(options.get("subagents"), str):
            raise InvalidRequest("subagents: must be a list of names")
        self._options = options

    def members(self, use: ToolUse) -> dict[str, Any]:
        """The check that a call of a tool needs."""
        tool, args, options = use.tool, use.args, self._options
        action: dict[str, Any] = {"tool": tool, "args": args, "source": options.get("source")}
        if use.spawns or tool in options.get("subagents", ()) or tool in options.get("delegates", {}):
            action = {"type": "agent_spawn", "command": tool}
        summary = options.get("summary")
        ids = {} if use.ids is None else {"trace_id": use.ids[0], "span_id": use.ids[1]}
        return {
            **action,
            **ids,
            **self.details(options, use.run_id),
            "summary": None if summary is None else summary(tool, args),
            "estimated_cost_usd": cost_of(options, tool, args),
            "can_rewrite": use.takes_args,
        }

    def part_of(self, tool: str) -> subagent[Agent] | None:
        """The part of a tool that is a sub-agent with limits of its own."""
        limits = self._options.get("delegates", {}).get(tool)
        return None if limits is None else subagent(Agent(self.core, self.subject_token), tool, **limits)

    def run(self, use: ToolUse, work: Callable[[Said], Result], judged: JudgedPart = WHOLE) -> Result | Refusal:
        part = self.part_of(use.tool)

        def act(op: Operation) -> Result:
            if part is None:
                result = work(op)
            else:
                with part:
                    result = work(op)
            self.settle(op, use.tool, result)
            return result

        with self._told_errors():
            return self.call(self.members(use), act, judged)

    async def run_async(
        self,
        use: ToolUse,
        work: Callable[[Said], Awaitable[Result]],
        begun: AsyncOperationContext | None = None,
        judged: JudgedPart = WHOLE,
    ) -> Result | Refusal:
        """`begun` is the operation of a use that was asked about before."""

        part = self.part_of(use.tool)

        async def act(op: AsyncOperation) -> Result:
            if part is None:
                result = await work(op)
            else:
                async with part:
                    result = await work(op)
            self.settle(op, use.tool, result)
            return result

        with self._told_errors():
            return await self.call_async(self.members(use), act, begun, judged)

    async def begin(self, use: ToolUse) -> AsyncOperationContext | Refusal:
        """Asks in the place where the framework does, which is not where it runs the tool."""
        operation = self.operation(self.members(use))
        try:
            await operation.begin()
        except ReeveError as error:
            return refusal_of(error)
        return operation

    @contextmanager
    def _told_errors(self) -> Iterator[None]:
        """A masked message stays one that the framework tells its model, if the error was one of these."""
        try:
            yield
        except MaskedError as error:
            raised = error.raised_as
            if self._told is None or raised is None or not issubclass(raised, self._told):
                raise
            raise self._told(str(error)) from None

    def settle(self, op: Said, tool: str, result: Any) -> None:
        spent = self._options.get("spent")
        amount = None if spent is None else spent(tool, result)
        if amount is not None:
            op.spent_usd(amount)
