import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SendUpstream } from './call-upstream.ts';
import type { SeenUsage, StreamReader } from './dialect/dialect.ts';
import { largestTokens, promptBound } from './count-tokens.ts';
import type { HeldRoom } from './held-bytes.ts';
import type { JsonRequest } from './json-request.ts';
import type { Upstream } from './model-config.ts';
import { Refusal } from './refusal.ts';
import type { CallRoute } from './routes.ts';

/** A call of a model on its way from a client to an upstream. */
export interface ModelCall {
  readonly route: CallRoute;
  readonly upstream: Upstream;
  readonly token: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** With the question mark. */
  readonly query: string;
  readonly asked: RequestedUsage;
  readonly reader: StreamReader;
  /** Takes in what the model has answered, if the dialect makes use of that. */
  readonly noteAnswer: (this: void, answer: unknown) => void;
  /** Empty if nobody governs the call. */
  readonly opId: string;
  /** What has gone to the client. */
  readonly passed: Passed;
  /** The request to the upstream for a body of this many bytes, made ready with the first use. Throws if there can be none. */
  readonly outgoing: (this: void, bytes: number) => SendUpstream;
  /** For the part of the answer that is held. */
  readonly answerRoom: HeldRoom;
  /** For the prompt while it is masked, and as it is then sent. */
  readonly promptRoom: HeldRoom;
  /** What goes to the upstream. */
  readonly body: CallBody;
  /** Aborts when the client has gone away. */
  readonly gone: AbortSignal;
  /** Aborts when the agent's token stops working. */
  readonly revoked: AbortSignal;
}

/** The part of an answer that the client has got. */
export interface Passed {
  isStream: boolean;
  /** The last whole event of a stream. */
  last: Buffer | undefined;
  /** The bytes of text that the model put out. */
  textBytes: number;
  /** What the upstream has reported of an answer that is held. */
  usage?: SeenUsage | undefined;
}

/** The body for the upstream. It is let go as soon as it is sent: streams last long, and bodies are large. */
export interface CallBody {
  readonly length: number;
  readonly isTaken: boolean;
  /** What the body says. Throws once it is taken. */
  readonly request: JsonRequest;
  /** Puts another request in its place, in the bytes that are to be sent. */
  replace(this: void, request: JsonRequest, bytes: Buffer): void;
  take(this: void): Buffer;
  release(this: void): void;
}

/** What a call may use at most. */
export interface RequestedUsage {
  readonly model: string;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
}

const longestRunId = 128;

export function askedBy({ dialect }: CallRoute, request: JsonRequest, upstream: Upstream): RequestedUsage {
  const each = dialect.maxOutputOf(request) ?? upstream.maxOutputTokens;
  return {
    model: request.model,
    promptTokens: promptBound(request.body.length, request.value, upstream),
    maxOutputTokens: Math.min(largestTokens, each * dialect.choicesOf(request)),
  };
}

/** The first upstream of the protocol that serves the model. */
export function upstreamFor(
  upstreams: readonly Upstream[],
  kind: Upstream['kind'],
  model: string,
): Upstream | undefined {
  return upstreams.find((upstream) => upstream.kind === kind && upstream.models.some((glob) => glob.test(model)));
}

/** The ids of the operation. The trace is the client's, if it names one as W3C Trace Context says. */
export function traceOf({ headers }: IncomingMessage): { traceId: string; spanId: string } {
  const given = headers['traceparent'];
  const parts = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(typeof given === 'string' ? given : '');
  const isValid = parts !== null && !/^0+$/.test(parts[1] ?? '');
  const traceId = isValid ? (parts[1] ?? '') : randomHex();
  return { traceId, spanId: randomHex().slice(-16) };
}

/** 32 digits. Node keeps randomness for these at hand, so they take less time than bytes. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}

/** The JWT of the user for whom the agent acts. The gateway judges it. */
export function subjectTokenOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-reeve-subject'];
  return Array.isArray(given) ? given.join() : given;
}

export function runIdOf({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-reeve-run-id'];
  const runId = Array.isArray(given) ? given[0] : given;
  if (runId !== undefined && runId.length > longestRunId) {
    throw new Refusal('invalid_request', `x-reeve-run-id: longer than ${longestRunId} characters`);
  }
  return runId;
}
