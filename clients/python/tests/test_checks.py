"""Asking and reporting, against a gateway."""

from __future__ import annotations

import threading
from decimal import Decimal

import pytest
from conftest import fresh_name
from gateway_process import BOOTSTRAP_KEY, GatewayProcess

import reeve
from reeve import Agent, AgentId, Reeve, Via


def test_the_answer_says_what_and_why(agent: Agent) -> None:
    allowed = agent.check(tool="search", args={"q": "x"}, summary="look", run_id="run-1")
    assert allowed
    assert (allowed.decision, allowed.allowed, allowed.policy_rule) == ("allow", True, "default")
    assert (allowed.op_id, allowed.source) == (f"{allowed.trace_id}:{allowed.span_id}", "gateway")
    denied = agent.check(tool="delete_customer")
    assert not denied
    assert (denied.decision, denied.policy_rule) == ("deny", "test/never-delete")
    assert "never-delete" in denied.reason
    held = agent.check(tool="ask_somebody")
    assert (held.decision, held.allowed) == ("pending", False)
    assert held.approval_id


def test_a_door_says_that_it_asks_for_the_agent(gateway: GatewayProcess, agent: Agent) -> None:
    answer = agent.check(tool="search", via=Via("mcp", "github"))
    assert gateway.op(answer.op_id)["via"] == {"door": "mcp", "name": "github"}


def test_conditions_see_the_arguments(agent: Agent) -> None:
    assert agent.check(tool="refund", args={"amount": 100})
    assert not agent.check(tool="refund", args={"amount": 101})


def test_a_budget_says_its_limit_and_costs_are_settled(gateway: GatewayProcess, agent: Agent) -> None:
    first = agent.check(type="llm_call", model="m", estimated_cost_usd="1.50")
    assert gateway.op(first.op_id)["cost_micros"] == 1_500_000
    refused = agent.check(tool="x", estimated_cost_usd=Decimal("0.60"))
    assert refused.policy_rule == "budget/agent.day"
    assert refused.limit == reeve.BudgetLimit("agent", "day", 2_000_000, 1_500_000)
    agent.complete(first.op_id, cost_usd="0.25", detail="cheaper than thought")
    assert gateway.op(first.op_id)["cost_micros"] == 250_000
    assert agent.check(tool="x", estimated_cost_usd=1.75)


def test_the_same_ids_ask_about_the_same_operation(agent: Agent) -> None:
    first = agent.check(tool="x")
    again = agent.check(tool="x", trace_id=first.trace_id, span_id=first.span_id)
    assert again.op_id == first.op_id
    assert again.allowed
    other = agent.check(tool="y", trace_id=first.trace_id, span_id=first.span_id)
    assert other.reason == "operation id was used for another request"


def test_completing_twice_or_something_unknown_is_an_error(agent: Agent) -> None:
    answer = agent.check(tool="x")
    agent.complete(answer.op_id, outcome="failed")
    with pytest.raises(reeve.InvalidTransition):
        agent.complete(answer.op_id)
    with pytest.raises(reeve.OperationNotFound):
        agent.complete("nobody:knows")
    with pytest.raises(reeve.InvalidRequest, match="^detail"):
        agent.complete(answer.op_id, detail="\ud800")
    with pytest.raises(reeve.InvalidRequest, match="outcome"):
        agent.complete(answer.op_id, outcome="fine")  # type: ignore[arg-type]


def test_many_checks_are_judged_each_on_its_own(agent: Agent) -> None:
    checks: list[reeve.CheckMembers] = [{"tool": "delete_it" if n % 2 else "x"} for n in range(1001)]
    answers = agent.check_many(checks)
    assert [answer.allowed for answer in answers] == [n % 2 == 0 for n in range(1001)]
    assert agent.check_many([]) == []
    with pytest.raises(reeve.InvalidRequest, match=r"^checks\[1\]\.tool"):
        agent.check_many([{"tool": "x"}, {"tool": ""}])
    with pytest.raises(reeve.InvalidRequest, match=r"checks\[1\]"):
        agent.check_many([{"tool": "x"}, {"tool": "x" * 600}])


def test_a_message_that_is_too_large_is_refused_here(agent: Agent) -> None:
    with pytest.raises(reeve.InvalidRequest, match="at most 4194304 can be sent"):
        agent.check(tool="x", args="a" * 4_200_000)


def test_a_token_is_enough_to_act(gateway: GatewayProcess, client: Reeve, monkeypatch: pytest.MonkeyPatch) -> None:
    enrolled = client.enroll("acme", "core", fresh_name(), name="One", metadata={"a": "b"}, tools=["x"])
    assert enrolled.token not in repr(enrolled)
    monkeypatch.delenv("REEVE_API_KEY", raising=False)
    with Reeve(gateway.grpc) as other:
        assert other.identify(enrolled.token).id == enrolled.id
        assert other.agent(token=enrolled.token).check(tool="x")
        monkeypatch.setenv("REEVE_AGENT_TOKEN", enrolled.token)
        assert other.agent(shared=True).id == enrolled.id
        with pytest.raises(reeve.Unauthenticated):
            other.agent(token="nobody's token, which is long enough")
        with pytest.raises(reeve.Unauthenticated, match="no API key"):
            other.register("acme", "core", fresh_name())


def test_parents_and_callers(gateway: GatewayProcess, client: Reeve, agent: Agent) -> None:
    child = client.register("acme", "core", fresh_name(), parent=agent.id)
    lineage = gateway.api("GET", f"/api/v1/topology/lineage/acme/core/{child.id.agent_id}")["items"]
    assert [each["agent_id"] for each in lineage] == [agent.id.agent_id, child.id.agent_id]
    assert child.check(type="agent_spawn", caller=agent.id)
    with pytest.raises(reeve.InvalidRequest):
        client.register("acme", "core", fresh_name(), parent=AgentId("elsewhere", "x", "y"))


def test_a_new_registration_replaces_the_token(gateway: GatewayProcess, client: Reeve) -> None:
    name = fresh_name()
    revoked = threading.Event()
    first = client.register("acme", "core", name, on_revoked=revoked.set)
    with Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as elsewhere:
        second = elsewhere.register("acme", "core", name)
        assert revoked.wait(30)
        assert first.revoked
        assert (first.created, second.created) == (True, False)
        denied = first.check(tool="x")
        assert (denied.policy_rule, denied.source) == ("identity", "gateway")
        assert second.check(tool="x")


def test_a_new_registration_by_the_same_client_goes_on(gateway: GatewayProcess, client: Reeve) -> None:
    name = fresh_name()
    client.register("acme", "core", name)
    again = client.register("acme", "core", name)
    with pytest.raises(reeve.OperationTerminated), again.operation(tool="x") as op:
        gateway.control(op.op_id, "terminate")
        assert op.stopped.wait(30)
    with pytest.raises(reeve.OperationTerminated, match="deregistered"), again.operation(tool="x") as op:
        again.deregister("enough")
        assert op.state == "terminated"
        op.checkpoint()
    with pytest.raises(reeve.Closed):
        again.check(tool="x")


def test_suspension_and_the_heartbeat(gateway: GatewayProcess, agent: Agent) -> None:
    assert agent.heartbeat().policy_version
    assert agent.policy_version
    path = f"/api/v1/agents/acme/core/{agent.id.agent_id}"
    gateway.api("POST", f"{path}/suspend", {"reason": "a look"})
    assert agent.heartbeat().suspended
    assert agent.suspended
    assert agent.check(tool="x").reason == "agent is suspended"
    gateway.api("POST", f"{path}/resume", {"reason": "fine"})
    assert agent.check(tool="x")


def test_denied_tools(agent: Agent) -> None:
    assert agent.denied_tools("", ["search", "delete_all", "ask_me"]) == ["delete_all"]


def test_secrets_in_arguments_stay_out_of_the_log(gateway: GatewayProcess, agent: Agent) -> None:
    answer = agent.check(tool="login", args={"password": "hunter2-hunter2", "user": "me"})
    (entry,) = gateway.logs(op_id=answer.op_id)
    assert "hunter2" not in str(entry)
    assert "me" in str(entry["payload"])


def test_a_key_of_another_tenant_and_a_wrong_one(gateway: GatewayProcess) -> None:
    made = gateway.api("POST", "/api/v1/iam/api-keys", {"label": "t", "scopes": ["write"], "org_id": "other"})
    with Reeve(gateway.grpc, api_key=made["key"]) as bound, pytest.raises(reeve.PermissionDenied) as caught:
        bound.register("acme", "core", fresh_name())
    assert made["key"] not in str(caught.value)
    with Reeve(gateway.grpc, api_key="not-a-key") as nobody, pytest.raises(reeve.Unauthenticated):
        nobody.register("acme", "core", fresh_name())
