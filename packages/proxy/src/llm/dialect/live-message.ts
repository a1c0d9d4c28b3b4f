import { isDeepStrictEqual } from 'node:util';
import type { JudgePiece } from '../results/text-window.ts';
import { judgedValue, TextWindow } from '../results/text-window.ts';
import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import type { Growing } from './accumulate.ts';
import { accumulate } from './accumulate.ts';
import { deltaOfBlock, grow, restOfBlock, startOfBlock, withInput } from './message-blocks.ts';
import type { LiveAnswer, Written } from './stream-form.ts';
import { indexIn, namedEvent, requireSame } from './stream-form.ts';

/** A block of a message on its way. */
interface LiveBlock {
  readonly block: Growing;
  /** The member of a block of text, and what has passed of it. Undefined for others, which are judged once they are whole. */
  readonly text: { readonly name: 'text' | 'thinking'; readonly window: TextWindow } | undefined;
  isWhole: boolean;
  hasBegun: boolean;
  /** As it has passed, all of it. */
  judged: Members | undefined;
}

/** A message whose blocks pass in their order: texts while they come, others once they are whole. */
export class LiveMessage implements LiveAnswer {
  readonly #blocks = new Map<number, LiveBlock>();
  #head: Members | undefined;
  #hasBegun = false;
  #next = 0;

  get shown(): readonly unknown[] {
    return [...this.#blocks.values()].flatMap(({ block, text, judged }): unknown[] => {
      if (judged !== undefined) return [withInput(block)];
      return text === undefined || text.window.taken === '' ? [] : [text.window.taken];
    });
  }

  note(event: unknown): void {
    const { type, index, content_block, delta, message } = membersIn(event);
    if (type === 'message_start') this.#head ??= membersIn(message);
    if (type === 'content_block_start') this.#begin(indexIn(index), membersIn(content_block));
    if (type === 'content_block_delta') this.#grow(indexIn(index), membersIn(delta));
    const ended = type === 'content_block_stop' ? this.#blocks.get(indexIn(index)) : undefined;
    if (ended !== undefined) ended.isWhole = true;
  }

  async *next(judge: JudgePiece): AsyncIterable<string> {
    if (this.#head === undefined) return;
    for (let each = this.#blocks.get(this.#next); each !== undefined; each = this.#blocks.get(this.#next)) {
      const { block, text, isWhole } = each;
      const piece = isWhole ? '' : ((await text?.window.next(judge)) ?? '');
      if (!isWhole && piece === '') return;
      if (!this.#hasBegun) yield startOf(await judgedValue(judge, this.#head));
      this.#hasBegun = true;
      if (!isWhole) {
        if (text === undefined) return;
        if (!each.hasBegun) yield startOfBlock(emptyOf(text.name), this.#next);
        each.hasBegun = true;
        yield deltaOfBlock(text.name, piece, this.#next);
        return;
      }
      const whole = withInput(block);
      const judged = await judgedValue(judge, whole);
      yield* this.#restOf(judged, this.#next, !isDeepStrictEqual(judged, whole));
      each.judged = judged;
      this.#next++;
    }
  }

  *rest(answer: Members, { isMasked }: Written): Iterable<string> {
    const { content, stop_reason, stop_sequence, usage, error, ...message } = answer;
    if (!this.#hasBegun) yield startOf({ ...message, usage });
    const blocks = listIn(content).map(membersIn);
    requireSame(blocks.length >= this.#next);
    for (const [index, block] of blocks.entries()) {
      const passed = this.#blocks.get(index)?.judged;
      if (passed === undefined) yield* this.#restOf(block, index, isMasked);
      else requireSame(isDeepStrictEqual(passed, block));
    }
    if (error !== undefined) yield namedEvent({ type: 'error', error });
    yield namedEvent({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage });
    yield namedEvent({ type: 'message_stop' });
  }

  *#restOf(block: Members, index: number, isMasked: boolean): Iterable<string> {
    const live = this.#blocks.get(index);
    if (live?.hasBegun !== true || live.text === undefined) {
      yield startOfBlock(block, index);
      yield* restOfBlock(block, index, isMasked);
      return;
    }
    const { name, window } = live.text;
    const left = window.restOf(block[name]);
    requireSame(left !== undefined && block['type'] === name);
    const { [name]: _text, ...others } = block;
    yield* restOfBlock(left === '' ? others : { ...block, [name]: left }, index, isMasked);
  }

  #begin(index: number, start: Members): void {
    const { type } = start;
    const isPlain = Object.keys(start).every((name) => plain.has(name));
    const name = isPlain && (type === 'text' || type === 'thinking') ? type : undefined;
    const text: LiveBlock['text'] = name === undefined ? undefined : { name, window: new TextWindow() };
    const begun = name === undefined ? undefined : start[name];
    if (typeof begun === 'string') text?.window.add(begun);
    const block = accumulate({}, start);
    this.#blocks.set(index, { block, text, isWhole: false, hasBegun: false, judged: undefined });
  }

  #grow(index: number, delta: Members): void {
    const live = this.#blocks.get(index);
    grow(live?.block, delta);
    const more = live?.text && delta[live.text.name];
    if (typeof more === 'string') live?.text?.window.add(more);
  }
}

/** What the start of a block of text has. With anything else, it waits until it is whole. */
const plain = new Set(['type', 'text', 'thinking', 'signature', 'citations']);

function emptyOf(name: 'text' | 'thinking'): Members {
  return { type: name, [name]: '', ...(name === 'thinking' ? { signature: '' } : {}) };
}

function startOf(message: Members): string {
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return namedEvent({ type: 'message_start', message: begun });
}
