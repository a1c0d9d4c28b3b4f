import type { JudgePiece } from '../results/text-window.ts';
import type { Members } from '../results/tool-message.ts';

/** How a protocol streams an answer. */
export interface StreamForm {
  /** The answer that the data of these events are a stream of. Throws `OddStream` if clients could read another one. */
  answerOf(events: readonly unknown[]): Members;
  /** An answer as events, with nothing besides. */
  eventsOf(answer: Members, how: Written): Iterable<string>;
  /** Passes on what is decided of an answer while it comes. Absent if such an answer is held until it is whole. */
  readonly live?: () => LiveAnswer;
}

/** An answer of which parts pass before it is whole. */
export interface LiveAnswer {
  /** Takes in the data of an event. */
  note(event: unknown): void;
  /** The events that may pass now. Throws `HeldBack` if no more may before the whole is judged. */
  next(judge: JudgePiece): AsyncIterable<string>;
  /** What has passed, as the model has written it. */
  readonly shown: readonly unknown[];
  /** The events that are left of the whole. Throws `OddStream` if it does not begin with what has passed. */
  rest(answer: Members, how: Written): Iterable<string>;
}

/** Policy has changed meanwhile, or the provider says two things. */
export function requireSame(isSame: boolean): asserts isSame {
  if (!isSame) throw new OddStream('what has passed of it is not its beginning');
}

/** How an answer is written as a stream. */
export interface Written {
  readonly wantsUsage: boolean;
  /** Whether what repeats a text in another form, such as its tokens one by one, stays away. */
  readonly isMasked: boolean;
}

/** Says why a stream cannot be judged. It names no part of the answer. */
export class OddStream extends Error {}

/** More blocks, choices and calls than any model answers with. */
const mostParts = 10_000;

/** The index of a part of an answer. */
export function indexIn(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < mostParts) return value;
  throw new OddStream('a part has no index that makes sense');
}

/** An event with its name, as some protocols write it. */
export function namedEvent(data: Members & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An answer without its tokens one by one: they repeat what a mask has taken out of a text. */
export function withoutTokens(answer: Members): Members {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) => (name === 'logprobs' ? null : value)) as Members;
}
