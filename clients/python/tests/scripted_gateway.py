"""A gateway that follows the script of a test, over real gRPC on a real port."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc

from reeve.v1 import agent_service_pb2 as agents
from reeve.v1 import common_pb2
from reeve.v1 import policy_service_pb2 as policy

Play = Callable[[policy.CheckResultRequest, int], policy.CheckResultResponse]
Signal = policy.OpControlMessage


def passing(masked: bytes | None = None) -> policy.CheckResultResponse:
    return policy.CheckResultResponse(decision=common_pb2.ALLOW, policy_rule="test/mask", result_json=masked)


def denying(reason: str = "holds a secret") -> policy.CheckResultResponse:
    return policy.CheckResultResponse(decision=common_pb2.DENY, reason=reason, policy_rule="data/no-secrets")


class Refused(Exception):
    """Fails a call with a status."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self.code = code


class ScriptedGateway:
    """Allows every action, with a result to be judged."""

    def __init__(self, judge: Play = lambda _request, _nth: passing()) -> None:
        self.judge = judge
        #: What an action is rewritten to, for those who say that they can.
        self.rewritten: bytes | None = None
        #: Called with the token of each call of the agent. True: it is refused.
        self.refuses: Callable[[str], bool] = lambda _token: False
        self.checked: list[policy.CheckActionRequest] = []
        self.judged: list[tuple[str, bool]] = []
        self.completed: list[tuple[int, str]] = []
        self._sequence = 0
        self._streams: list[queue.SimpleQueue[Signal | None]] = []
        self._opened = threading.Event()
        self._server = grpc.server(
            futures.ThreadPoolExecutor(16), options=[("grpc.max_receive_message_length", 17 * 1024 * 1024)]
        )
        unary, stream = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        services: dict[str, dict[str, Any]] = {
            "PolicyService": {
                "BatchCheck": (unary, self._batch, policy.BatchCheckRequest),
                "CheckAction": (unary, self._check, policy.CheckActionRequest),
                "CheckResult": (unary, self._check_result, policy.CheckResultRequest),
                "CompleteAction": (unary, self._complete, policy.CompleteActionRequest),
                "OpControlStream": (stream, self._controls, policy.OpControlSubscribeRequest),
                "AckOpControl": (unary, lambda *_: policy.AckOpControlResponse(), policy.AckOpControlRequest),
            },
            "AgentService": {
                "RegisterAgent": (unary, self._register, agents.RegisterAgentRequest),
                "Heartbeat": (unary, lambda *_: agents.HeartbeatResponse(), agents.HeartbeatRequest),
            },
        }
        for service, methods in services.items():
            handlers = {
                name: kind(act, request.FromString, lambda message: message.SerializeToString())
                for name, (kind, act, request) in methods.items()
            }
            handler = grpc.method_handlers_generic_handler(f"reeve.v1.{service}", handlers)
            self._server.add_generic_rpc_handlers((handler,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def __enter__(self) -> ScriptedGateway:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._streams:
            stream.put(None)
        self._server.stop(None)

    def control(self, op_id: str, signal: Signal.Signal, reason: str = "") -> None:
        assert self._opened.wait(20), "nobody listens"
        self._sequence += 1
        message = Signal(op_id=op_id, signal=signal, sequence=self._sequence, reason=reason)
        for stream in self._streams:
            stream.put(message)

    def _register(self, request: agents.RegisterAgentRequest, _: object) -> agents.RegisterAgentResponse:
        return agents.RegisterAgentResponse(credential_token="rva_test", heartbeat_interval_secs=30, created=True)

    def _check(self, request: policy.CheckActionRequest, _: object) -> policy.CheckActionResponse:
        if self.refuses(request.credential_token):
            return policy.CheckActionResponse(
                decision=common_pb2.DENY, policy_rule="identity", reason="token has expired"
            )
        op_id = f"{request.trace_id}:{request.span_id}"
        self.checked.append(request)
        args = self.rewritten if request.can_rewrite else None
        return policy.CheckActionResponse(
            decision=common_pb2.ALLOW,
            op_id=op_id,
            op_state="running",
            judge_result=self.rewritten is None,
            args_json=args,
        )

    def _batch(self, request: policy.BatchCheckRequest, context: object) -> policy.BatchCheckResponse:
        return policy.BatchCheckResponse(responses=[self._check(each, context) for each in request.requests])

    def _check_result(self, request: policy.CheckResultRequest, context: grpc.ServicerContext) -> Any:
        self._accept(request.credential_token, context)
        self.judged.append((request.result_json.decode(), request.is_error))
        try:
            return self.judge(request, len(self.judged))
        except Refused as refused:
            context.abort(refused.code, "no")

    def _accept(self, token: str, context: grpc.ServicerContext) -> None:
        if self.refuses(token):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "token has expired")

    def _complete(
        self, request: policy.CompleteActionRequest, context: grpc.ServicerContext
    ) -> policy.CompleteActionResponse:
        self._accept(request.credential_token, context)
        self.completed.append((request.outcome, request.detail))
        return policy.CompleteActionResponse()

    def _controls(self, _request: object, context: grpc.ServicerContext) -> Iterator[Signal]:
        stream: queue.SimpleQueue[Signal | None] = queue.SimpleQueue()
        self._streams.append(stream)
        context.send_initial_metadata(())
        self._opened.set()
        while (message := stream.get()) is not None:
            yield message
