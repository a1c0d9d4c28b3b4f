"""Agents that act for another one."""

from __future__ import annotations

import asyncio

import pytest
from conftest import eventually, fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Agent, AsyncReeve


def test_a_delegate_acts_within_its_limits(agent: Agent) -> None:
    child = agent.delegate(
        child_id=fresh_name(), ttl=600, tools=["read_*"], actions=["tool_call"], max_checks=4, max_cost_usd="0.50"
    )
    assert (child.id.org_id, child.id.team_id) == (agent.id.org_id, agent.id.team_id)
    assert child.check(tool="read_file", estimated_cost_usd="0.50").allowed
    denied = child.check(tool="write_file")
    assert (denied.decision, denied.policy_rule) == ("deny", "delegation")
    assert child.check(tool="read_file", estimated_cost_usd="0.01").policy_rule == "delegation"
    assert child.check(tool="read_file").allowed
    assert child.check(tool="read_file").policy_rule == "delegation"


def test_a_delegate_has_as_many_delegates_as_it_may(agent: Agent) -> None:
    child = agent.delegate(child_id=fresh_name(), ttl=600, max_delegates=1)
    child.delegate(child_id=fresh_name(), ttl=600)
    with pytest.raises(reeve.ResourceExhausted):
        child.delegate(child_id=fresh_name(), ttl=600)


def test_a_delegate_may_do_nothing_that_its_delegator_may_not(agent: Agent) -> None:
    child = agent.delegate(child_id=fresh_name(), ttl=600)
    assert child.check(tool="delete_it").policy_rule == "test/never-delete"


def test_a_revoked_delegate_is_stopped(agent: Agent) -> None:
    revoked: list[int] = []
    name = fresh_name()
    child = agent.delegate(child_id=name, ttl=600, on_revoked=lambda: revoked.append(1))
    with pytest.raises(reeve.OperationTerminated), child.operation(tool="x") as op:
        agent.revoke_delegation(name)
        eventually(lambda: op.terminated)
        op.checkpoint()
    eventually(lambda: revoked)
    assert child.check(tool="x").decision == "deny"


def test_what_cannot_be_delegated_is_refused_here(agent: Agent) -> None:
    for wrong in (
        {"ttl": 0},
        {"ttl": 86_401},
        {"child_id": ""},
        {"max_checks": -1},
        {"max_delegates": True},
        {"actions": ["dance"]},
    ):
        with pytest.raises(reeve.InvalidRequest):
            agent.delegate(**{"child_id": "x", "ttl": 10, **wrong})  # type: ignore[arg-type]


def test_an_async_agent_delegates(gateway: GatewayProcess) -> None:
    async def delegating() -> None:
        async with AsyncReeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as client:
            agent = await client.register("acme", "core", fresh_name())
            child = await agent.delegate(child_id=fresh_name(), ttl=600, max_checks=1)
            assert (await child.check(tool="x")).allowed
            assert (await child.check(tool="x")).policy_rule == "delegation"
            await agent.revoke_delegation(child.id.agent_id)
            assert (await child.check(tool="x")).decision == "deny"

    asyncio.run(delegating())
