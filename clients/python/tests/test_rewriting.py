"""Work acts with the arguments that rules have rewritten, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import eventually
from gateway_process import BOOTSTRAP_KEY, GatewayProcess
from scripted_gateway import ScriptedGateway

from reeve import ActionDenied, Agent, AsyncReeve, InternalError, InvalidRequest, Reeve

POLICY = """
name: rewriting
default: deny
rules:
  - { name: cap, effect: allow, tools: [search, ask_search], rewrite: { limit: "10", "filter.active": "true" } }
  - { name: plain, effect: allow, tools: [other] }
  - { name: no-all, effect: deny, tools: [search], when: "args.limit == 10 && has(args.all)" }
  - { name: ask, effect: require_approval, tools: [ask_search] }
"""
SENT = {"limit": 500, "q": "x"}
MADE = {"limit": 10, "q": "x", "filter": {"active": True}}
CANNOT = "must be rewritten, which this caller cannot do"


@pytest.fixture(scope="module")
def gateway() -> Iterator[GatewayProcess]:
    process = GatewayProcess(policy=POLICY)
    yield process
    process.remove()


@contextmanager
def scripted(args: bytes) -> Iterator[tuple[ScriptedGateway, Agent]]:
    with ScriptedGateway() as gateway, Reeve(gateway.address, api_key=BOOTSTRAP_KEY) as reeve:
        gateway.rewritten = args
        yield gateway, reeve.register("acme", "core", "bot")


def test_work_gets_the_arguments_to_act_with(agent: Agent) -> None:
    assert agent.run(lambda op: op.args, tool="search", args=SENT) == MADE
    answer = agent.check(tool="search", args=SENT, can_rewrite=True)
    assert answer.rewritten_args == MADE
    with agent.operation(tool="search", args=SENT, can_rewrite=True) as op:
        assert op.args == MADE
    agent.complete(answer.op_id)


def test_arguments_that_no_rule_changes_are_the_very_ones(agent: Agent) -> None:
    assert agent.run(lambda op: op.args, tool="other", args=SENT) is SENT
    assert agent.check(tool="other", args=SENT, can_rewrite=True).rewritten_args is None


def test_who_cannot_act_with_them_is_denied(agent: Agent) -> None:
    assert agent.check(tool="search", args=SENT).reason == CANNOT
    with pytest.raises(ActionDenied, match=CANNOT):
        agent.run(lambda: pytest.fail("it ran"), tool="search", args=SENT)
    with pytest.raises(ActionDenied, match=CANNOT), agent.operation(tool="search", args=SENT):
        pytest.fail("it ran")
    with pytest.raises(ActionDenied, match=CANNOT):
        agent.run(lambda op: pytest.fail(f"it ran with {op.args}"), tool="search", args=SENT, can_rewrite=False)
    with pytest.raises(ActionDenied, match="with its arguments rewritten"):
        agent.run(lambda op: pytest.fail(f"it ran with {op.args}"), tool="search", args={**SENT, "all": True})


def test_a_held_call_runs_with_what_was_approved(gateway: GatewayProcess, agent: Agent) -> None:
    shown: list[Any] = []

    def approve(answer: Any) -> None:
        shown.append(answer.rewritten_args)
        gateway.decide(answer.approval_id, "approve")

    assert agent.run(lambda op: op.args, tool="ask_search", args=SENT, on_held=approve) == MADE
    assert shown == [MADE]


def test_a_guarded_function_is_called_with_them(agent: Agent) -> None:
    query = {"text": "x"}

    @agent.guard(tool="search")
    def search(q: dict[str, str], limit: int = 7, **rest: Any) -> Any:
        assert q is query
        return limit, rest

    @agent.guard(tool="search")
    async def search_async(q: Any, limit: int, filter: Any = None) -> Any:
        return q, limit, filter

    @agent.guard(tool="search", pass_operation=True, args=lambda limit: {"limit": limit})
    def told(op: Any, limit: int) -> Any:
        return limit, op.args

    rest = {"filter": {"active": True}}
    assert search(query, 500) == (10, rest)
    assert search(query) == (10, rest)
    assert search(q=query, limit=500) == (10, rest)
    assert asyncio.run(search_async("x", 500)) == ("x", 10, rest["filter"])
    assert told(500) == (500, {"limit": 10, **rest})


def test_a_guarded_function_that_cannot_take_them_does_not_run(agent: Agent) -> None:
    @agent.guard(tool="search")
    def narrow(limit: int) -> None:
        pytest.fail(f"it ran with {limit}")

    @agent.guard(tool="search", args=lambda limit: {"limit": limit})
    def seen(limit: int) -> None:
        pytest.fail(f"it ran with {limit}")

    with pytest.raises(InvalidRequest, match="a rule adds filter, which the function does not take"):
        narrow(500)
    with pytest.raises(ActionDenied, match=CANNOT):
        seen(500)


def test_parameters_of_every_kind_are_rewritten() -> None:
    with scripted(b'{"a": 2, "more": [3, 4], "key": true, "self": 5, "extra": 6}') as (_, agent):

        class Store:
            @agent.guard(tool="search")
            def find(self, a: int, /, *more: int, key: int = 0, **rest: int) -> Any:
                return type(self).__name__, a, more, key, rest

        assert Store().find(1, 9, key=1) == ("Store", 2, (3, 4), True, {"self": 5, "extra": 6})


def test_the_async_client_does_the_same(gateway: GatewayProcess) -> None:
    async def main() -> None:
        async with AsyncReeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as reeve:
            agent = await reeve.register("acme", "core", "async-rewriting")

            async def work(op: Any) -> Any:
                return op.args

            async def blind() -> None:
                pytest.fail("it ran")

            assert await agent.run(work, tool="search", args=SENT) == MADE
            async with agent.operation(tool="search", args=SENT, can_rewrite=True) as op:
                assert op.args == MADE
            with pytest.raises(ActionDenied, match=CANNOT):
                await agent.run(blind, tool="search", args=SENT)

            @agent.guard(tool="search")
            def search(q: str, limit: int, filter: Any = None) -> Any:
                return q, limit, filter

            assert await search("x", 500) == ("x", 10, {"active": True})

    asyncio.run(main())


@pytest.mark.parametrize("text", [b"{", b"[1]", b"null", b'"x"', b"\xff", b"[" * 100_000])
def test_work_never_begins_with_arguments_that_cannot_be_read(text: bytes) -> None:
    with scripted(text) as (gateway, agent):
        with pytest.raises(InternalError):
            agent.run(lambda op: pytest.fail(f"it ran with {op.args}"), tool="search", args=SENT)
        agent.heartbeat()
        eventually(lambda: gateway.completed)
