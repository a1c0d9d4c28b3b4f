import type { StreamedPiece, StreamedText } from '@reeve/sdk';
import { begunAtEnd, concealIn, concealText } from '../conceal.ts';

/** Has a piece of an answer judged. Undefined if rules need the whole answer, or nobody could judge the piece. */
export type JudgePiece = (piece: StreamedPiece) => Promise<StreamedText | undefined>;

/** What is to be judged whole, before more of an answer passes. */
export class HeldBack extends Error {}

/** A longer piece waits for the end. So much is held only where something begins that may be masked, or JSON. */
const longestPiece = 16 * 1024;
/** What was held before is looked at again once it has grown by this part of it, and when this much is held. */
const growth = 1 / 8;
const windowLength = 256;

/**
 * One text of an answer on its way to the client: what has passed, and what is held because it is not decided yet. Texts are kept
 * in parts: to look into one that grows costs its whole length, each time.
 */
export class TextWindow {
  /** As the model has written it. */
  #held: string[] = [];
  #heldLength = 0;
  readonly #taken: string[] = [];
  /** As the client has got it. */
  readonly #passed: string[] = [];
  #askFrom = 1;
  /** Too much was held: the rest waits for the end, and nobody needs it here. */
  #isStuck = false;

  /** What has passed of what the model has written. */
  get taken(): string {
    return this.#taken.join('');
  }

  add(text: string): void {
    if (this.#isStuck || text === '') return;
    this.#held.push(text);
    this.#heldLength += text.length;
  }

  /** What may pass now. Throws `HeldBack` if nothing may before the whole is judged. */
  async next(judge: JudgePiece): Promise<string> {
    // Half of a character waits for the other one.
    const hasHalf = /[\uD800-\uDBFF]/.test(this.#held.at(-1)?.slice(-1) ?? '');
    const length = this.#heldLength - (hasHalf ? 1 : 0);
    if (length > longestPiece) {
      this.#isStuck = true;
      this.#held = [];
      this.#heldLength = 0;
    }
    if (this.#isStuck || length < this.#askFrom) return '';
    const piece = this.#held.join('').slice(0, length);
    if (!piece.isWellFormed()) throw new HeldBack('a text has half a character');
    const found = await judge({ place: this.#place(), text: piece });
    if (found === undefined) throw new HeldBack('rules need the whole answer');
    const { read, rest } = found;
    const taken = piece.slice(0, piece.length - rest.length);
    if (taken !== '') this.#taken.push(taken);
    // One copy of a text that was not changed.
    if (read !== '') this.#passed.push(read === taken ? taken : read);
    const left = rest + this.#held.join('').slice(length);
    this.#held = left === '' ? [] : [left];
    this.#heldLength = left.length;
    const grown = Math.max(1, Math.ceil(rest.length * (1 + growth)));
    this.#askFrom = rest.length < windowLength ? Math.min(grown, windowLength) : grown;
    return read;
  }

  /** What is left of the text once all of it is judged. Undefined if that is not what has passed, and more. */
  restOf(judged: unknown): string | undefined {
    if (this.#passed.length === 0) return typeof judged === 'string' ? judged : '';
    const passed = this.#passed.join('');
    return typeof judged === 'string' && judged.startsWith(passed) ? judged.slice(passed.length) : undefined;
  }

  #place(): StreamedPiece['place'] {
    const last = this.#taken.at(-1);
    if (last === undefined) return 'text';
    return last.endsWith('\n') ? 'line' : 'within';
  }
}

/** Has a value judged that is whole. */
export async function judgedValue<Value>(judge: JudgePiece, value: Value): Promise<Value> {
  const text = JSON.stringify(value);
  if (text.length > longestPiece) throw new HeldBack('a part is large');
  const found = await judge({ place: 'value', text });
  if (found === undefined || found.rest !== '') throw new HeldBack('rules need the whole answer');
  return found.read === text ? value : (JSON.parse(found.read) as Value);
}

/**
 * Judges pieces without a secret in them. What may be its beginning waits for what follows: the secret may be spread over any
 * number of events.
 */
export function concealing(judge: JudgePiece, secret: string | undefined): JudgePiece {
  if (secret === undefined) return judge;
  return async ({ place, text }) => {
    if (place === 'value')
      return judge({ place, text: JSON.stringify(concealIn(JSON.parse(text) as unknown, secret)) });
    const concealed = concealText(text, secret);
    const known = concealed.length - begunAtEnd(concealed, secret);
    if (known === 0) return { read: '', rest: concealed };
    const found = await judge({ place, text: concealed.slice(0, known) });
    return found && { read: found.read, rest: found.rest + concealed.slice(known) };
  };
}
