"""Tokens that expire are renewed at two thirds of their life, without a lost call."""

from __future__ import annotations

import json
import threading
import urllib.request

from conftest import eventually, fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess
from scripted_gateway import ScriptedGateway

from reeve import AgentId, Reeve
from reeve._credential import TokenLife
from reeve._enroll import agent_of_token, attach
from reeve._flow import run_blocking


def renewals(gateway: GatewayProcess, name: str) -> int:
    url = f"{gateway.http}/api/v1/logs?event_type=AgentTokenRenewed&agent_id={name}"
    request = urllib.request.Request(url, headers={"authorization": f"Bearer {BOOTSTRAP_KEY}"})
    with urllib.request.urlopen(request) as answer:
        return len(json.load(answer)["items"])


def test_two_thirds_of_the_life() -> None:
    assert TokenLife(60, 60).renew_after == 40
    assert TokenLife(60, 30).renew_after == 10
    assert TokenLife(60, 5).renew_after == 0


def test_a_token_is_renewed_and_no_call_is_lost(gateway: GatewayProcess, client: Reeve) -> None:
    name = fresh_name()
    enrolled = client.enroll("acme", "core", name, token_ttl_secs=60)
    # As if most of its life were over.
    core = attach(client._link, AgentId("acme", "core", name), enrolled.token, {}, TokenLife(60, 20.3))
    until_renewed = 0
    while renewals(gateway, name) == 0:
        assert run_blocking(core.checks.check({"tool": "search"})).allowed
        until_renewed += 1
        assert until_renewed < 10_000
    assert core._credential.token != enrolled.token
    assert run_blocking(core.checks.check({"tool": "search"})).allowed
    assert run_blocking(core.heartbeat()).suspended is False
    assert not core.revoked
    run_blocking(core.close())


def test_a_shared_token_is_not_renewed(gateway: GatewayProcess, client: Reeve) -> None:
    names = [fresh_name(), fresh_name()]
    cores = []
    for name, shared in zip(names, [True, False], strict=True):
        token = client.enroll("acme", "core", name, token_ttl_secs=60).token
        agent = AgentId("acme", "core", name)
        cores.append(attach(client._link, agent, token, {"shared": shared}, TokenLife(60, 20.1)))
    eventually(lambda: renewals(gateway, names[1]) == 1)
    assert renewals(gateway, names[0]) == 0
    for core in cores:
        run_blocking(core.close())


def test_cores_that_act_with_one_token_have_it_renewed_once(gateway: GatewayProcess, client: Reeve) -> None:
    name = fresh_name()
    agent = AgentId("acme", "core", name)
    token = client.enroll("acme", "core", name, token_ttl_secs=60).token
    link = client._link
    told: list[str] = []
    members = {"on_revoked": lambda: told.append("revoked")}
    cores = [attach(link, agent, token, members, TokenLife(60, left)) for left in (20.1, 20.2, 20.3)]
    eventually(lambda: renewals(gateway, name) == 1)
    # One that comes with the old token acts with the new one, and renews nothing. So does one that the gateway finds.
    cores.append(attach(link, agent, token, members, TokenLife(60, 0)))
    cores.append(run_blocking(agent_of_token(link, token, None, members)))
    assert len({core.token for core in cores}) == 1
    assert cores[0].token != token
    # Whoever leaves takes nothing from the others.
    run_blocking(cores.pop(0).close())
    # Jobs are done in order, so every renewal that was due before is done by now.
    done = threading.Event()
    link.worker.schedule(0.5, done.set)
    assert done.wait(30)
    for core in cores:
        assert run_blocking(core.checks.check({"tool": "search"})).allowed
        assert run_blocking(core.heartbeat()).suspended is False
    assert renewals(gateway, name) == 1
    assert told == []
    for core in cores:
        run_blocking(core.close())


def test_registering_asks_for_a_life(client: Reeve) -> None:
    agent = client.register("acme", "core", fresh_name(), token_ttl_secs=3600)
    assert agent.check(tool="search").allowed
    agent.close()


def test_a_call_that_is_refused_with_a_former_token_is_made_again_with_the_new_one() -> None:
    """A renewal while a call is on its way, for longer than the former token works."""
    with ScriptedGateway() as gateway, Reeve(gateway.address, api_key=BOOTSTRAP_KEY) as reeve:
        agent = reeve.register("acme", "core", "bot")
        credential = agent._core._credential

        def once(token: str) -> bool:
            gateway.refuses = lambda each: each == token
            credential.replace(f"{token}-newer")
            return True

        gateway.refuses = once
        assert agent.check(tool="search").allowed
        gateway.refuses = once
        assert all(answer.allowed for answer in agent.check_many([{"tool": "search"}, {"tool": "read"}]))

        def work() -> str:
            gateway.refuses = once
            return "found"

        assert agent.run(work, tool="search") == "found"
        answer = agent.check(tool="search")
        gateway.refuses = once
        agent.complete(answer.op_id)
        assert len(gateway.completed) == 2
        gateway.refuses = lambda _token: True
        assert agent.check(tool="search").reason == "token has expired"
