import type { BoundedMessage } from '@reeve/contract';
import {
  AckOpControlRequest,
  BatchCheckRequest,
  CheckActionRequest,
  CheckResultRequest,
  CompleteActionRequest,
  DelegateAgentRequest,
  DeregisterAgentRequest,
  faultInMessage,
  HealthCheckRequest,
  HeartbeatRequest,
  IdentifyAgentRequest,
  OpControlSubscribeRequest,
  PreviewToolsRequest,
  RegisterAgentRequest,
  RenewTokenRequest,
  ReportToolDefinitionsRequest,
  RevokeDelegationRequest,
} from '@reeve/contract';
import { ServerReflectionRequest } from '@reeve/contract/reflection';
import { admitWorkload, invalid, messageOf, ReeveError } from '@reeve/core';

/** What it takes to let a workload in. */
export type Admits = Parameters<typeof admitWorkload>[0];

/** The messages that callers send. The contract bounds each. */
export interface Messages {
  readonly AckOpControlRequest: AckOpControlRequest;
  readonly BatchCheckRequest: BatchCheckRequest;
  readonly CheckActionRequest: CheckActionRequest;
  readonly CheckResultRequest: CheckResultRequest;
  readonly CompleteActionRequest: CompleteActionRequest;
  readonly DelegateAgentRequest: DelegateAgentRequest;
  readonly DeregisterAgentRequest: DeregisterAgentRequest;
  readonly HealthCheckRequest: HealthCheckRequest;
  readonly HeartbeatRequest: HeartbeatRequest;
  readonly IdentifyAgentRequest: IdentifyAgentRequest;
  readonly OpControlSubscribeRequest: OpControlSubscribeRequest;
  readonly PreviewToolsRequest: PreviewToolsRequest;
  readonly RegisterAgentRequest: RegisterAgentRequest;
  readonly RenewTokenRequest: RenewTokenRequest;
  readonly ReportToolDefinitionsRequest: ReportToolDefinitionsRequest;
  readonly RevokeDelegationRequest: RevokeDelegationRequest;
  readonly ServerReflectionRequest: ServerReflectionRequest;
}

type MessageName = keyof Messages & BoundedMessage;

const codecs: { readonly [Name in MessageName]: { decode(bytes: Uint8Array): Messages[Name] } } = {
  AckOpControlRequest,
  BatchCheckRequest,
  CheckActionRequest,
  CheckResultRequest,
  CompleteActionRequest,
  DelegateAgentRequest,
  DeregisterAgentRequest,
  HealthCheckRequest,
  HeartbeatRequest,
  IdentifyAgentRequest,
  OpControlSubscribeRequest,
  PreviewToolsRequest,
  RegisterAgentRequest,
  RenewTokenRequest,
  ReportToolDefinitionsRequest,
  RevokeDelegationRequest,
  ServerReflectionRequest,
};

/** A message by which an agent calls, with its token. */
type FromAgent = {
  [Name in MessageName]: Messages[Name] extends { readonly credentialToken: string } ? Name : never;
}[MessageName];

/** One sets the token of an agent, and does not come with one. A check finds out itself who asks. */
type ByToken = Exclude<FromAgent, 'RegisterAgentRequest' | 'CheckActionRequest'>;

/**
 * Reads a message of an agent. There is no other way to, so no call forgets that a token may be a JWT. For any other
 * token it answers at once.
 */
export function decodeFromAgent<Name extends ByToken>(
  gov: Admits,
  name: Name,
  bytes: Uint8Array,
): Messages[Name] | Promise<Messages[Name]> {
  const message = decodeAny(name, bytes);
  const admitted = admitWorkload(gov, message.credentialToken, 'agentId' in message ? message.agentId : undefined);
  return admitted === undefined ? message : admitted.then(() => message);
}

/** Reads a message of anybody else, or a check. */
export function decode<Name extends Exclude<MessageName, ByToken>>(name: Name, bytes: Uint8Array): Messages[Name] {
  return decodeAny(name, bytes);
}

/** Reads a message. Bytes that cannot be decoded and members beyond their bound are the caller's mistake. */
function decodeAny<Name extends MessageName>(name: Name, bytes: Uint8Array): Messages[Name] {
  const message = read(name, bytes);
  const fault = faultInMessage(name, message);
  if (fault !== undefined) throw invalid(fault.field, fault.problem);
  return message;
}

function read<Name extends MessageName>(name: Name, bytes: Uint8Array): Messages[Name] {
  try {
    return codecs[name].decode(bytes);
  } catch (error) {
    const problem = messageOf(error).includes('SAFE_INTEGER')
      ? `a 64-bit number in it is beyond ${Number.MAX_SAFE_INTEGER}`
      : 'it does not fit the proto';
    throw new ReeveError('invalid_argument', `the message cannot be read: ${problem}`);
  }
}
