"""Threads, forks, and the end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import partial
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
            result = agent.run(partial(int, number), tool="x")
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
    eventually(lambda: not [each for each in threading.enumerate() if each.name.startswith("reeve-control")])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_child_is_told_that_the_client_is_its_parents(gateway: GatewayProcess, client: Reeve) -> None:
    agent = client.register("acme", "core", fresh_name())
    going = threading.Event()

    def ask() -> None:
        while not going.is_set():
            agent.check(tool="x")

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    codes = []
    with agent.operation(tool="x") as op:
        for _ in range(5):
            pid = os.fork()
            if pid == 0:
                os._exit(_is_refused_everything(client, agent, op))
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    going.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 5
    assert gateway.op(op.op_id)["state"] == "completing", "the operation ended when the parent ended it"
    assert agent.check(tool="x")


def _is_refused_everything(client: Reeve, agent: Agent, op: reeve.Operation) -> int:
    """In the child. Nothing hangs, and nothing reaches the gateway."""
    for act in (
        lambda: agent.check(tool="child"),
        lambda: agent.check_many([{"tool": "child"}]),
        lambda: agent.run(lambda: 1, tool="child"),
        lambda: agent.complete(op.op_id),
        lambda: client.register("acme", "core", "child"),
        lambda: client.attach("acme", "core", "child", token="t" * 32),
        agent.heartbeat,
        agent.deregister,
        op.checkpoint,
    ):
        try:
            act()
        except reeve.Closed as error:
            if "make a new one in the child" not in str(error):
                return 3
        except BaseException:
            return 4
        else:
            return 5
    agent.close()
    client.close()
    return 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_child_of_a_process_that_made_no_client_makes_its_own(gateway: GatewayProcess) -> None:
    program = f"""
import os
from reeve import Reeve
children = []
for number in range(2):
    pid = os.fork()
    if pid == 0:
        with Reeve({gateway.grpc!r}, api_key={BOOTSTRAP_KEY!r}) as client:
            agent = client.register("acme", "core", {fresh_name()!r} + str(number))
            os._exit(0 if agent.check(tool="x") else 3)
    children.append(pid)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children])
"""
    assert run_program(program) == (0, "[0, 0]\n", "")


def test_a_process_that_forgets_to_close_ends_quietly(gateway: GatewayProcess) -> None:
    program = f"""
from reeve import Reeve
agent = Reeve({gateway.grpc!r}, api_key={BOOTSTRAP_KEY!r}).register("acme", "core", {fresh_name()!r})
print(agent.run(lambda: "done", tool="x"))
"""
    assert run_program(program) == (0, "done\n", "")


def run_program(program: str) -> tuple[int, str, str]:
    source = Path(reeve.__file__).parents[1]
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return (ended.returncode, ended.stdout, ended.stderr)
