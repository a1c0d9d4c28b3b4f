import { createHash } from 'node:crypto';
import { BoundedSet } from './bounded-set.ts';
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
  readonly #same = new BoundedSet(most);
  readonly #changed = new Map<string, Message>();

  add(came: Message, given: Message): void {
    const digest = digestOf(came);
    this.#same.delete(digest);
    this.#changed.delete(digest);
    if (came.text === given.text) return this.#same.add(digest);
    if (given.text.length > longestChanged) return;
    this.#changed.set(digest, given);
    const [oldest] = this.#changed.keys();
    if (oldest !== undefined && this.#changed.size > mostChanged) this.#changed.delete(oldest);
  }

  /** What was given for this answer before. Undefined if it is not known that it was. */
  find(came: Message): Message | undefined {
    const digest = digestOf(came);
    return this.#same.has(digest) ? came : this.#changed.get(digest);
  }
}

function digestOf({ text }: Message): string {
  return createHash('sha256').update(text).digest('base64');
}
