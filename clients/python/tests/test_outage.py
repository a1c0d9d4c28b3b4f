"""A gateway that goes away: nothing runs, nothing is lost."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from typing import Any

import pytest
from conftest import eventually, fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Answer, AsyncReeve, Reeve, RetryOptions


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_without_a_gateway_nothing_runs_and_nobody_waits_beyond_the_deadline() -> None:
    happened: list[int] = []
    address = free_address()
    with Reeve(address, api_key=BOOTSTRAP_KEY, deadline=0.3) as client:
        agent = client.attach("acme", "core", "one", token="t" * 32)
        before = time.monotonic()
        answer = agent.check(tool="x")
        assert (answer.decision, answer.allowed, answer.source) == ("deny", False, "sdk")
        assert answer.reason.startswith("gateway unreachable: ")
        assert address in answer.reason
        assert agent.decision(tool="x").source == "sdk"
        assert [each.source for each in agent.check_many([{"tool": "x"}, {"tool": "x"}])] == ["sdk", "sdk"]
        for act in (
            lambda: agent.run(lambda: happened.append(1), tool="x"),
            lambda: agent.complete("t:s"),
            lambda: client.register("acme", "core", "two"),
            lambda: client.agent(token="t" * 32),
            agent.heartbeat,
            agent.deregister,
        ):
            with pytest.raises(reeve.GatewayUnavailable) as caught:
                act()
            assert str(caught.value).endswith(f", asked at {address}"), "it says where nobody answered"
            assert "t" * 32 not in str(caught.value)
            assert BOOTSTRAP_KEY not in str(caught.value)
        # Generous: nine calls of 0.3 seconds each, on a busy machine.
        assert time.monotonic() - before < 30
    assert happened == []
    with Reeve(free_address(), on_unavailable="raise", deadline=0.2) as client:
        agent = client.attach("acme", "core", "one", token="t" * 32)
        with pytest.raises(reeve.GatewayUnavailable):
            agent.check(tool="x")


def test_every_gateway_that_was_asked_is_named_once() -> None:
    addresses = [free_address(), free_address()]
    with Reeve(addresses=addresses, on_unavailable="raise", deadline=3) as client:
        agent = client.attach("acme", "core", "one", token="t" * 32)
        with pytest.raises(reeve.GatewayUnavailable) as caught:
            agent.check(tool="x")
        assert sorted(caught.value.addresses) == sorted(addresses)
        assert str(caught.value).count("asked at") == 1


def test_async_without_a_gateway() -> None:
    async def main() -> None:
        async with AsyncReeve(free_address(), deadline=0.3) as client:
            agent = client.attach("acme", "core", "one", token="t" * 32)
            assert (await agent.check(tool="x")).source == "sdk"
            with pytest.raises(reeve.GatewayUnavailable, match="asked at 127"):
                async with agent.operation(tool="x"):
                    raise AssertionError("it must not run")

    asyncio.run(main())


def test_a_silent_gateway_ends_with_the_deadline(victim: GatewayProcess) -> None:
    with Reeve(victim.grpc, api_key=BOOTSTRAP_KEY, deadline=0.5) as client:
        agent = client.register("acme", "core", fresh_name(), deadline=30)
        victim.freeze()
        try:
            answer = agent.check(tool="x")
            assert (answer.source, answer.allowed) == ("sdk", False)
            assert "no answer within 0.5 s" in answer.reason
            assert answer.reason.endswith(f", asked at {victim.grpc}")
        finally:
            victim.thaw()
        # The gateway allowed it meanwhile. It hears that the action never happened.
        eventually(
            lambda: "completing" in str(victim.op(answer.op_id).get("state")) or agent.heartbeat(deadline=30) is None
        )


def test_checks_survive_a_restart(victim: GatewayProcess) -> None:
    with Reeve(victim.grpc, api_key=BOOTSTRAP_KEY, deadline=60, retry=RetryOptions(burst=1000)) as client:
        agent = client.register("acme", "core", fresh_name())
        answers: list[Answer] = []
        going = threading.Event()

        def ask() -> None:
            while not going.is_set():
                answers.append(agent.check(tool="x"))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(answers) > 10)
        victim.kill(signal.SIGKILL)
        victim.start()
        count = len(answers)
        eventually(lambda: len(answers) > count + 10)
        going.set()
        for thread in threads:
            thread.join()
    assert all(answers)
    assert all(answer.source == "gateway" for answer in answers)


def test_a_completion_that_is_owed_follows_after_a_restart(victim: GatewayProcess) -> None:
    events: list[Any] = []
    with Reeve(victim.grpc, api_key=BOOTSTRAP_KEY, deadline=0.5) as client:
        agent = client.register("acme", "core", fresh_name(), on_connection=events.append, deadline=30)
        eventually(lambda: events)
        with agent.operation(tool="x", estimated_cost_usd=1, deadline=30) as op:
            op.spent_usd("0.30")
            victim.kill(signal.SIGKILL)
        victim.start()
        eventually(lambda: victim.op(op.op_id)["state"] == "completing")
        assert victim.op(op.op_id)["cost_micros"] == 300_000
    kinds = [event.type for event in events]
    assert kinds[:3] == ["connected", "lost", "connected"]
    assert events[2].again


def test_a_control_given_around_a_restart_arrives(victim: GatewayProcess) -> None:
    with Reeve(victim.grpc, api_key=BOOTSTRAP_KEY, deadline=30) as client:
        agent = client.register("acme", "core", fresh_name())
        control: Any = None
        with pytest.raises(reeve.OperationTerminated, match="after all"), agent.operation(tool="x") as op:
            victim.kill(signal.SIGTERM)
            victim.start()
            control = victim.control(op.op_id, "terminate", "after all")
            assert op.stopped.wait(60)
        eventually(lambda: victim.receipt(control["id"])["status"] == "effective")


def test_a_held_action_survives_a_restart(victim: GatewayProcess) -> None:
    with Reeve(victim.grpc, api_key=BOOTSTRAP_KEY, deadline=30) as client:
        agent = client.register("acme", "core", fresh_name())

        def restart_and_approve(held: Answer) -> None:
            def act() -> None:
                victim.kill(signal.SIGKILL)
                victim.start()
                victim.decide(str(held.approval_id), "approve")

            threading.Thread(target=act).start()

        assert agent.run(lambda: "done", tool="ask_me", on_held=restart_and_approve) == "done"


def test_the_next_of_several_gateways_takes_over(gateway: GatewayProcess, victim: GatewayProcess) -> None:
    name, token = fresh_name(), "a-token-that-both-gateways-know-" + fresh_name()
    for each in (gateway, victim):
        with Reeve(each.grpc, api_key=BOOTSTRAP_KEY, deadline=30) as one:
            one.enroll("acme", "core", name, token=token)
    dead = free_address()
    with Reeve(addresses=[dead, victim.grpc, gateway.grpc], deadline=30) as client:
        agent = client.attach("acme", "core", name, token=token)
        assert agent.check(tool="x").source == "gateway"
        # It is silent: asked, connected, and says nothing.
        victim.freeze()
        try:
            for _ in range(4):
                assert agent.check(tool="x").source == "gateway"
        finally:
            victim.thaw()
        # It is gone. Wherever the client is, operations stay under control.
        victim.kill(signal.SIGKILL)
        with pytest.raises(reeve.OperationTerminated), agent.operation(tool="x") as op:
            gateway.control(op.op_id, "terminate")
            assert op.stopped.wait(60)
        victim.start()

    async def async_client() -> None:
        async with AsyncReeve(addresses=[dead, gateway.grpc], deadline=30) as other:
            agent = other.attach("acme", "core", name, token=token)
            for _ in range(3):
                assert await agent.check(tool="x")

    asyncio.run(async_client())
