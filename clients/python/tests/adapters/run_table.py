"""Runs the table of cases on subjects, with one gateway."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gateway_process import BOOTSTRAP_KEY, GatewayProcess

from reeve import Reeve

from .hold_against import hold_against
from .scene import Played, Stage, Subject
from .table import LANGUAGE, Case, Table, cases_for
from .watcher import Watcher

#: How a subject did in a case. None: as the table says.
Failures = dict[str, dict[str, str | None]]


class _World:
    def __init__(self, table: Table) -> None:
        self.gateway = GatewayProcess(policy=table["policy"])
        self.comers = threading.Barrier(1)

    def stop(self) -> None:
        if self.comers.wait(60) == 0:
            self.gateway.kill(signal.SIGKILL)
        self.comers.wait(60)

    def restart(self) -> None:
        if self.comers.wait(60) == 0:
            self.gateway.kill(signal.SIGKILL)
            self.gateway.start()
        self.comers.wait(60)


def run_table(table: Table, subjects: Sequence[Subject], at_once: int = 12) -> Failures:
    """First all cases that leave the gateway alone, then its restart, once for all subjects, then its absence."""
    failures: Failures = {subject.name: {} for subject in subjects}
    world = _World(table)

    def attempt(subject: Subject, case: Case) -> None:
        try:
            _run_case(table, subject, case, world)
            failures[subject.name][case["name"]] = None
        except BaseException as error:
            failures[subject.name][case["name"]] = f"{type(error).__name__}: {error}"
            world.comers.abort()

    try:
        for phase in (None, "restarted", "away"):
            tries = [
                (subject, case)
                for subject in subjects
                for case in cases_for(table, subject.name)
                if case.get("gateway") == phase
            ]
            world.comers = threading.Barrier(len(tries))
            with ThreadPoolExecutor(at_once if phase is None else len(tries)) as pool:
                for each in tries:
                    pool.submit(attempt, *each)
    finally:
        world.gateway.remove()
    return failures


def _run_case(table: Table, subject: Subject, case: Case, world: _World) -> None:
    # Without a gateway there is nothing to wait for.
    deadline = 2.0 if case.get("gateway") == "away" else 20.0
    with Reeve(world.gateway.grpc, api_key=BOOTSTRAP_KEY, deadline=deadline) as reeve:
        agent = reeve.register("adapters", LANGUAGE, f"{subject.name}.{case['name']}", framework=subject.name)
        stage = Stage(subject, table, reeve)
        watcher = Watcher(world, agent.id)
        for step in case.get("before", ()):
            watcher.take(step, stage)
        played: list[Played] = []

        def play() -> None:
            result: Any = None
            try:
                result = subject.play(stage.scene(agent, case))
                if inspect.iscoroutine(result):
                    result = asyncio.run(result)
            except BaseException as error:
                result = Played([], error)
            played.append(result)
            stage.over.set()

        playing = threading.Thread(target=play, daemon=True)
        playing.start()
        try:
            for step in case.get("during", ()):
                watcher.take(step, stage)
        finally:
            # A step that fails must not leave a tool waiting. Whatever is terminated ends by itself.
            if "stopped" not in case["expect"]:
                for tool in table["tools"]:
                    stage.release(tool)
        playing.join(120)
        assert played, "the run never ends"
        hold_against(case, played[0], stage, watcher)
