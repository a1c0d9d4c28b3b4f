"""Compares a case with what came of it."""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from .scene import Played, Stage
from .table import Case, filled
from .watcher import Watcher

_PATIENCE = 20.0


def hold_against(case: Case, played: Played, stage: Stage, watcher: Watcher) -> None:
    expect = case["expect"]
    _same("the tools that ran", dict(stage.ran), expect["ran"])
    _hold_reads(case, played, watcher)
    _hold_failures(case, played)
    if "stopped" in expect:
        _hold_stop(expect["stopped"], expect.get("reason", ""), played, stage)
    elif played.error is not None and "fails" not in expect:
        raise played.error
    if case.get("gateway") == "away":
        return
    if "decisions" in expect:
        _same("the decisions", _decisions_of(watcher, expect["decisions"]), sorted(map(_key, expect["decisions"])))
    for resource, end in expect.get("ends", {}).items():
        _eventually(functools.partial(_hold_end, watcher, resource, end))
    for tool, state in expect.get("approvals", {}).items():
        _eventually(functools.partial(_hold_approval, watcher, tool, state))
    for tool, status in expect.get("receipt", {}).items():
        _eventually(functools.partial(_hold_receipt, watcher, tool, status))
    texts = json.dumps(watcher.log()) + watcher.output()
    assert not any(secret in texts for secret in expect.get("log_lacks", ())), "a log has a secret"


def _hold_reads(case: Case, played: Played, watcher: Watcher) -> None:
    for tool, texts in case["expect"].get("reads", {}).items():
        read = [text for text, call in zip(played.reads, case["calls"], strict=False) if call["tool"] == tool]
        for index, text in enumerate([texts] if isinstance(texts, str) else texts):
            values = {}
            if "${reason}" in text:
                values["reason"] = next(entry["reason"] for entry in watcher.log() if entry["decision"] == "deny")
            if "${approval}" in text:
                values["approval"] = watcher.approval(tool)["id"]
            wanted = filled(text, values)
            found = read[index] if index < len(read) else None
            error = "" if played.error is None else f", and the run ended with {played.error!r}"
            assert wanted in (found or ""), f"the model reads {found!r} in place of {wanted!r}{error}"


def _hold_failures(case: Case, played: Played) -> None:
    """A framework may let the model read the error of a tool, or end the run with it."""
    error = [] if played.error is None else [str(played.error)]
    told = [*played.reads, *error]
    for secret in case["expect"].get("reads_lack", ()):
        assert not any(secret in text for text in told), f"somebody reads {secret!r}: {told}"
    for tool, text in case["expect"].get("fails", {}).items():
        read = [each for each, call in zip(played.reads, case["calls"], strict=False) if call["tool"] == tool]
        assert any(text in each for each in (*read, *error)), f"nobody reads {text!r}: {told}"


def _hold_stop(tool: str, reason: str, played: Played, stage: Stage) -> None:
    assert tool in stage.stopped, f"{tool} was not told to stop"
    told = [str(each) for each in (played.error, *played.reads)]
    heard = any(re.search("terminated|Stopped", text) and reason in text for text in told)
    assert heard, f"nobody hears that {tool} was stopped: {told}"


def _hold_end(watcher: Watcher, resource: str, end: Mapping[str, Any]) -> None:
    # A model may have been called more than once: the first call is the one that the table speaks of.
    op = next((each for each in reversed(watcher.ops()) if each["resource"] == resource), None)
    assert op is not None, f"there is no operation of {resource}"
    if "state" in end:
        _same(f"the state of {resource}", op["state"], end["state"])
    if "cost_usd" in end:
        _same(f"the cost of {resource}", op["cost_micros"], round(float(end["cost_usd"]) * 1_000_000))
    if "outcome" in end:
        moved = [
            entry["payload"]["outcome"]
            for entry in watcher.log()
            if entry["op_id"] == op["op_id"]
            and entry["event_type"] == "OpStateChanged"
            and "outcome" in entry["payload"]
        ]
        _same(f"the outcome of {resource}", moved, [end["outcome"]])


def _hold_approval(watcher: Watcher, tool: str, state: str) -> None:
    _same(f"the approval of {tool}", watcher.approval(tool)["state"], state)


def _hold_receipt(watcher: Watcher, tool: str, status: str) -> None:
    _same(f"the receipt of {tool}", watcher.op(tool)["control"]["status"], status)


def _decisions_of(watcher: Watcher, wanted: list[Mapping[str, Any]]) -> list[str]:
    """The decisions in the log, by those members that the table speaks of, in a fixed order."""
    found = [_describe(entry) for entry in watcher.log() if entry["decision"] is not None]
    if not any(each["action"] == "llm_call" for each in wanted):
        found = [each for each in found if each["action"] != "llm_call"]
    named = []
    for each in found:
        like = next((one for one in wanted if one.items() <= each.items()), each)
        named.append(_key(like))
    return sorted(named)


def _describe(entry: Mapping[str, Any]) -> dict[str, Any]:
    payload, lineage = entry["payload"], entry["lineage"]
    agent, parent = lineage["agent_id"], lineage["parent_agent_id"]
    return {
        "action": (payload.get("action") or {}).get("type", ""),
        "resource": payload.get("resource", ""),
        "decision": entry["decision"],
        "rule": entry["policy_rule"] or "",
        **({"agent": "child"} if agent.endswith(".child") else {}),
        **({"parent": True} if parent is not None and agent == f"{parent}.child" else {}),
        "depth": lineage["depth"],
        "run_id": payload.get("run_id") or "",
    }


def _key(decision: Mapping[str, Any]) -> str:
    return json.dumps(decision, sort_keys=True)


def _same(what: str, found: Any, wanted: Any) -> None:
    assert found == wanted, f"{what}: {found} in place of {wanted}"


def _eventually(hold: Callable[[], None]) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return hold()
        except AssertionError:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)
