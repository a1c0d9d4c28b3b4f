"""Runs interop cases with grpcio: PORT CERTIFICATE CASE... It prints one line of JSON for each case.

CERTIFICATE is the file that the server's certificate is checked against, or empty for plain text.
"""

import json
import pathlib
import sys

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
messages, services = grpc.protos_and_services("grpc_testing.proto")

LARGE_REQUEST, LARGE_RESPONSE = 271_828, 314_159
REQUESTS, RESPONSES = (27_182, 8, 1828, 45_904), (31_415, 9, 2653, 58_979)
SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
INITIAL, TRAILING = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"
METADATA = ((INITIAL, "test_initial_metadata_value"), (TRAILING, b"\xab\xab\xab"))
PATIENCE_SECS = 25


def expect(actual, wanted):
    if actual != wanted:
        raise AssertionError(f"{actual!r} instead of {wanted!r}")


def payload(size):
    return messages.Payload(body=bytes(size))


def output_request(size, response, interval_us=0, **more):
    parameters = messages.ResponseParameters(size=response, interval_us=interval_us)
    return messages.StreamingOutputCallRequest(response_parameters=[parameters], payload=payload(size), **more)


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code(), error.details()
    return grpc.StatusCode.OK, ""


class Outbox:
    """Requests that are sent one by one, as answers arrive."""

    def __init__(self):
        import queue

        self._queue = queue.Queue()

    def send(self, request):
        self._queue.put(request)

    def close(self):
        self._queue.put(None)

    def __iter__(self):
        return iter(self._queue.get, None)


def empty_unary(stub):
    expect(stub.EmptyCall(messages.Empty(), timeout=PATIENCE_SECS), messages.Empty())


def large_unary(stub):
    request = messages.SimpleRequest(response_size=LARGE_RESPONSE, payload=payload(LARGE_REQUEST))
    expect(stub.UnaryCall(request, timeout=PATIENCE_SECS).payload.body, bytes(LARGE_RESPONSE))


def client_streaming(stub):
    requests = (messages.StreamingInputCallRequest(payload=payload(size)) for size in REQUESTS)
    expect(stub.StreamingInputCall(requests, timeout=PATIENCE_SECS).aggregated_payload_size, sum(REQUESTS))


def server_streaming(stub):
    parameters = [messages.ResponseParameters(size=size) for size in RESPONSES]
    request = messages.StreamingOutputCallRequest(response_parameters=parameters)
    sizes = [len(answer.payload.body) for answer in stub.StreamingOutputCall(request, timeout=PATIENCE_SECS)]
    expect(sizes, list(RESPONSES))


def ping_pong(stub):
    outbox = Outbox()
    answers = stub.FullDuplexCall(iter(outbox), timeout=PATIENCE_SECS)
    for size, response in zip(REQUESTS, RESPONSES):
        outbox.send(output_request(size, response))
        expect(len(next(answers).payload.body), response)
    outbox.close()
    expect(list(answers), [])


def empty_stream(stub):
    expect(list(stub.FullDuplexCall(iter(()), timeout=PATIENCE_SECS)), [])


def timeout_on_sleeping_server(stub):
    outbox = Outbox()
    outbox.send(output_request(27_182, 9, interval_us=500_000))
    answers = stub.FullDuplexCall(iter(outbox), timeout=0.05)
    code, _ = code_of(lambda: next(answers))
    outbox.close()
    expect(code, grpc.StatusCode.DEADLINE_EXCEEDED)


def cancel_after_begin(stub):
    outbox = Outbox()
    call = stub.StreamingInputCall.future(iter(outbox), timeout=PATIENCE_SECS)
    call.cancel()
    outbox.close()
    expect((call.cancelled(), call.code()), (True, grpc.StatusCode.CANCELLED))


def cancel_after_first_response(stub):
    outbox = Outbox()
    answers = stub.FullDuplexCall(iter(outbox), timeout=PATIENCE_SECS)
    outbox.send(output_request(REQUESTS[0], RESPONSES[0]))
    expect(len(next(answers).payload.body), RESPONSES[0])
    answers.cancel()
    code, _ = code_of(lambda: next(answers))
    outbox.close()
    expect(code, grpc.StatusCode.CANCELLED)


def status_code_and_message(stub):
    status = messages.EchoStatus(code=2, message="test status message")
    wanted = (grpc.StatusCode.UNKNOWN, "test status message")
    request = messages.SimpleRequest(response_status=status)
    expect(code_of(lambda: stub.UnaryCall(request, timeout=PATIENCE_SECS)), wanted)
    streamed = messages.StreamingOutputCallRequest(response_status=status)
    expect(code_of(lambda: list(stub.FullDuplexCall(iter([streamed]), timeout=PATIENCE_SECS))), wanted)


def special_status_message(stub):
    request = messages.SimpleRequest(response_status=messages.EchoStatus(code=2, message=SPECIAL))
    expect(code_of(lambda: stub.UnaryCall(request, timeout=PATIENCE_SECS)), (grpc.StatusCode.UNKNOWN, SPECIAL))


def expect_echoed(initial, trailing):
    expect(dict(initial)[INITIAL], METADATA[0][1])
    expect(dict(trailing)[TRAILING], METADATA[1][1])


def custom_metadata(stub):
    request = messages.SimpleRequest(response_size=LARGE_RESPONSE, payload=payload(LARGE_REQUEST))
    _, call = stub.UnaryCall.with_call(request, metadata=METADATA, timeout=PATIENCE_SECS)
    expect_echoed(call.initial_metadata(), call.trailing_metadata())
    streamed = output_request(LARGE_REQUEST, LARGE_RESPONSE)
    duplex = stub.FullDuplexCall(iter([streamed]), metadata=METADATA, timeout=PATIENCE_SECS)
    expect(len(list(duplex)), 1)
    expect_echoed(duplex.initial_metadata(), duplex.trailing_metadata())


def unimplemented_method(stub):
    code, _ = code_of(lambda: stub.UnimplementedCall(messages.Empty(), timeout=PATIENCE_SECS))
    expect(code, grpc.StatusCode.UNIMPLEMENTED)


def unimplemented_service(_):
    other = services.UnimplementedServiceStub(channel)
    code, _ = code_of(lambda: other.UnimplementedCall(messages.Empty(), timeout=PATIENCE_SECS))
    expect(code, grpc.StatusCode.UNIMPLEMENTED)


port, certificate, *cases = sys.argv[1:]
target = f"localhost:{port}" if certificate else f"127.0.0.1:{port}"
if certificate:
    trusted = pathlib.Path(certificate).read_bytes()
    channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(trusted))
else:
    channel = grpc.insecure_channel(target)
test_stub = services.TestServiceStub(channel)
for name in cases:
    failure = None
    try:
        globals()[name](test_stub)
    except Exception as error:  # A case that fails in any way is a result.
        failure = f"{type(error).__name__}: {error}"
    print(json.dumps({"name": name, "failure": failure}), flush=True)
channel.close()
