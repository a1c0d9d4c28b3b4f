import { isDeepStrictEqual } from 'node:util';
import type { JudgePiece } from '../results/text-window.ts';
import { judgedValue, TextWindow } from '../results/text-window.ts';
import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import type { ResponseEvent } from './response-events.ts';
import {
  deltaOfPart,
  endOfResponse,
  itemEvents,
  partEvents,
  restOfPart,
  startOfItem,
  startOfPart,
  startOfResponse,
  textOfPart,
} from './response-events.ts';
import type { LiveAnswer, Written } from './stream-form.ts';
import { indexIn, namedEvent, OddStream, requireSame, withoutTokens } from './stream-form.ts';

/** The first part of a message, whose text passes while it comes. */
interface LivePart {
  readonly part: Members;
  readonly window: TextWindow;
}

/** An item of a response on its way. */
interface LiveItem {
  readonly start: Members;
  /** Its start as it has passed. */
  begun: Members | undefined;
  /** Undefined for what waits until it is whole. */
  first: LivePart | undefined;
  /** All of it, as the model has written it. */
  whole: Members | undefined;
  /** As it has passed, all of it. */
  judged: Members | undefined;
}

/** A response whose items pass in their order: the text of a message while it comes, others once they are whole. */
export class LiveResponse implements LiveAnswer {
  readonly #items = new Map<number, LiveItem>();
  #head: Members | undefined;
  #hasBegun = false;
  /** The item that passes next. */
  #next = 0;
  #sequence = 0;

  get shown(): readonly unknown[] {
    return [...this.#items.values()].flatMap(({ first, whole, judged }): unknown[] => {
      if (judged !== undefined) return [whole];
      return first === undefined || first.window.taken === '' ? [] : [first.window.taken];
    });
  }

  note(event: unknown): void {
    const { type, response, output_index, content_index, item, part, delta } = membersIn(event);
    if (type === 'response.created') this.#head ??= membersIn(response);
    if (type === 'response.output_item.added') this.#begin(indexIn(output_index), membersIn(item));
    if (type === 'response.content_part.added' && indexIn(content_index) === 0) {
      this.#beginPart(this.#itemAt(output_index), membersIn(part));
    }
    if ((type === 'response.output_text.delta' || type === 'response.refusal.delta') && indexIn(content_index) === 0) {
      grow(this.#itemAt(output_index), type, delta);
    }
    if (type === 'response.output_item.done') this.#itemAt(output_index).whole = membersIn(item);
  }

  async *next(judge: JudgePiece): AsyncIterable<string> {
    if (this.#head === undefined) return;
    for (let each = this.#items.get(this.#next); each !== undefined; each = this.#items.get(this.#next)) {
      const { first, whole } = each;
      const piece = whole === undefined ? ((await first?.window.next(judge)) ?? '') : '';
      if (whole === undefined && piece === '') return;
      if (!this.#hasBegun) yield this.#written(startOfResponse(await judgedValue(judge, this.#head)));
      this.#hasBegun = true;
      if (whole === undefined) {
        if (first !== undefined) yield* this.#pass(each, first.part, piece, judge);
        return;
      }
      const judged = await judgedValue(judge, whole);
      yield* this.#restOf(isDeepStrictEqual(judged, whole) ? judged : withoutTokens(judged), this.#next);
      each.judged = judged;
      this.#next++;
    }
  }

  *rest(answer: Members, { isMasked }: Written): Iterable<string> {
    const shown = isMasked ? withoutTokens(answer) : answer;
    if (!this.#hasBegun) yield this.#written(startOfResponse(shown));
    const items = listIn(shown['output']).map(membersIn);
    const begun = this.#items.get(this.#next)?.begun === undefined ? this.#next : this.#next + 1;
    requireSame(items.length >= begun);
    for (const [index, item] of items.entries()) {
      const passed = this.#items.get(index)?.judged;
      if (passed === undefined) yield* this.#restOf(item, index);
      else requireSame(isDeepStrictEqual(saidBy(passed), saidBy(item)));
    }
    yield this.#written(endOfResponse(shown));
  }

  async *#pass(live: LiveItem, part: Members, piece: string, judge: JudgePiece): AsyncIterable<string> {
    const isFirst = live.begun === undefined;
    live.begun ??= await judgedValue(judge, live.start);
    const place = placeOf(live.begun, this.#next);
    if (isFirst) {
      yield this.#written(startOfItem(live.begun, this.#next));
      yield this.#written(startOfPart(part, place));
    }
    yield this.#written(deltaOfPart(part, place, piece));
  }

  *#restOf(item: Members, index: number): Iterable<string> {
    const live = this.#items.get(index);
    for (const event of live?.begun !== undefined ? restOfItem(item, index, live) : itemEvents(item, index)) {
      yield this.#written(event);
    }
  }

  #begin(index: number, start: Members): void {
    if (this.#items.has(index)) throw new OddStream('an item starts twice');
    this.#items.set(index, { start, begun: undefined, first: undefined, whole: undefined, judged: undefined });
  }

  #beginPart(live: LiveItem, part: Members): void {
    if (live.first !== undefined) throw new OddStream('a part starts twice');
    const isPlain = live.start['type'] === 'message' && listIn(live.start['content']).length === 0;
    const said = isPlain ? textOfPart(part) : undefined;
    // What else the beginning of a part says comes with its end.
    if (said === undefined) return;
    const { type } = part;
    const empty = { type, [said.name]: '', ...(type === 'output_text' ? { annotations: [] } : {}) };
    live.first = { part: empty, window: new TextWindow() };
    live.first.window.add(said.text);
  }

  #itemAt(index: unknown): LiveItem {
    const live = this.#items.get(indexIn(index));
    if (live === undefined) throw new OddStream('a part is of no item');
    return live;
  }

  #written(event: ResponseEvent): string {
    return namedEvent({ ...event, sequence_number: this.#sequence++ });
  }
}

/** The place of the first part of an item. */
function placeOf({ id }: Members, output_index: number): Members {
  return { output_index, item_id: id, content_index: 0 };
}

function grow({ first, start }: LiveItem, type: string, delta: unknown): void {
  if (first === undefined) {
    if (start['type'] === 'message') throw new OddStream('a text is of no part');
    return;
  }
  const isOfPart = type === `response.${String(first.part['type'])}.delta`;
  if (!isOfPart || typeof delta !== 'string') throw new OddStream('a text is of another part');
  first.window.add(delta);
}

/** What is left of a message whose first text has begun to pass. */
function* restOfItem(item: Members, output_index: number, { first }: LiveItem): Iterable<ResponseEvent> {
  const [part = {}, ...more] = listIn(item['content']).map(membersIn);
  const said = textOfPart(part);
  const left = said === undefined ? undefined : first?.window.restOf(said.text);
  requireSame(left !== undefined && item['type'] === 'message' && part['type'] === first?.part['type']);
  const place = placeOf(item, output_index);
  yield* restOfPart(part, place, left);
  for (const [at, each] of more.entries()) yield* partEvents(each, { ...place, content_index: at + 1 });
  yield { type: 'response.output_item.done', output_index, item };
}

/** What an item says. Some providers name it otherwise at the end, and its tokens are left out where it is masked. */
function saidBy({ id: _id, status: _status, ...said }: Members): Members {
  return withoutTokens(said);
}
