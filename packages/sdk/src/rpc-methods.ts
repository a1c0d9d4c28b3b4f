import {
  AckOpControlRequest,
  AckOpControlResponse,
  BatchCheckRequest,
  BatchCheckResponse,
  bounds,
  CappedReader,
  CheckActionRequest,
  CheckActionResponse,
  CheckResultRequest,
  CheckResultResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  DelegateAgentRequest,
  DelegateAgentResponse,
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
  RenewTokenRequest,
  RenewTokenResponse,
  ReportToolDefinitionsRequest,
  ReportToolDefinitionsResponse,
  RevokeDelegationRequest,
  RevokeDelegationResponse,
} from '@reeve/contract';
import type { FullAgentId } from './agent-id.ts';
import { ReeveInternal, ReeveInvalidRequest } from './errors.ts';

/** What an agent says of itself in each call. */
export interface AgentRequest {
  agentId?: FullAgentId | undefined;
  credentialToken: string;
}

export interface RpcMethod<Request, Response> {
  readonly path: string;
  readonly request: { encode(message: Request): { finish(): Uint8Array } };
  readonly response: { decode(reader: CappedReader): Response };
  /** The longest message, both ways, where it is longer than that of other methods. Such a call may take its time. */
  readonly longest?: number | undefined;
}

/** The gateway methods that an agent calls. */
export const rpc = {
  checkAction: methodOf(paths.checkAction, CheckActionRequest, CheckActionResponse),
  batchCheck: methodOf(paths.batchCheck, BatchCheckRequest, BatchCheckResponse),
  checkStream: methodOf(paths.checkStream, CheckActionRequest, CheckActionResponse),
  checkResult: methodOf(paths.checkResult, CheckResultRequest, CheckResultResponse, bounds.resultMessage),
  completeAction: methodOf(paths.completeAction, CompleteActionRequest, CompleteActionResponse),
  opControlStream: methodOf(paths.opControlStream, OpControlSubscribeRequest, OpControlMessage),
  ackOpControl: methodOf(paths.ackOpControl, AckOpControlRequest, AckOpControlResponse),
  registerAgent: methodOf(paths.registerAgent, RegisterAgentRequest, RegisterAgentResponse),
  heartbeat: methodOf(paths.heartbeat, HeartbeatRequest, HeartbeatResponse),
  deregisterAgent: methodOf(paths.deregisterAgent, DeregisterAgentRequest, DeregisterAgentResponse),
  renewToken: methodOf(paths.renewToken, RenewTokenRequest, RenewTokenResponse),
  identifyAgent: methodOf(paths.identifyAgent, IdentifyAgentRequest, IdentifyAgentResponse),
  delegateAgent: methodOf(paths.delegateAgent, DelegateAgentRequest, DelegateAgentResponse),
  revokeDelegation: methodOf(paths.revokeDelegation, RevokeDelegationRequest, RevokeDelegationResponse),
  previewTools: methodOf(paths.previewTools, PreviewToolsRequest, PreviewToolsResponse),
  reportToolDefinitions: methodOf(
    paths.reportToolDefinitions,
    ReportToolDefinitionsRequest,
    ReportToolDefinitionsResponse,
  ),
} as const;

/** Names the type in full: declarations cannot refer to the generated codecs. */
function methodOf<Request, Response>(
  path: string,
  request: RpcMethod<Request, Response>['request'],
  response: RpcMethod<Request, Response>['response'],
  longest?: number,
): RpcMethod<Request, Response> {
  return { path, request, response, longest };
}

export function bytesOf<Request>(method: RpcMethod<Request, unknown>, message: Request): Buffer {
  const bytes = method.request.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function isTooLarge(bytes: Buffer): boolean {
  return bytes.length > bounds.message;
}

/** The request in bytes. Refuses here what the gateway would refuse: a refusal on a stream would end all others. */
export function encodeRequest<Request>(method: RpcMethod<Request, unknown>, message: Request): Buffer {
  return requireSendable(bytesOf(method, message), method.longest);
}

export function requireSendable(bytes: Buffer, longest: number = bounds.message): Buffer {
  if (bytes.length <= longest) return bytes;
  throw new ReeveInvalidRequest(`the request has ${bytes.length} bytes; at most ${longest} can be sent`);
}

export function decodeResponse<Response>(method: RpcMethod<never, Response>, bytes: Uint8Array): Response {
  try {
    return method.response.decode(new CappedReader(bytes));
  } catch {
    throw new ReeveInternal('the answer of the gateway cannot be read');
  }
}
