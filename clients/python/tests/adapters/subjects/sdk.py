"""The plain SDK: `agent.run` in place of each call of a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reeve import (
    ActionDenied,
    AsyncOperation,
    GatewayUnavailable,
    MaskedError,
    Operation,
    OperationTerminated,
    ReeveError,
    ResultDenied,
)

from ..scene import Played, Scene, Subject

#: What a program tells its model.
_TOLD = (ActionDenied, GatewayUnavailable, OperationTerminated, ResultDenied, MaskedError)


def _members(scene: Scene, call: Mapping[str, Any]) -> dict[str, Any]:
    name = call["tool"]
    starts = scene.tool(name).starts_agent
    action = {"type": "agent_spawn", "command": name} if starts else {"tool": name, "args": call["args"]}
    # The plain SDK has no call around this one, so the run of a sub-agent is given by hand.
    inherited = "run-sub-agent" if scene.agent.id.agent_id.endswith("sub-agent.child") else None
    cost = scene.costs.get(name)
    run = {"run_id": scene.run_id or inherited, "wait": scene.approval_wait}
    return {**action, **run, "estimated_cost_usd": cost}


def _model_members(scene: Scene) -> dict[str, Any]:
    return {"type": "llm_call", "model": scene.model["name"], "prompt_tokens": 2000, "max_output_tokens": 400}


def _used(scene: Scene) -> tuple[int, int, int]:
    model = scene.model
    return model["input_tokens"], model["output_tokens"], model["cached_input_tokens"]


def _text_of(error: ReeveError) -> str:
    """What a program would tell its model."""
    if isinstance(error, GatewayUnavailable):
        return f"Reeve is not reachable: {error}"
    if not isinstance(error, ActionDenied):
        return str(error)
    answer = error.answer
    held = answer.decision == "pending"
    return f"Waiting for approval {answer.approval_id}" if held else f"Denied by policy: {answer.reason}"


def _is_held(error: ReeveError) -> bool:
    return isinstance(error, ActionDenied) and error.answer.decision == "pending"


def play(scene: Scene) -> Played:
    agent = scene.agent

    def call_one(call: Mapping[str, Any]) -> str:
        tool = scene.tool(call["tool"])

        def work(op: Operation) -> str:
            return tool.run(call["args"], op)

        try:
            return agent.run(work, **_members(scene, call))
        except _TOLD as error:
            if isinstance(error, ActionDenied) and _is_held(error):
                agent.complete(error.answer.op_id, "cancelled", 0)
            return _text_of(error)

    if scene.governs_model:
        with agent.operation(**_model_members(scene)) as op:
            op.used(*_used(scene))
    with ThreadPoolExecutor(len(scene.calls)) as pool:
        return Played(list(pool.map(call_one, scene.calls)))


async def play_async(scene: Scene) -> Played:
    agent = scene.async_agent

    async def call_one(call: Mapping[str, Any]) -> str:
        tool = scene.tool(call["tool"])

        async def work(op: AsyncOperation) -> str:
            text: str = await tool.run_async(call["args"], op)
            return text

        try:
            return await agent.run(work, **_members(scene, call))
        except _TOLD as error:
            if isinstance(error, ActionDenied) and _is_held(error):
                await agent.complete(error.answer.op_id, "cancelled", 0)
            return _text_of(error)

    if scene.governs_model:
        async with agent.operation(**_model_members(scene)) as op:
            op.used(*_used(scene))
    return Played(await asyncio.gather(*(call_one(call) for call in scene.calls)))


sdk = Subject("sdk", play)
sdk_async = Subject("sdk-async", play_async)
