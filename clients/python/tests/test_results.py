"""What an action brings back is judged before anybody gets it."""

from __future__ import annotations

import asyncio
import math
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import grpc
import pytest
from conftest import eventually
from gateway_process import BOOTSTRAP_KEY
from scripted_gateway import Play, Refused, ScriptedGateway, Signal, denying, passing

from reeve import Agent, AsyncReeve, MaskedError, OperationTerminated, Reeve, ResultDenied
from reeve._wire_result import wire_result_of
from reeve.v1 import common_pb2
from reeve.v1.policy_service_pb2 import CheckResultResponse, CompleteActionRequest

SUCCEEDED, FAILED = CompleteActionRequest.SUCCEEDED, CompleteActionRequest.FAILED


@contextmanager
def scripted(judge: Play | None = None, deadline: float = 20) -> Iterator[tuple[ScriptedGateway, Agent]]:
    gateway = ScriptedGateway(judge) if judge is not None else ScriptedGateway()
    with gateway, Reeve(gateway.address, api_key=BOOTSTRAP_KEY, deadline=deadline) as reeve:
        yield gateway, reeve.register("acme", "core", "bot")


def masking(masked: bytes) -> Play:
    return lambda _request, _nth: passing(masked)


def raising(error: Exception) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def test_an_allowed_result_is_what_was_judged() -> None:
    result = {"rows": [{"name": "anna", "tall": True}], "pair": (1, 2.5, None)}
    with scripted() as (gateway, agent):
        assert agent.run(lambda: result, tool="search") == result
    assert gateway.judged == [('{"rows":[{"name":"anna","tall":true}],"pair":[1,2.5,null]}', False)]
    assert gateway.completed == [(SUCCEEDED, "")]


class Page(str):
    __slots__ = ("source",)
    source: str


class Rows(list[str]):
    __slots__ = ("source",)
    source: str


class Record(dict[str, int]):
    __slots__ = ("source",)
    source: str


@pytest.mark.parametrize("made", [Page("found"), Rows(["found"]), Record(n=1)])
def test_what_a_value_holds_besides_is_not_given(made: Any) -> None:
    made.source = "a@b.de"
    with scripted() as (_, agent):
        given = agent.run(lambda: [made], tool="search")[0]
        assert given == made
        assert not hasattr(given, "source")
        assert not hasattr(agent.run(lambda: made, tool="search"), "source")


def test_what_is_added_while_a_result_is_judged_is_not_given() -> None:
    rows = ["anna"]

    def judge(_request: Any, _nth: int) -> CheckResultResponse:
        rows.append("a@b.de")
        return passing()

    with scripted(judge) as (_, agent):
        assert agent.run(lambda: rows, tool="search") == ["anna"]


class Answered(Exception):
    def __init__(self, message: str, body: Any) -> None:
        super().__init__(message)
        self.body = body


def caused(error: Exception, **links: Exception) -> Exception:
    for name, link in links.items():
        setattr(error, name, link)
    return error


def noted(error: Exception) -> Exception:
    error.__notes__ = ["a@b.de"]
    return error


@pytest.mark.parametrize(
    "error",
    [
        caused(ValueError("failed"), __cause__=ValueError("a@b.de")),
        caused(ValueError("failed"), __context__=ValueError("a@b.de")),
        noted(ValueError("failed")),
        Answered("failed", {"mail": "a@b.de"}),
        Answered("failed", "a@b.de"),
        Answered("failed", 4111111111111111),
        Answered("no 7", 7),
        AttributeError("failed", name="x", obj="a@b.de"),
        UnicodeDecodeError("utf-8", b"a@b.de \xff", 7, 8, "failed"),
    ],
)
def test_of_an_error_only_its_message_is_given(error: Exception) -> None:
    with scripted() as (_, agent), pytest.raises(MaskedError) as raised:
        agent.run(raising(error), tool="search")
    given = raised.value
    assert str(given) == str(error)
    chain = (given.__cause__, given.__context__, getattr(given, "__notes__", None), vars(given))
    assert chain == (None, None, None, {"raised_as": type(error)})
    assert "a@b.de" not in "".join(traceback.format_exception(given))


@pytest.mark.parametrize("error", [FileNotFoundError(2, "No such file", "/no/such"), KeyError("x")])
def test_an_error_that_says_no_more_than_its_message_is_raised_as_it_is(error: Exception) -> None:
    with scripted() as (_, agent), pytest.raises(type(error)) as raised:
        agent.run(raising(error), tool="search")
    assert raised.value is error


class GraphBubbleUp(Exception):
    """As LangGraph has it."""


GraphBubbleUp.__module__ = "langgraph.errors"


def test_what_steers_a_framework_stays_what_it_is() -> None:
    class GraphInterrupt(GraphBubbleUp):
        pass

    interrupt = GraphInterrupt([{"value": "may I?"}])
    with scripted() as (gateway, agent), pytest.raises(GraphInterrupt) as raised:
        agent.run(raising(interrupt), tool="search")
    assert raised.value is interrupt
    assert gateway.judged == []


def test_a_masked_result_takes_the_place_of_what_the_work_gave_back() -> None:
    with scripted(masking(b'{"mail":"[email]"}')) as (_, agent):
        assert agent.run(lambda: {"mail": "a@b.de"}, tool="search") == {"mail": "[email]"}

        @agent.guard(tool="search")
        def search() -> dict[str, str]:
            return {"mail": "a@b.de"}

        @agent.guard(tool="search")
        async def search_async() -> dict[str, str]:
            return {"mail": "a@b.de"}

        assert search() == {"mail": "[email]"}
        assert asyncio.run(search_async()) == {"mail": "[email]"}


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("found 12 ü", "found 12 ü"),
        (' {"a": 1} ', ' {"a": 1} '),
        ("[1]", "[1]"),
        ("4111111111111111", '"4111111111111111"'),
        (" -1.5e3\n", '" -1.5e3\\n"'),
        ("2026-01-02", "2026-01-02"),
        ("null", '"null"'),
        ('"a"', '"\\"a\\""'),
        ("9" * 5000, f'"{"9" * 5000}"'),
        ("", '""'),
    ],
)
def test_a_text_is_sent_so_that_policies_see_what_readers_see(text: str, sent: str) -> None:
    with scripted(lambda request, _nth: passing(request.result_json)) as (gateway, agent):
        assert agent.run(lambda: text, tool="search") == text
    assert gateway.judged == [(sent, False)]


def test_nothing_is_judged_as_null() -> None:
    with scripted() as (gateway, agent):
        assert agent.run(lambda: None, tool="search") is None
    assert gateway.judged == [("null", False)]


def test_a_denied_result_reaches_nobody() -> None:
    def work(op: Any) -> str:
        op.note("one page")
        return "sk-secret"

    says = "^Denied by policy: holds a secret$"
    with scripted(lambda *_: denying()) as (gateway, agent), pytest.raises(ResultDenied, match=says) as raised:
        agent.run(work, tool="search")
    error = raised.value
    assert (error.reason, error.policy_rule, error.source) == ("holds a secret", "data/no-secrets", "gateway")
    assert error.op_id
    assert gateway.completed == [(SUCCEEDED, "one page; the result was denied: holds a secret")]


_CYCLE: dict[str, Any] = {}
_CYCLE["self"] = _CYCLE


class Row:
    secret = "x"


@pytest.mark.parametrize(
    ("what", "result"),
    [
        ("a Row", Row()),
        ("a datetime", [datetime(2026, 1, 1)]),
        ("a bytes", {"file": b"x"}),
        ("a set", {1}),
        ("a generator", (each for each in "ab")),
        ("a function", {"go": raising(ValueError())}),
        ("nan", {"n": math.nan}),
        ("a member whose name is no text", {1: "a"}),
        ("what cannot be written as JSON", _CYCLE),
    ],
)
def test_what_cannot_be_judged_is_denied(what: str, result: Any) -> None:
    says = f"the result cannot be judged: it holds {what}; give back a text"
    with scripted() as (gateway, agent), pytest.raises(ResultDenied, match=says):
        agent.run(lambda: result, tool="search")
    assert gateway.judged == []
    assert [outcome for outcome, _ in gateway.completed] == [SUCCEEDED]


def test_the_longest_result_is_judged_and_a_longer_one_denied() -> None:
    most = "x" * (16 * 1024 * 1024)
    with scripted(lambda request, _nth: passing(b"y" + request.result_json)) as (_, agent):
        assert len(agent.run(lambda: most, tool="search")) == len(most) + 1
        with pytest.raises(ResultDenied, match="has 16777217 bytes; at most 16777216 can be judged"):
            agent.run(lambda: most + "x", tool="search")


def refusing(code: grpc.StatusCode) -> Play:
    def play(_request: Any, _nth: int) -> CheckResultResponse:
        raise Refused(code)

    return play


@pytest.mark.parametrize(
    "judge",
    [
        refusing(grpc.StatusCode.UNAVAILABLE),
        refusing(grpc.StatusCode.UNIMPLEMENTED),
        refusing(grpc.StatusCode.NOT_FOUND),
        refusing(grpc.StatusCode.FAILED_PRECONDITION),
        refusing(grpc.StatusCode.UNAUTHENTICATED),
        refusing(grpc.StatusCode.INTERNAL),
        lambda *_: CheckResultResponse(),
        lambda *_: CheckResultResponse(decision=common_pb2.PENDING),
        masking(b"{"),
    ],
)
def test_without_a_judgement_there_is_no_result(judge: Play) -> None:
    with scripted(judge, deadline=0.3) as (gateway, agent):
        with pytest.raises(ResultDenied):
            agent.run(lambda: {"mail": "a@b.de"}, tool="search")
        assert [outcome for outcome, _ in gateway.completed] == [SUCCEEDED]


def test_errors_are_judged_by_their_message() -> None:
    fault = TypeError("no mail for a@b.de")
    with scripted() as (gateway, agent):
        with pytest.raises(TypeError) as raised:
            agent.run(raising(fault), tool="search")
        assert raised.value is fault
        assert gateway.judged == [("no mail for a@b.de", True)]
        gateway.judge = masking(b"no mail for [email]")
        with pytest.raises(MaskedError, match=r"^no mail for \[email\]$") as masked:
            agent.run(raising(fault), tool="search")
        assert masked.value.__context__ is None
        gateway.judge = lambda *_: denying()
        with pytest.raises(ResultDenied):
            agent.run(raising(fault), tool="search")
    assert [outcome for outcome, _ in gateway.completed] == [FAILED, FAILED, FAILED]


def test_blocks_have_their_results_judged_by_hand_and_their_errors_by_themselves() -> None:
    with scripted(masking(b"found [email]")) as (gateway, agent):
        with agent.operation(tool="search") as op:
            assert op.answer.judge_result
            assert op.check_result("found a@b.de") == "found [email]"
        assert gateway.judged == [("found a@b.de", False)]
        with pytest.raises(MaskedError), agent.operation(tool="search"):
            raise ValueError("no a@b.de")
        answer = agent.check(tool="search")
        assert agent.check_result(answer.op_id, "a@b.de", is_error=True) == "found [email]"
        agent.complete(answer.op_id)
    assert gateway.judged[1:] == [("no a@b.de", True), ("a@b.de", True)]


def test_a_stopped_operation_gives_its_result_to_nobody() -> None:
    with scripted() as (gateway, agent):

        def work(op: Any) -> str:
            gateway.control(op.op_id, Signal.TERMINATE, "enough")
            assert op.stopped.wait(20)
            return "sk-secret"

        with pytest.raises(OperationTerminated) as raised:
            agent.run(work, tool="search")
    assert raised.value.result is None
    assert gateway.judged == []


def test_a_pause_that_is_heard_of_later_delays_the_judgement() -> None:
    ops: list[Any] = []

    def judge(request: Any, nth: int) -> CheckResultResponse:
        if nth > 1:
            return passing()
        gateway.control(request.op_id, Signal.PAUSE)
        raise Refused(grpc.StatusCode.FAILED_PRECONDITION)

    with scripted(judge) as (gateway, agent):
        results: list[str] = []

        def work(op: Any) -> str:
            ops.append(op)
            return "found"

        async def both() -> None:
            running = asyncio.to_thread(agent.run, work, tool="search")
            task = asyncio.ensure_future(running)
            await asyncio.to_thread(eventually, lambda: ops and ops[0].state == "paused")
            assert not task.done()
            gateway.control(ops[0].op_id, Signal.RESUME)
            results.append(await task)

        asyncio.run(both())
    assert results == ["found"]


def test_the_async_client_does_the_same() -> None:
    async def tried(gateway: ScriptedGateway) -> None:
        async with AsyncReeve(gateway.address, api_key=BOOTSTRAP_KEY) as reeve:
            agent = await reeve.register("acme", "core", "bot")

            async def found() -> str:
                return "found a@b.de"

            async def fails() -> str:
                raise ValueError("no a@b.de")

            assert await agent.run(found, tool="search") == "[email]"
            with pytest.raises(MaskedError, match="email"):
                await agent.run(fails, tool="search")
            async with agent.operation(tool="search") as op:
                assert await op.check_result("a@b.de") == "[email]"
            gateway.judge = lambda *_: denying()
            with pytest.raises(ResultDenied):
                await agent.run(found, tool="search")
            answer = await agent.check(tool="search")
            with pytest.raises(ResultDenied):
                await agent.check_result(answer.op_id, "a@b.de")

    with ScriptedGateway(masking(b"[email]")) as gateway:
        asyncio.run(tried(gateway))


@pytest.mark.parametrize("text", [" " * 1_000_000 + "x", "\t\n\r " * 250_000 + "x", "1" + " " * 1_000_000 + "x"])
def test_a_text_of_blanks_keeps_nobody_waiting(text: str) -> None:
    assert wire_result_of(text).data == text.encode()


@pytest.mark.parametrize("text", [" 4111111111111111\n", "", " \t", '"a"', "true"])
def test_a_scalar_among_blanks_goes_as_a_text(text: str) -> None:
    wire = wire_result_of(text)
    assert wire.data.startswith(b'"')
    assert wire.read(wire.data) == text
