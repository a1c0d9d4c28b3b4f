"""The prompt of a model call goes to its provider as rules have masked it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from gateway_process import BOOTSTRAP_KEY, GatewayProcess
from scripted_gateway import ScriptedGateway

from reeve import ActionDenied, Agent, AsyncReeve, Reeve, ResultDenied
from reeve._flow import run_blocking
from reeve.adapters._prompt import AskedPrompt, Prompt, masked_prompt

POLICY = """
name: prompts
default: allow
rules:
  - { name: masks, effect: mask, actions: [llm_call], models: ["masked-*"], mask: { detect: [email, card] } }
"""
MAIL = "ada@example.com"
CALL: dict[str, Any] = {"type": "llm_call", "model": "masked-one", "prompt_tokens": 1, "max_output_tokens": 1}


@pytest.fixture(scope="module")
def gateway() -> Iterator[GatewayProcess]:
    process = GatewayProcess(policy=POLICY)
    yield process
    process.remove()


@pytest.mark.parametrize("card", [4111111111111111, 4111111111111111.0])
def test_a_card_that_is_a_number_is_masked_in_forms_and_refused_in_what_stays(agent: Agent, card: float) -> None:
    def sent(fixed: dict[str, Any]) -> Any:
        form = [{"const": card, "enum": (4222222222222222222, 7, True, f"to {MAIL}")}]
        read = Prompt(says={"messages": [{"card": card}]}, forms={"tools": form}, fixed=fixed)
        with agent.operation(**CALL, can_mask_prompt=True) as op:
            flow = masked_prompt(op, AskedPrompt(given=None, read=lambda: read, put=dict))
            return run_blocking(flow)

    masked = [{"const": "[masked]", "enum": [4222222222222222222, 7, True, "to [masked]"]}]
    assert sent({"seed": 2 * 10**15, "top": float("inf")}) == {"messages": [{"card": "[masked]"}], "tools": masked}
    with pytest.raises(
        ResultDenied, match="Denied by policy: the prompt cannot be masked: a rule masks a text in seed"
    ):
        sent({"seed": card})


def test_an_operation_has_its_prompt_masked(agent: Agent) -> None:
    with agent.operation(**CALL, can_mask_prompt=True) as op:
        assert op.answer.judge_prompt
        assert op.check_prompt({"text": f"I am {MAIL}"}) == {"text": "I am [masked]"}
        assert op.check_prompt(["as it is"]) == ["as it is"]
        with pytest.raises(ResultDenied, match="the prompt cannot be judged: it holds a bytes"):
            op.check_prompt([b"x"])


def test_an_operation_of_the_async_client_too(gateway: GatewayProcess) -> None:
    async def work() -> Any:
        async with AsyncReeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as reeve:
            agent = await reeve.register("acme", "core", "async-prompts")
            async with agent.operation(**CALL, can_mask_prompt=True) as op:
                return await op.check_prompt(f"I am {MAIL}")

    assert asyncio.run(work()) == "I am [masked]"


def test_a_caller_that_cannot_is_denied(agent: Agent) -> None:
    with pytest.raises(ActionDenied, match="must be masked, which this caller cannot do"):
        agent.run(lambda: "sent", **CALL)
    plain = agent.check(**{**CALL, "model": "plain"}, can_mask_prompt=True)
    assert plain.allowed
    assert not plain.judge_prompt


def test_a_gateway_that_does_not_know_of_prompts_has_judged_none() -> None:
    with ScriptedGateway() as gateway, Reeve(gateway.address, api_key=BOOTSTRAP_KEY) as reeve:
        agent = reeve.register("acme", "core", "bot")
        with agent.operation(**CALL, can_mask_prompt=True) as op, pytest.raises(ResultDenied, match="something else"):
            op.check_prompt("hi")
