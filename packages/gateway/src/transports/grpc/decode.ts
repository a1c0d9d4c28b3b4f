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
  ReportToolDefinitionsRequest,
} from '@reeve/contract';
import { ServerReflectionRequest } from '@reeve/contract/reflection';
import { invalid, messageOf, ReeveError } from '@reeve/core';

/** The messages that callers send. The contract bounds each. */
const codecs = {
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
  ReportToolDefinitionsRequest,
  ServerReflectionRequest,
} satisfies Partial<Record<BoundedMessage, { decode: (bytes: Uint8Array) => object }>>;

type Codecs = typeof codecs;

/** Reads a message. Bytes that cannot be decoded and members beyond their bound are the caller's mistake. */
export function decode<Name extends keyof Codecs>(name: Name, bytes: Uint8Array): ReturnType<Codecs[Name]['decode']> {
  const message = read(name, bytes);
  const fault = faultInMessage(name, message);
  if (fault !== undefined) throw invalid(fault.field, fault.problem);
  return message;
}

function read<Name extends keyof Codecs>(name: Name, bytes: Uint8Array): ReturnType<Codecs[Name]['decode']> {
  try {
    return codecs[name].decode(bytes) as ReturnType<Codecs[Name]['decode']>;
  } catch (error) {
    const problem = messageOf(error).includes('SAFE_INTEGER')
      ? `a 64-bit number in it is beyond ${Number.MAX_SAFE_INTEGER}`
      : 'it does not fit the proto';
    throw new ReeveError('invalid_argument', `the message cannot be read: ${problem}`);
  }
}
