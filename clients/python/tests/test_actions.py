"""What is refused before anything is sent. There is no gateway here."""

from __future__ import annotations

from typing import Any

import pytest

from reeve import AgentId, Answer, InvalidRequest, Via
from reeve._prepare import PreparedCheck, prepare_check
from reeve.v1 import common_pb2

ME = AgentId("acme", "core", "one")
NOTHING: frozenset[str] = frozenset()


def prepared(**members: Any) -> PreparedCheck:
    return prepare_check(ME, "token", members, NOTHING)


@pytest.mark.parametrize(
    ("members", "kind", "field", "expected"),
    [
        (
            {"tool": "search", "args": {"q": "ä"}, "source": "web", "url": "https://x"},
            common_pb2.TOOL_CALL,
            "tool_call",
            {"tool_name": "search", "args_json": '{"q":"ä"}'.encode(), "tool_source": "web", "target_url": "https://x"},
        ),
        (
            {"type": "llm_call", "model": "m", "prompt_tokens": 3, "max_output_tokens": 4},
            common_pb2.LLM_CALL,
            "llm_call",
            {"model": "m", "prompt_tokens": 3, "max_output_tokens": 4},
        ),
        (
            {"type": "file_operation", "operation": "read", "path": "/x"},
            common_pb2.FILE_OPERATION,
            "file_op",
            {"operation": "read", "path": "/x"},
        ),
        (
            {"type": "network_call", "host": "h", "port": 443, "protocol": "https"},
            common_pb2.NETWORK_CALL,
            "network_call",
            {"host": "h", "port": 443, "protocol": "https"},
        ),
        (
            {"type": "process_exec", "command": "ls", "args": ["-l"], "working_dir": "/srv"},
            common_pb2.PROCESS_EXEC,
            "process_exec",
            {"command": "ls", "args": ["-l"], "working_dir": "/srv"},
        ),
        (
            {"type": "agent_spawn", "command": "agent"},
            common_pb2.AGENT_SPAWN,
            "process_exec",
            {"command": "agent", "args": []},
        ),
        (
            {"type": "tool_result", "tool": "search", "result": [1, None]},
            common_pb2.TOOL_RESULT,
            "tool_result",
            {"tool_name": "search", "result_json": b"[1,null]"},
        ),
    ],
)
def test_every_action_type(members: dict[str, Any], kind: int, field: str, expected: dict[str, Any]) -> None:
    request = prepared(**members).request
    assert request.action_type == kind
    assert request.context.WhichOneof("action") == field
    written = getattr(request.context, field)
    for name, value in expected.items():
        actual = getattr(written, name)
        assert (list(actual) if isinstance(value, list) else actual) == value


def test_a_spawn_without_a_command_has_no_context() -> None:
    assert prepared(type="agent_spawn").request.context.WhichOneof("action") is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "tool: must be a non-empty text"),
        ({"tool": ""}, "tool: must be a non-empty text"),
        ({"tool": 3}, "tool: must be a non-empty text"),
        ({"type": "dance"}, "type: must be one of tool_call"),
        ({"type": ["tool_call"]}, "type: must be one of tool_call"),
        ({"tool": "x", "model": "m"}, "model: is no member of a tool_call"),
        ({"type": "llm_call", "model": "m", "prompt_tokens": -1}, "prompt_tokens: must be a whole number"),
        ({"type": "llm_call", "model": "m", "prompt_tokens": True}, "prompt_tokens: must be a whole number"),
        ({"type": "network_call", "host": "h", "port": 70_000}, "port: must be a whole number from 0 to 65535"),
        ({"type": "process_exec", "command": "ls", "args": "-l"}, "args: must be a list of texts"),
        ({"type": "process_exec", "command": "ls", "working_dir": 3}, "working_dir: must be a text"),
        ({"tool": "x", "args": {"a": object()}}, "args: cannot be written as JSON"),
        ({"tool": "x", "args": {"a": float("nan")}}, "args: cannot be written as JSON"),
        ({"tool": "x", "estimated_cost_usd": "-1"}, "estimated_cost_usd: must be dollars"),
        ({"tool": "x", "trace_id": "a:b"}, "trace_id: must be 1 to 128 characters"),
        ({"tool": "x", "span_id": "a\n"}, "span_id: must be 1 to 128 characters"),
        ({"tool": "x", "parent": "nothing"}, "parent: must be an answer"),
        ({"tool": "x", "via": "mcp"}, "via: must be a Via"),
        ({"tool": "x", "via": Via("window")}, "via: must be a Via whose door is one of mcp, model, hook"),  # type: ignore[arg-type]
        ({"tool": "x", "via": Via("mcp", 3)}, "via.name: must be a text"),  # type: ignore[arg-type]
        ({"tool": "x\ud800"}, "characters that cannot be sent"),
    ],
)
def test_what_is_refused(members: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        prepared(**members)
    assert message in str(caught.value)


def test_a_circle_and_a_depth_are_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for args in (circle, deep):
        with pytest.raises(InvalidRequest, match="args: cannot be written as JSON"):
            prepared(tool="x", args=args)


def test_a_lone_surrogate_is_escaped() -> None:
    assert prepared(tool="x", args="\ud800").request.context.tool_call.args_json == b'"\\ud800"'


def test_an_unknown_keyword_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="estimated_cost"):
        prepared(tool="x", estimated_cost=3)


def test_a_part_shares_the_trace_of_its_parent() -> None:
    parent = Answer("allow", "", "", "t1:s1", "t1", "s1")
    for given in (parent, "t1:s1"):
        ids = prepared(tool="x", parent=given).ids
        assert ids.trace_id == "t1"
        assert ids.span_id != "s1"


def test_only_an_allowed_answer_is_true() -> None:
    assert Answer("allow", "", "", "", "", "")
    assert not Answer("deny", "", "", "", "", "")
    assert not Answer("pending", "", "", "", "", "")
