import type { TokenUsage } from '@reeve/sdk';
import type { JsonRequest } from '../json-request.ts';
import type { ProviderKind, Refusal } from '../refusal.ts';
import type { AskedTool, Members, ToolMessage } from '../results/tool-message.ts';
import type { StreamForm } from './stream-form.ts';

/** What an upstream has reported of a call so far. */
export interface SeenUsage extends TokenUsage {
  /** Whether the report is the last one. Before that, what was put out is not known. */
  readonly isFinal: boolean;
}

/** Reads a stream of events while it passes by. */
export interface StreamReader {
  /** Takes in the data of an event. True if the client did not ask for the event and does not get it. */
  take(data: unknown): boolean;
  readonly usage: SeenUsage | undefined;
  /** The whole answer, where an event says it. */
  readonly answer?: unknown;
  /** Whether the client asked for what was used. */
  readonly wantsUsage?: boolean;
}

/** One operation of a provider's protocol. */
export interface Dialect {
  readonly kind: ProviderKind;
  /** Whether the provider does not charge for it. Without a usage in the answer, it is settled with nothing then. */
  readonly isFree?: true;
  /** The most tokens that the call may put out; undefined if it names no maximum. */
  maxOutputOf(request: JsonRequest): number | undefined;
  /** How many answers the call asks for, each with that maximum. */
  choicesOf(request: JsonRequest): number;
  /** The body to send: the client's own, unless usage must be asked for. */
  bodyFor(request: JsonRequest): Buffer;
  /** The members that hold what the model puts out: in the events of a stream, and in a whole answer. */
  readonly texts: { readonly streamed: readonly string[]; readonly whole: readonly string[] };
  /** What a whole answer reports. */
  usageOf(answer: unknown): SeenUsage | undefined;
  /** What tools brought back, inside of the request. */
  toolMessages(request: Members): readonly ToolMessage[];
  /** The calls of tools that an answer asks for, where later requests need not repeat them. */
  askedIn?(answer: unknown): readonly (readonly [id: string, call: AskedTool])[];
  /** Undefined if nothing is streamed. */
  readonly stream: StreamForm | undefined;
  readerFor(request: JsonRequest): StreamReader;
  /** The event that ends a stream in the middle. `last` is the data of the event before it. */
  errorEvent(refusal: Refusal, last: string): string;
}
