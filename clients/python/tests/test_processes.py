"""Threads, forks, and the end."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import eventually, fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Agent, Reeve


def test_many_threads_share_an_agent(agent: Agent) -> None:
    results: list[int] = []
    lock = threading.Lock()

    def work() -> None:
        for number in range(10):
            result = agent.run(lambda number=number: number, tool="x")
            with lock:
                results.append(result)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(list(range(10)) * 16)


def test_the_end_leaves_no_thread_and_wakes_whoever_waits(gateway: GatewayProcess) -> None:
    before = set(threading.enumerate())
    client = Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY)
    agents = [client.register("acme", "core", fresh_name()) for _ in range(3)]
    caught: list[BaseException] = []
    held = threading.Event()

    def wait() -> None:
        try:
            agents[0].run(lambda: 1, tool="ask_me", on_held=lambda _: held.set())
        except reeve.ReeveError as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert held.wait(30)
    client.close()
    client.close()
    waiting.join()
    assert [type(error) for error in caught] == [reeve.Closed]
    assert set(threading.enumerate()) == before
    with pytest.raises(reeve.Closed):
        agents[1].check(tool="x")
    with pytest.raises(reeve.Closed):
        client.register("acme", "core", fresh_name())


def test_a_call_in_flight_ends_with_the_client(gateway: GatewayProcess, client: Reeve) -> None:
    agent = client.register("acme", "core", fresh_name())
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            agent.check(tool="x", deadline=300)
        except reeve.ReeveError as error:
            caught.append(error)

    gateway.freeze()
    try:
        asking = threading.Thread(target=ask)
        asking.start()
        threading.Event().wait(0.2)
        client.close()
        asking.join()
    finally:
        gateway.thaw()
    assert [type(error) for error in caught] == [reeve.Closed]


def test_an_agent_that_is_closed_has_delivered_its_acknowledgements(gateway: GatewayProcess, client: Reeve) -> None:
    agent = client.register("acme", "core", fresh_name())
    answer = agent.check(tool="x")
    control = gateway.control(answer.op_id, "terminate")
    eventually(lambda: gateway.receipt(control["id"])["status"] == "acked")
    agent.complete(answer.op_id)
    agent.close()
    assert gateway.receipt(control["id"])["status"] == "effective"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("reeve-control")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_child_has_a_connection_of_its_own(gateway: GatewayProcess, agent: Agent) -> None:
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        answers = context.Queue()
        go_on = context.Event()

        def child(answers: object = answers, go_on: object = go_on) -> None:
            with agent.operation(tool="child") as op:
                answers.put(op.op_id)  # type: ignore[attr-defined]
                go_on.wait(60)  # type: ignore[attr-defined]

        process = context.Process(target=child)
        process.start()
        op_id = answers.get(timeout=60)
        # The parent goes on, and speaks for its own operations only.
        assert agent.check(tool="parent")
        control = gateway.control(op_id, "terminate")
        eventually(lambda: gateway.receipt(control["id"])["status"] == "acked")  # noqa: B023
        threading.Event().wait(0.2)
        assert gateway.receipt(control["id"])["status"] == "acked"
        go_on.set()
        process.join(60)
        assert process.exitcode == 1, "the child has raised OperationTerminated"
        eventually(lambda: gateway.receipt(control["id"])["status"] == "effective")  # noqa: B023


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_forks_while_other_threads_ask(agent: Agent) -> None:
    going = threading.Event()

    def ask() -> None:
        while not going.is_set():
            agent.check(tool="x")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    codes = []
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if agent.check(tool="child", deadline=30) else 3)
            except BaseException:
                os._exit(4)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    going.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 5
    assert agent.check(tool="x")


def test_a_process_that_forgets_to_close_ends_quietly(gateway: GatewayProcess) -> None:
    program = f"""
from reeve import Reeve
agent = Reeve({gateway.grpc!r}, api_key={BOOTSTRAP_KEY!r}).register("acme", "core", {fresh_name()!r})
print(agent.run(lambda: "done", tool="x"))
"""
    source = Path(reeve.__file__).parents[1]
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")
