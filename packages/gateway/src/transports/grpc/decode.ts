import type { BoundedMessage } from '@reeve/contract';
import {
  AckOpControlRequest,
  BatchCheckRequest,
  CheckActionRequest,
  CompleteActionRequest,
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
} from '@reeve/contract';
import { ServerReflectionRequest } from '@reeve/contract/reflection';
import { invalid, messageOf, ReeveError } from '@reeve/core';

/** The messages that callers send. The contract bounds each. */
interface Messages {
  readonly AckOpControlRequest: AckOpControlRequest;
  readonly BatchCheckRequest: BatchCheckRequest;
  readonly CheckActionRequest: CheckActionRequest;
  readonly CompleteActionRequest: CompleteActionRequest;
  readonly DeregisterAgentRequest: DeregisterAgentRequest;
  readonly HealthCheckRequest: HealthCheckRequest;
  readonly HeartbeatRequest: HeartbeatRequest;
  readonly IdentifyAgentRequest: IdentifyAgentRequest;
  readonly OpControlSubscribeRequest: OpControlSubscribeRequest;
  readonly PreviewToolsRequest: PreviewToolsRequest;
  readonly RegisterAgentRequest: RegisterAgentRequest;
  readonly RenewTokenRequest: RenewTokenRequest;
  readonly ReportToolDefinitionsRequest: ReportToolDefinitionsRequest;
  readonly ServerReflectionRequest: ServerReflectionRequest;
}

type MessageName = keyof Messages & BoundedMessage;

const codecs: { readonly [Name in MessageName]: { decode(bytes: Uint8Array): Messages[Name] } } = {
  AckOpControlRequest,
  BatchCheckRequest,
  CheckActionRequest,
  CompleteActionRequest,
  DeregisterAgentRequest,
  HealthCheckRequest,
  HeartbeatRequest,
  IdentifyAgentRequest,
  OpControlSubscribeRequest,
  PreviewToolsRequest,
  RegisterAgentRequest,
  RenewTokenRequest,
  ReportToolDefinitionsRequest,
  ServerReflectionRequest,
};

/** Reads a message. Bytes that cannot be decoded and members beyond their bound are the caller's mistake. */
export function decode<Name extends MessageName>(name: Name, bytes: Uint8Array): Messages[Name] {
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
