import { createHash } from 'node:crypto';
import type { Message } from './protocol/message.ts';

const most = 10_000;
/** Of answers that were changed on their way, so many are kept, and none that is longer. */
const mostChanged = 16;
const longestChanged = 64 * 1024;

/**
 * Answers that the client was given, by what the server had sent. A server that repeats a stream repeats what it sent, and
 * the operation is over by then, so that nobody can judge it again: what was never given here is not given then either.
 */
export class GivenAnswers {
  /** What was given in place of what came. Undefined: the same. */
  readonly #byDigest = new Map<string, Message | undefined>();

  add(came: Message, given: Message): void {
    const digest = digestOf(came);
    const isChanged = came.text !== given.text;
    this.#byDigest.delete(digest);
    if (isChanged && given.text.length > longestChanged) return;
    this.#byDigest.set(digest, isChanged ? given : undefined);
    const changed = [...this.#byDigest].filter(([, each]) => each !== undefined);
    const oldest = changed.length > mostChanged ? changed[0]?.[0] : undefined;
    if (oldest !== undefined) this.#byDigest.delete(oldest);
    const [first] = this.#byDigest.keys();
    if (first !== undefined && this.#byDigest.size > most) this.#byDigest.delete(first);
  }

  /** What was given for this answer before. Undefined if it is not known that it was. */
  find(came: Message): Message | undefined {
    const digest = digestOf(came);
    return this.#byDigest.has(digest) ? (this.#byDigest.get(digest) ?? came) : undefined;
  }
}

function digestOf({ text }: Message): string {
  return createHash('sha256').update(text).digest('base64');
}
