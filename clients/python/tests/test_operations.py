"""Running what is allowed, and being stopped."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from conftest import eventually, fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Agent, Answer, Operation, Reeve


def test_a_run_does_reports_and_returns(gateway: GatewayProcess, agent: Agent) -> None:
    seen: list[Operation] = []

    def work(op: Operation) -> str:
        seen.append(op)
        op.spent_usd("0.10")
        op.note("went well")
        return "done"

    assert agent.run(work, tool="x", estimated_cost_usd=1) == "done"
    record = gateway.op(seen[0].op_id)
    assert (record["state"], record["cost_micros"]) == ("completing", 100_000)
    assert agent.run(lambda: 42, tool="x") == 42


def test_what_fails_is_reported_as_failed(gateway: GatewayProcess, agent: Agent) -> None:
    with pytest.raises(ZeroDivisionError), agent.operation(tool="x") as op:
        _ = 1 / 0
    (change,) = [each for each in gateway.logs(op_id=op.op_id) if each["event_type"] == "OpStateChanged"]
    assert change["payload"]["outcome"] == "failed"


def test_what_is_denied_does_not_happen(agent: Agent) -> None:
    happened: list[int] = []
    with pytest.raises(reeve.ActionDenied, match="never-delete") as caught:
        agent.run(lambda: happened.append(1), tool="delete_it")
    assert caught.value.answer.policy_rule == "test/never-delete"
    assert happened == []


def test_tokens_that_a_model_call_used_are_reported(gateway: GatewayProcess, agent: Agent) -> None:
    with agent.operation(type="llm_call", model="m", max_output_tokens=10) as op:
        op.used(input_tokens=120, output_tokens=30, cached_input_tokens=100)
    (change,) = [each for each in gateway.logs(op_id=op.op_id) if each["event_type"] == "OpStateChanged"]
    assert "120" in str(change["payload"])


def test_a_held_action_waits_for_its_approval(gateway: GatewayProcess, agent: Agent) -> None:
    def approve(held: Answer) -> None:
        assert held.decision == "pending"
        threading.Thread(target=gateway.decide, args=(held.approval_id, "approve")).start()

    assert agent.run(lambda: "done", tool="ask_me", on_held=approve) == "done"
    answer = agent.decision(tool="ask_me", on_held=approve)
    assert answer.allowed
    agent.complete(answer.op_id)


def test_a_rejected_action_ends(gateway: GatewayProcess, agent: Agent) -> None:
    def reject(held: Answer) -> None:
        threading.Thread(target=gateway.decide, args=(held.approval_id, "reject")).start()

    with pytest.raises(reeve.OperationTerminated):
        agent.run(lambda: 1, tool="ask_me", on_held=reject)
    assert agent.decision(tool="ask_me", on_held=reject).decision == "deny"


def test_a_wait_can_be_over(agent: Agent) -> None:
    with pytest.raises(reeve.ActionDenied, match="^held: ") as caught:
        agent.run(lambda: 1, tool="ask_me", wait=0)
    assert caught.value.answer.approval_id
    assert agent.decision(tool="ask_me", wait=0.05).decision == "pending"


def test_an_abandoned_wait_is_called_off_if_it_is_approved_later(gateway: GatewayProcess, agent: Agent) -> None:
    with pytest.raises(reeve.ActionDenied) as caught:
        agent.run(lambda: 1, tool="ask_me", wait=0)
    held = caught.value.answer
    gateway.decide(str(held.approval_id), "approve")
    eventually(lambda: gateway.op(held.op_id)["state"] == "completing")


def test_a_pause_holds_at_checkpoints_and_is_acknowledged(gateway: GatewayProcess, agent: Agent) -> None:
    steps: list[str] = []
    begun: list[str] = []

    def work(op: Operation) -> None:
        begun.append(op.op_id)
        steps.append("begun")
        while "go" not in steps:
            time.sleep(0.01)
        op.checkpoint()
        steps.append("after")

    thread = threading.Thread(target=lambda: agent.run(work, tool="x"))
    thread.start()
    eventually(lambda: begun)
    pause = gateway.control(begun[0], "pause", "a look")
    eventually(lambda: gateway.receipt(pause["id"])["status"] == "acked")
    steps.append("go")
    eventually(lambda: gateway.receipt(pause["id"])["status"] == "effective")
    assert steps == ["begun", "go"]
    resume = gateway.control(begun[0], "resume")
    thread.join()
    assert steps == ["begun", "go", "after"]
    eventually(lambda: gateway.receipt(resume["id"])["status"] == "effective")
    assert gateway.op(begun[0])["state"] == "completing"


def test_the_end_is_a_checkpoint(gateway: GatewayProcess, agent: Agent) -> None:
    with agent.operation(tool="x") as op:
        gateway.control(op.op_id, "pause")
        eventually(lambda: op.state == "paused")
        threading.Timer(0.2, gateway.control, (op.op_id, "resume")).start()
    assert gateway.op(op.op_id)["state"] == "completing"


def test_a_termination_is_an_exception_and_effective_when_the_work_has_ended(
    gateway: GatewayProcess, agent: Agent
) -> None:
    control: Any = None
    with pytest.raises(reeve.OperationTerminated, match="too expensive") as caught, agent.operation(tool="x") as op:
        control = gateway.control(op.op_id, "terminate", "too expensive")
        assert op.stopped.wait(30)
        eventually(lambda: gateway.receipt(control["id"])["status"] == "acked")
        op.checkpoint()
    assert caught.value.control_id == control["id"]
    assert gateway.receipt(control["id"])["status"] == "effective"
    assert agent.check(tool="x"), "the agent has confirmed the stop"


def test_a_termination_that_the_work_ignores_is_raised_on_leaving(gateway: GatewayProcess, agent: Agent) -> None:
    def work(op: Operation) -> str:
        gateway.control(op.op_id, "terminate")
        op.stopped.wait(30)
        return "all the same"

    with pytest.raises(reeve.OperationTerminated) as caught:
        agent.run(work, tool="x")
    assert caught.value.result == "all the same"
    with pytest.raises(reeve.OperationTerminated) as other, agent.operation(tool="x") as op:
        gateway.control(op.op_id, "terminate")
        op.stopped.wait(30)
        raise KeyError("own")
    assert isinstance(other.value.__cause__, KeyError)


def test_a_hook_carries_out_what_checkpoints_cannot(gateway: GatewayProcess, agent: Agent) -> None:
    heard: list[str] = []

    def hook(control: reeve.Control) -> None:
        heard.append(control.signal)
        if control.signal == "resume":
            raise RuntimeError("cannot go on")

    with agent.operation(tool="x", on_control=hook) as op:
        pause = gateway.control(op.op_id, "pause")
        eventually(lambda: gateway.receipt(pause["id"])["status"] == "effective")
        resume = gateway.control(op.op_id, "resume")
        eventually(lambda: gateway.receipt(resume["id"])["status"] == "failed")
    assert heard == ["pause", "resume"]


def test_listeners_hear_of_controls_and_connections(gateway: GatewayProcess, client: Reeve) -> None:
    events: list[Any] = []
    agent = client.register("acme", "core", fresh_name(), on_connection=events.append, on_control=events.append)
    eventually(lambda: events)
    assert (events[0].type, events[0].again) == ("connected", False)
    answer = agent.check(tool="x")
    gateway.control(answer.op_id, "pause", "hm")
    eventually(lambda: len(events) > 1)
    assert (events[1].signal, events[1].reason) == ("pause", "hm")


def test_a_guard_sees_the_arguments_by_name(agent: Agent) -> None:
    @agent.guard()
    def refund(amount: int, *, to: str = "me", **more: int) -> str:
        """Refunds."""
        return f"{amount} to {to}"

    assert refund(100, to="you") == "100 to you"
    assert (refund.__name__, refund.__doc__) == ("refund", "Refunds.")
    with pytest.raises(reeve.ActionDenied, match="big-refunds"):
        refund(101)

    class Shop:
        @agent.guard(tool="refund", args=lambda self, amount: {"amount": amount * 2})
        def pay(self, amount: int) -> int:
            return amount

    assert Shop().pay(50) == 50
    with pytest.raises(reeve.ActionDenied):
        Shop().pay(51)


def test_a_guard_passes_the_operation_and_takes_coroutines(agent: Agent) -> None:
    @agent.guard(tool="x", pass_operation=True)
    def costly(op: Operation, number: int) -> int:
        op.spent_usd("0.01")
        return number

    @agent.guard(tool="delete_it")
    async def later(number: int) -> int:
        await asyncio.sleep(0)
        return number

    assert costly(3) == 3
    with pytest.raises(reeve.ActionDenied):
        asyncio.run(later(3))


def test_a_keyword_does_not_hide_an_argument_from_policies(agent: Agent) -> None:
    ran = []

    @agent.guard(tool="read")
    def read(path: str, /, **rest: str) -> None:
        ran.append((path, rest))

    read("/home/a", mode="r")
    with pytest.raises(reeve.InvalidRequest, match="path"):
        read("/etc/shadow", path="/home/a")
    assert ran == [("/home/a", {"mode": "r"})]


def test_work_that_begins_after_the_operation_is_refused(agent: Agent) -> None:
    def parts() -> Iterator[int]:
        yield 1

    async def async_parts() -> AsyncIterator[int]:
        yield 1

    async def later() -> int:
        return 1

    for function in (parts, async_parts):
        with pytest.raises(reeve.InvalidRequest, match="generator"):
            agent.guard()(function)
    with pytest.raises(reeve.InvalidRequest, match="generator"):
        agent.run(parts, tool="x")
    with pytest.raises(reeve.InvalidRequest, match="coroutine"):
        _ = agent.run(later, tool="x")


def test_two_clients_share_an_agent(gateway: GatewayProcess, client: Reeve) -> None:
    token = client.enroll("acme", "core", fresh_name()).token
    with Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as other:
        first, second = client.agent(token=token, shared=True), other.agent(token=token, shared=True)
        with pytest.raises(reeve.OperationTerminated), first.operation(tool="x") as op:
            control = gateway.control(op.op_id, "terminate")
            assert op.stopped.wait(30)
            time.sleep(0.3)
            assert gateway.receipt(control["id"])["status"] == "acked", "the other client does not speak for it"
        assert second.check(tool="x")
