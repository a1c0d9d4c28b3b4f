"""What a check costs the process of a Python agent, beside the bare call of the generated stub.

Run it with the Python of an environment that has clients/python/requirements-dev.txt:

    node_modules/.cache/reeve-python/<key>/bin/python bench/python_check_cost.py [--calls 300] [--rounds 7]

The last two ways have many checks in flight, by calls of their own and by one `CheckStream`: whether a pipeline would pay.

It starts a gateway of this repository. All ways alternate in each round, in the same process, against the same
gateway. CPU is that of this process with all its threads. The median of the rounds counts.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "clients/python/tests")]

from gateway_process import BOOTSTRAP_KEY, GatewayProcess  # noqa: E402

import reeve  # noqa: E402
from reeve.v1 import common_pb2, policy_service_pb2  # noqa: E402

Figures = dict[str, list[tuple[float, float]]]


def generated_stub() -> Any:
    """The stub as an agent's author would generate it."""
    out = tempfile.mkdtemp(prefix="reeve-stub-")
    proto = ROOT / "packages/contract/proto"
    flags = [f"-I{proto}", f"--grpc_python_out={out}", str(proto / "reeve/v1/policy_service.proto")]
    if protoc.main(["protoc", *flags]) != 0:
        raise SystemExit("the stub cannot be generated")
    reeve.v1.__path__.append(f"{out}/reeve/v1")  # type: ignore[attr-defined]
    return importlib.import_module("reeve.v1.policy_service_pb2_grpc").PolicyServiceStub


def request_of(agent: Any, token: str) -> policy_service_pb2.CheckActionRequest:
    tool = policy_service_pb2.ToolCall(tool_name="search", args_json=b'{"q":"refunds"}')
    return policy_service_pb2.CheckActionRequest(
        agent_id=common_pb2.AgentId(org_id=agent.org_id, team_id=agent.team_id, agent_id=agent.agent_id),
        credential_token=token,
        action_type=common_pb2.TOOL_CALL,
        context=policy_service_pb2.ActionContext(tool_call=tool),
    )


def measure(calls: int, call: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        call()
    return (time.process_time() - cpu) / calls * 1e6, (time.perf_counter() - wall) / calls * 1e6


async def measure_async(calls: int, call: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        await call()
    return (time.process_time() - cpu) / calls * 1e6, (time.perf_counter() - wall) / calls * 1e6


def many_calls(stub: Any, request: Callable[[], Any], calls: int) -> None:
    for answer in [stub.CheckAction.future(request(), timeout=30) for _ in range(calls)]:
        answer.result()


def one_stream(stub: Any, request: Callable[[], Any], calls: int) -> None:
    for _ in stub.CheckStream((request() for _ in range(calls)), timeout=30):
        pass


async def measure_all(gateway: GatewayProcess, calls: int, rounds: int) -> Figures:
    stub_class = generated_stub()
    figures: Figures = {
        "sync, bare stub": [],
        "sync, agent.check": [],
        "async, bare stub": [],
        "async, agent.check": [],
    }
    figures |= {"many, bare stub": [], "many, one stream": []}
    with reeve.Reeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as client:
        enrolled = client.enroll("acme", "core", "bench-bare")
        sync_agent = client.register("acme", "core", "bench-sync")
        token, agent_id = enrolled.token, enrolled.id
        async with (
            reeve.AsyncReeve(gateway.grpc, api_key=BOOTSTRAP_KEY) as async_client,
            grpc.aio.insecure_channel(gateway.grpc) as aio_channel,
        ):
            async_agent = await async_client.register("acme", "core", "bench-async")
            with grpc.insecure_channel(gateway.grpc) as channel:
                bare, bare_aio = stub_class(channel), stub_class(aio_channel)
                for round_number in range(rounds + 1):
                    measured = {
                        "sync, bare stub": measure(
                            calls, lambda: bare.CheckAction(request_of(agent_id, token), timeout=5)
                        ),
                        "sync, agent.check": measure(
                            calls, lambda: sync_agent.check(tool="search", args={"q": "refunds"})
                        ),
                        "async, bare stub": await measure_async(
                            calls, lambda: bare_aio.CheckAction(request_of(agent_id, token), timeout=5)
                        ),
                        "async, agent.check": await measure_async(
                            calls, lambda: async_agent.check(tool="search", args={"q": "refunds"})
                        ),
                    }
                    for name, act in {"many, bare stub": many_calls, "many, one stream": one_stream}.items():
                        cpu, wall = measure(1, lambda act=act: act(bare, lambda: request_of(agent_id, token), calls))
                        measured[name] = (cpu / calls, wall / calls)
                    # The first round warms up.
                    if round_number > 0:
                        for name, figure in measured.items():
                            figures[name].append(figure)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="What a check costs the process of a Python agent.")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    gateway = GatewayProcess()
    try:
        figures = asyncio.run(measure_all(gateway, options.calls, options.rounds))
    finally:
        gateway.remove()
    print(
        f"Python {sys.version.split()[0]}, grpcio {grpc.__version__}, {options.rounds} rounds of {options.calls} calls"
    )
    print(f"{'':20} {'CPU us':>8} {'wall us':>8} {'CPU, x bare':>12} {'wall, x bare':>12}")
    for name, measured in figures.items():
        cpu, wall = (statistics.median(each[part] for each in measured) for part in (0, 1))
        bare_cpu, bare_wall = (
            statistics.median(each[part] for each in figures[f"{name.split(',')[0]}, bare stub"]) for part in (0, 1)
        )
        print(f"{name:20} {cpu:8.0f} {wall:8.0f} {cpu / bare_cpu:12.2f} {wall / bare_wall:12.2f}")


if __name__ == "__main__":
    main()
