// A server that allows every check and does nothing else, so that what an agent's own process pays can be measured.
import { CheckActionRequest, CheckActionResponse, Decision, paths, RegisterAgentResponse } from '@reeve/contract';
import { GrpcServer } from '@reeve/grpc-server';

function allow(bytes: Uint8Array): Uint8Array {
  const { traceId, spanId } = CheckActionRequest.decode(bytes);
  return CheckActionResponse.encode({
    decision: Decision.ALLOW,
    reason: '',
    policyRule: 'base/research',
    approvalId: '',
    decisionLatencyUs: 42,
    opId: `${traceId}:${spanId}`,
    opState: 'running',
    limit: undefined,
    judgeResult: false,
  }).finish();
}

const registered = RegisterAgentResponse.encode({
  credentialToken: 'token',
  heartbeatIntervalSecs: 3600,
  created: true,
  expiresAt: '',
  metadata: {},
}).finish();

const server = new GrpcServer({
  unary: new Map([
    [paths.checkAction, (bytes, call) => call.answer(allow(bytes))],
    [paths.registerAgent, (_bytes, call) => call.answer(registered)],
  ]),
  stream: new Map([
    [
      paths.checkStream,
      (stream) => ({
        message: (bytes) => void stream.send(allow(bytes)),
        ended: () => stream.end(),
        closed: () => undefined,
      }),
    ],
    [
      paths.opControlStream,
      (stream) => {
        stream.open();
        return { message: () => undefined, ended: () => undefined, closed: () => undefined };
      },
    ],
  ]),
  statusOf: (error) => ({ code: 13, message: String(error) }),
});

const port = await server.listen('127.0.0.1', 0);
process.stdout.write(`${JSON.stringify({ event: 'listening', grpc: `127.0.0.1:${port}` })}\n`);
