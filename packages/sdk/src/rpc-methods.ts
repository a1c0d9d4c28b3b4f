import {
  AckOpControlRequest,
  AckOpControlResponse,
  BatchCheckRequest,
  BatchCheckResponse,
  CappedReader,
  CheckActionRequest,
  CheckActionResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  IdentifyAgentRequest,
  IdentifyAgentResponse,
  OpControlMessage,
  OpControlSubscribeRequest,
  paths,
  PreviewToolsRequest,
  PreviewToolsResponse,
  RegisterAgentRequest,
  RegisterAgentResponse,
  ReportToolDefinitionsRequest,
  ReportToolDefinitionsResponse,
} from '@reeve/contract';
import { ReeveInternal, ReeveInvalidRequest } from './errors.ts';

export interface RpcMethod<Request, Response> {
  readonly path: string;
  readonly request: { encode(message: Request): { finish(): Uint8Array } };
  readonly response: { decode(reader: CappedReader): Response };
}

/** The gateway methods that an agent calls. */
export const rpc = {
  checkAction: { path: paths.checkAction, request: CheckActionRequest, response: CheckActionResponse },
  batchCheck: { path: paths.batchCheck, request: BatchCheckRequest, response: BatchCheckResponse },
  checkStream: { path: paths.checkStream, request: CheckActionRequest, response: CheckActionResponse },
  completeAction: { path: paths.completeAction, request: CompleteActionRequest, response: CompleteActionResponse },
  opControlStream: { path: paths.opControlStream, request: OpControlSubscribeRequest, response: OpControlMessage },
  ackOpControl: { path: paths.ackOpControl, request: AckOpControlRequest, response: AckOpControlResponse },
  registerAgent: { path: paths.registerAgent, request: RegisterAgentRequest, response: RegisterAgentResponse },
  heartbeat: { path: paths.heartbeat, request: HeartbeatRequest, response: HeartbeatResponse },
  deregisterAgent: { path: paths.deregisterAgent, request: DeregisterAgentRequest, response: DeregisterAgentResponse },
  identifyAgent: { path: paths.identifyAgent, request: IdentifyAgentRequest, response: IdentifyAgentResponse },
  previewTools: { path: paths.previewTools, request: PreviewToolsRequest, response: PreviewToolsResponse },
  reportToolDefinitions: {
    path: paths.reportToolDefinitions,
    request: ReportToolDefinitionsRequest,
    response: ReportToolDefinitionsResponse,
  },
} as const;

/** The largest message that the gateway takes. */
const largestMessage = 4 * 1024 * 1024;

export function bytesOf<Request>(method: RpcMethod<Request, unknown>, message: Request): Buffer {
  const bytes = method.request.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function isTooLarge(bytes: Buffer): boolean {
  return bytes.length > largestMessage;
}

/** The request in bytes. Refuses here what the gateway would refuse: a refusal on a stream would end all others. */
export function encodeRequest<Request>(method: RpcMethod<Request, unknown>, message: Request): Buffer {
  return requireSendable(bytesOf(method, message));
}

export function requireSendable(bytes: Buffer): Buffer {
  if (!isTooLarge(bytes)) return bytes;
  throw new ReeveInvalidRequest(`the request has ${bytes.length} bytes; at most ${largestMessage} can be sent`);
}

export function decodeResponse<Response>(method: RpcMethod<never, Response>, bytes: Uint8Array): Response {
  try {
    return method.response.decode(new CappedReader(bytes));
  } catch {
    throw new ReeveInternal('the answer of the gateway cannot be read');
  }
}
