"""The same guarantees on asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from conftest import fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Answer, AsyncAgent, AsyncOperation, AsyncReeve


@asynccontextmanager
async def agent_of(gateway: GatewayProcess) -> AsyncIterator[AsyncAgent]:
    async with AsyncReeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as client:
        yield await client.register("acme", "core", fresh_name())


def on_a_loop(gateway: GatewayProcess, act: Callable[[AsyncAgent], Awaitable[None]]) -> None:
    async def main() -> None:
        async with agent_of(gateway) as agent:
            await asyncio.wait_for(act(agent), 60)

    asyncio.run(main())


def test_it_asks_runs_and_reports(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        answers = await asyncio.gather(*(agent.check(tool="delete_it" if n % 2 else "x") for n in range(40)))
        assert [answer.allowed for answer in answers] == [n % 2 == 0 for n in range(40)]
        many = await agent.check_many([{"tool": "x"}, {"tool": "delete_it"}])
        assert [answer.decision for answer in many] == ["allow", "deny"]
        await agent.complete(many[0].op_id, cost_usd="0.01")

        async def work(op: AsyncOperation) -> str:
            op.spent_usd("0.10")
            await op.checkpoint()
            return op.op_id

        op_id = await agent.run(work, tool="x")
        assert gateway.op(op_id)["cost_micros"] == 100_000
        with pytest.raises(reeve.ActionDenied):
            await agent.run(work, tool="delete_it")
        assert await agent.denied_tools("", ["delete_it", "x"]) == ["delete_it"]
        assert not (await agent.heartbeat()).suspended

    on_a_loop(gateway, act)


def test_a_held_action_waits_while_the_loop_goes_on(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        held = asyncio.Event()
        answers: list[Answer] = []

        def on_held(answer: Answer) -> None:
            answers.append(answer)
            held.set()

        async def work() -> str:
            return "done"

        running = asyncio.ensure_future(agent.run(work, tool="ask_me", on_held=on_held))
        await held.wait()
        assert await agent.check(tool="x")
        await asyncio.to_thread(gateway.decide, str(answers[0].approval_id), "approve")
        assert await running == "done"

    on_a_loop(gateway, act)


def test_a_termination_cancels_the_block(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        cleaned = False
        said: asyncio.Task[Any] | None = None
        with pytest.raises(reeve.OperationTerminated, match="enough"):
            async with agent.operation(tool="x") as op:
                said = asyncio.create_task(asyncio.to_thread(gateway.control, op.op_id, "terminate", "enough"))
                try:
                    await asyncio.sleep(600)
                finally:
                    cleaned = True
        assert cleaned
        assert said is not None
        assert gateway.receipt((await said)["id"])["status"] == "effective"
        # The cancellation is spent: the task goes on.
        await asyncio.sleep(0)
        assert await agent.check(tool="x")

    on_a_loop(gateway, act)


def test_a_cancellation_from_outside_stays_one(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def work(op: AsyncOperation) -> None:
            begun.set_result(op.op_id)
            await asyncio.sleep(600)

        task = asyncio.ensure_future(agent.run(work, tool="x"))
        op_id = await begun
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (change,) = [each for each in gateway.logs(op_id=op_id) if each["event_type"] == "OpStateChanged"]
        assert change["payload"]["outcome"] == "cancelled"

    on_a_loop(gateway, act)


def test_a_pause_holds_at_checkpoints(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        async with agent.operation(tool="x") as op:
            await asyncio.to_thread(gateway.control, op.op_id, "pause")
            while op.state != "paused":
                await asyncio.sleep(0.01)
            passing = asyncio.ensure_future(op.checkpoint())
            await asyncio.sleep(0.1)
            assert not passing.done()
            await asyncio.to_thread(gateway.control, op.op_id, "resume")
            await passing

    on_a_loop(gateway, act)


def test_an_end_that_is_cancelled_while_paused_is_reported_after_the_resume(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        begun: asyncio.Future[AsyncOperation] = asyncio.get_running_loop().create_future()

        async def work(op: AsyncOperation) -> None:
            await asyncio.to_thread(gateway.control, op.op_id, "pause")
            while op.state != "paused":
                await asyncio.sleep(0.01)
            begun.set_result(op)

        task = asyncio.ensure_future(agent.run(work, tool="x"))
        op = await begun
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(gateway.control, op.op_id, "resume")
        while gateway.op(op.op_id)["state"] != "completing":
            await agent.heartbeat()
            await asyncio.sleep(0.05)
        changes = [each["payload"] for each in gateway.logs(op_id=op.op_id) if each["event_type"] == "OpStateChanged"]
        assert [change["outcome"] for change in changes if change.get("outcome")] == ["succeeded"]

    on_a_loop(gateway, act)


def test_guards_take_both_kinds_of_functions(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        @agent.guard(tool="refund")
        async def refund(amount: int) -> int:
            return amount

        @agent.guard()
        def blocking(number: int) -> str:
            return f"{number} in {threading.current_thread().name}"

        assert await refund(3) == 3
        with pytest.raises(reeve.ActionDenied):
            await refund(300)
        assert "MainThread" not in await blocking(3)

    on_a_loop(gateway, act)


def test_a_hook_may_be_a_coroutine(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def hook(control: reeve.Control) -> None:
            heard.set_result(control.signal)

        async with agent.operation(tool="x", on_control=hook) as op:
            await asyncio.to_thread(gateway.control, op.op_id, "pause")
            assert await heard == "pause"
            await asyncio.to_thread(gateway.control, op.op_id, "resume")

    # The resume meets the hook a second time, which is an error of the hook and no more.
    on_a_loop(gateway, act)


def test_an_abandoned_check_is_called_off(gateway: GatewayProcess) -> None:
    async def act(agent: AsyncAgent) -> None:
        gateway.freeze()
        try:
            task = asyncio.ensure_future(agent.check(tool="x", trace_id="abandoned", span_id=fresh_name()))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        finally:
            gateway.thaw()
        await agent.heartbeat()

        def reported() -> list[Any]:
            return [each for each in gateway.logs(agent_id=agent.id.agent_id) if each["event_type"] == "OpStateChanged"]

        while not reported():
            await agent.heartbeat()
            await asyncio.sleep(0.05)

    on_a_loop(gateway, act)


def test_one_client_serves_several_loops(gateway: GatewayProcess) -> None:
    client = AsyncReeve(gateway.grpc, api_key=BOOTSTRAP_KEY)
    agent = asyncio.run(client.register("acme", "core", fresh_name()))
    for _ in range(2):
        assert asyncio.run(agent.check(tool="x"))
    asyncio.run(client.close())
    with pytest.raises(reeve.Closed):
        asyncio.run(agent.check(tool="x"))
