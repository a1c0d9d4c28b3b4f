"""The prompt of a model call goes to its provider as rules have masked it."""

from __future__ import annotations

import asyncio
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from gateway_process import BOOTSTRAP_KEY, GatewayProcess
from scripted_gateway import ScriptedGateway

from reeve import ActionDenied, Agent, AsyncReeve, Reeve, ResultDenied
from reeve._flow import run_blocking
from reeve.adapters._prompt import AskedPrompt, Prompt, masked_prompt
from reeve.adapters._prompt_files import file_text_in, files_in

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


TEXT = f"I am {MAIL}, é 😀\n"
LEFT = "I am [masked], é 😀\n"


def in_base64(text: str, encoding: str = "utf-8") -> str:
    return b64encode(text.encode(encoding)).decode()


def sent_of(agent: Agent, said: Any, forms: Any = None, fixed: Any = None) -> Any:
    read = Prompt(says={"messages": said}, forms={"tools": forms}, fixed={"settings": fixed})
    with agent.operation(**CALL, can_mask_prompt=True) as op:
        given = {"messages": said, "tools": forms}
        flow = masked_prompt(op, AskedPrompt(given=given, read=lambda: read, put=lambda left: {**given, **left}))
        return run_blocking(flow)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"media_type": "text/plain", "data": in_base64(TEXT)}, {"media_type": "text/plain", "data": in_base64(LEFT)}),
        ([{"file_data": in_base64(TEXT)}], [{"file_data": in_base64(LEFT)}]),
        (
            {"data": urlsafe_b64encode(f"{TEXT}ß????>>>".encode()).decode()},
            {"data": urlsafe_b64encode(f"{LEFT}ß????>>>".encode()).decode()},
        ),
        (f"data:text/plain;base64,{in_base64(TEXT)}", f"data:text/plain;base64,{in_base64(LEFT)}"),
        (f"data:;charset=utf-8,{quote(TEXT, safe='')}", f"data:;charset=utf-8,{quote(LEFT, safe='')}"),
        ({"media_type": "text/plain", "data": "aGk="}, {"media_type": "text/plain", "data": "aGk="}),
        ({"media_type": "image/png", "data": "iVBORw0KGgo="}, {"media_type": "image/png", "data": "iVBORw0KGgo="}),
    ],
)
def test_a_text_file_is_masked_within_the_form_that_it_has(agent: Agent, given: Any, left: Any) -> None:
    assert sent_of(agent, given)["messages"] == left
    assert sent_of(agent, "hi", forms=[given])["tools"] == [left]
    if given == left:
        return
    with pytest.raises(ResultDenied, match="the prompt cannot be masked: a rule masks a text in settings"):
        sent_of(agent, "hi", fixed=given)


@pytest.mark.parametrize(
    "given",
    [
        {"media_type": "text/csv", "data": in_base64(TEXT, "utf-16")},
        {"mime_type": "application/json", "data": in_base64('"é"', "latin-1")},
        f"data:text/plain;base64,{in_base64('é é é', 'latin-1')}",
    ],
)
def test_a_text_file_that_nobody_can_read_is_not_sent(agent: Agent, given: Any) -> None:
    with pytest.raises(ResultDenied, match="the prompt cannot be masked: it has a file that cannot be read as text"):
        sent_of(agent, given)


def test_a_name_in_an_option_is_judged_as_well(agent: Agent) -> None:
    assert sent_of(agent, "hi", fixed={"metadata": {"who": 1}})["messages"] == "hi"
    with pytest.raises(ResultDenied, match="the prompt cannot be masked: a rule masks a text in settings"):
        sent_of(agent, "hi", fixed={"metadata": {MAIL: 1}})


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


@pytest.mark.parametrize(
    "said",
    ["\n" * 1_000_000 + "!", "data:" + "a" * 1_000_000, "data:" + ";a" * 500_000, "=" * 1_000_000],
    ids=["newlines", "a URL without data", "a URL of parameters", "padding"],
)
def test_a_megabyte_is_looked_through_once(said: str) -> None:
    # By an expression that looks again from each place, each of these would take hours.
    assert file_text_in(said) is None
    assert list(files_in({"said": said})) == []
