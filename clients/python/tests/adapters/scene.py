"""One turn of a model, and the bodies of its tools."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reeve import Agent, AsyncAgent, AsyncOperation, Operation, Reeve, current_async_operation, current_operation

from .table import Case, Table, filled


@dataclass(frozen=True)
class SceneTool:
    name: str
    #: The type of each argument.
    args: Mapping[str, type]
    starts_agent: bool
    #: The operation is given by the plain SDK. Tools of frameworks find it themselves.
    run: Callable[..., str]
    run_async: Callable[..., Any]


@dataclass(frozen=True)
class Scene:
    """All that a subject needs for one turn."""

    agent: Agent
    tools: Sequence[SceneTool]
    calls: Sequence[Mapping[str, Any]]
    model: Mapping[str, Any]
    governs_model: bool
    run_id: str | None
    approval_wait: float
    costs: Mapping[str, str]
    subagents: Sequence[str]

    @property
    def async_agent(self) -> AsyncAgent:
        return AsyncAgent(self.agent._core)

    def tool(self, name: str) -> SceneTool:
        return next(tool for tool in self.tools if tool.name == name)

    @property
    def options(self) -> dict[str, Any]:
        return {"approval_wait": self.approval_wait, "costs": self.costs, "subagents": self.subagents}


@dataclass(frozen=True)
class Played:
    """What the model read, call by call, and how the run ended if not well."""

    reads: Sequence[str]
    error: BaseException | None = None


@dataclass(frozen=True)
class Subject:
    """The plain SDK, or an adapter in the agent loop of its framework. `play` may be a coroutine function."""

    name: str
    play: Callable[[Scene], Any]


@dataclass
class Stage:
    """Counts and holds the bodies of the tools of one case."""

    subject: Subject
    table: Table
    reeve: Reeve
    ran: Counter[str] = field(default_factory=Counter)
    stopped: set[str] = field(default_factory=set)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def release(self, tool: str) -> None:
        self.gates.setdefault(tool, threading.Event()).set()

    def scene(self, agent: Agent, case: Case) -> Scene:
        specs = self.table["tools"]
        return Scene(
            agent=agent,
            tools=[self._tool(name, spec, agent, case) for name, spec in specs.items()],
            calls=case["calls"],
            model=self.table["model"],
            governs_model=case.get("model", False),
            run_id=case.get("run_id"),
            approval_wait=case.get("wait_ms", 20_000) / 1000,
            costs={name: spec["estimate_usd"] for name, spec in specs.items() if "estimate_usd" in spec},
            subagents=[name for name, spec in specs.items() if "starts" in spec],
        )

    def _tool(self, name: str, spec: Mapping[str, Any], agent: Agent, case: Case) -> SceneTool:
        gate = self.gates.setdefault(name, threading.Event())

        def child_scene() -> Scene:
            own = agent.id
            child = self.reeve.register(own.org_id, own.team_id, f"{own.agent_id}.child", parent=own)
            return replace(self.scene(child, case), calls=[spec["starts"]], run_id=None)

        def run(args: Mapping[str, Any], op: Operation | None = None) -> str:
            op = op or current_operation()
            self.ran[name] += 1
            while spec.get("waits") and not gate.wait(0.02):
                if op is not None and op.stopped.is_set():
                    self.stopped.add(name)
                    break
            if op is not None:
                op.checkpoint()
                if "spends_usd" in spec:
                    op.spent_usd(spec["spends_usd"])
            if "starts" in spec:
                _raise_error(self.subject.play(child_scene()))
            return _brought(spec, args)

        async def run_async(args: Mapping[str, Any], op: AsyncOperation | None = None) -> str:
            op = op or current_async_operation()
            self.ran[name] += 1
            try:
                while spec.get("waits") and not gate.is_set():
                    await asyncio.sleep(0.02)
                if op is not None:
                    await op.checkpoint()
                    if "spends_usd" in spec:
                        op.spent_usd(spec["spends_usd"])
                if "starts" in spec:
                    _raise_error(await self.subject.play(await asyncio.to_thread(child_scene)))
            except asyncio.CancelledError:
                self.stopped.add(name)
                raise
            return _brought(spec, args)

        types = {argument: {"string": str, "number": float}[kind] for argument, kind in spec["args"].items()}
        return SceneTool(name, types, "starts" in spec, run, run_async)


def _brought(spec: Mapping[str, Any], args: Mapping[str, Any]) -> str:
    if "throws" in spec:
        raise RuntimeError(filled(spec["throws"], args))
    return filled(spec["returns"], args)


def _raise_error(played: Played) -> None:
    if played.error is not None:
        raise played.error
