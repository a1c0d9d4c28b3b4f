"""A person who looks after one agent, over HTTP."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reeve import AgentId

from .scene import Stage

if TYPE_CHECKING:
    from gateway_process import GatewayProcess

Value = TypeVar("Value")

#: The machine may be busy, and frameworks take their time.
_PATIENCE = 60.0


class World(Protocol):
    """The gateway of all cases, and its changes, which happen once for all cases of a phase."""

    gateway: GatewayProcess

    def stop(self) -> None: ...

    def restart(self) -> None: ...


class Watcher:
    def __init__(self, world: World, agent: AgentId) -> None:
        self._world = world
        self._agent = agent

    def take(self, step: Mapping[str, Any], stage: Stage) -> None:
        reason = step.get("reason", "")
        own = self._agent
        if "suspend" in step:
            self._post(f"agents/{own.org_id}/{own.team_id}/{own.agent_id}/suspend", step["suspend"])
        if step.get("stop_gateway"):
            self._world.stop()
        if step.get("restart_gateway"):
            self._world.restart()
        for tool in step.get("await_running", ()):
            _await_running(stage, tool)
        for tool in step.get("release", ()):
            stage.release(tool)
        for verdict in ("approve", "reject"):
            if verdict in step:
                self._decide(step[verdict], verdict, reason)
        for action in ("pause", "resume", "terminate"):
            if action in step:
                self._control(step[action], action, reason)
        if "await_paused" in step:
            self._await_receipt(step["await_paused"], ("effective",))
        if step.get("nothing_read") and stage.over.is_set():
            raise AssertionError("the model has read a result too early")

    def ops(self) -> list[Any]:
        return self._get("ops")

    def op(self, resource: str) -> Any:
        return next((op for op in self.ops() if op["resource"] == resource), None)

    def approval(self, tool: str) -> Any:
        found = self._get("approvals", "&state=all")
        return next((each for each in found if each["resource"] == tool), None)

    def log(self) -> list[Any]:
        """All entries of the agent, and of its sub-agent."""
        own = self._agent.agent_id
        return [*self._get("logs", "&per_page=200"), *self._get("logs", "&per_page=200", f"{own}.child")]

    def output(self) -> str:
        return self._world.gateway.output()

    def _decide(self, tool: str, verdict: str, reason: str) -> None:
        held = wait_until(lambda: self.approval(tool), f"nobody is asked about {tool}")
        self._post(f"approvals/{held['id']}/{verdict}", reason)

    def _control(self, tool: str, action: str, reason: str) -> None:
        op = wait_until(lambda: self.op(tool), f"there is no operation of {tool}")
        self._post(f"ops/{urllib.parse.quote(op['op_id'], safe='')}/{action}", reason)
        if action == "pause":
            self._await_receipt(tool, ("acked", "effective"))

    def _await_receipt(self, tool: str, statuses: tuple[str, ...]) -> None:
        def is_so() -> bool | None:
            control = (self.op(tool) or {}).get("control") or {}
            return control.get("status") in statuses or None

        wait_until(is_so, f"the receipt of {tool} never says {' or '.join(statuses)}")

    def _post(self, path: str, reason: str) -> None:
        answer = self._world.gateway.api("POST", f"/api/v1/{path}", {"reason": reason})
        assert "status" not in answer or answer["status"] not in range(400, 600), f"POST {path}: {answer}"

    def _get(self, what: str, query: str = "", agent_id: str | None = None) -> list[Any]:
        own = self._agent
        named = f"org_id={own.org_id}&team_id={own.team_id}&agent_id={agent_id or own.agent_id}"
        items: list[Any] = self._world.gateway.api("GET", f"/api/v1/{what}?{named}{query}")["items"]
        return items


def _await_running(stage: Stage, tool: str) -> None:
    wait_until(lambda: stage.ran[tool] > 0 or None, f"{tool} never runs")


def wait_until(find: Callable[[], Value | None], otherwise: str) -> Value:
    until = time.monotonic() + _PATIENCE
    while True:
        found = find()
        if found is not None:
            return found
        if time.monotonic() > until:
            raise AssertionError(otherwise)
        time.sleep(0.05)
