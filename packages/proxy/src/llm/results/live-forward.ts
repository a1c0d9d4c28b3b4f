import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import type { StreamedPiece, StreamedText } from '@reeve/sdk';
import { ResultDenied } from '@reeve/sdk';
import { isTooDeep } from '../../json/nesting.ts';
import { jsonOf } from '../answer-scan.ts';
import type { CallStop } from '../call-stop.ts';
import { conceal } from '../conceal.ts';
import type { LiveAnswer, Written } from '../dialect/stream-form.ts';
import { OddStream } from '../dialect/stream-form.ts';
import type { ModelCall } from '../model-call.ts';
import { Refusal } from '../refusal.ts';
import type { CallOperation } from '../settlement.ts';
import { dataOf, SseFramer } from '../sse.ts';
import type { JudgePiece } from './text-window.ts';
import { concealing, HeldBack } from './text-window.ts';
import type { Members } from './tool-message.ts';

/** A text is kept as the model has written it, and as it has passed. */
const copies = 2;

/**
 * Passes on what is decided of a streamed answer while it comes: the gateway is asked about each piece. As soon as a piece
 * cannot be judged by itself, or there is no room for it, everything is held until the answer is whole.
 */
export class LiveForward {
  readonly #call: ModelCall;
  readonly #operation: CallOperation;
  readonly #begin: () => void;
  readonly #framer = new SseFramer();
  readonly #answer: LiveAnswer | undefined;
  readonly #judge: JudgePiece;
  #isHeld = false;
  /** The answer has been judged as a whole, or is about to be. */
  isOver = false;

  /** `begin` makes sure that the head of a stream was sent. */
  constructor(call: ModelCall, operation: CallOperation, begin: () => void) {
    this.#call = call;
    this.#operation = operation;
    this.#begin = begin;
    this.#answer = call.route.dialect.stream?.live?.();
    this.#judge = concealing((piece) => this.#judgePiece(piece), call.upstream.apiKey);
  }

  /** Takes a part of the stream, and passes on what is decided by then. */
  async take(chunk: Buffer, stop: CallStop): Promise<void> {
    const answer = this.#answer;
    if (answer === undefined || this.#isHeld) return;
    if (!this.#call.answerRoom.take(copies * chunk.length)) {
      this.#isHeld = true;
      return;
    }
    try {
      for (const { bytes, isWhole } of this.#framer.push(chunk)) this.#note(answer, bytes, isWhole);
      for await (const event of answer.next(this.#judge)) await this.#send(event, stop);
    } catch (error) {
      if (!(error instanceof HeldBack) && !(error instanceof OddStream)) throw error;
      this.#isHeld = true;
    }
  }

  /** The events that are left once the whole is judged. Undefined if none have passed. */
  rest(judged: Members, how: Written): Iterable<string> | undefined {
    return this.#answer?.rest(judged, how);
  }

  /** The call ends in the middle. What has passed is judged all the same, so that the log has it. */
  async judgeShown({ reason }: CallStop): Promise<void> {
    const shown = this.#answer?.shown ?? [];
    if (this.isOver || shown.length === 0 || reason === 'terminated') return;
    this.isOver = true;
    await this.#operation.checkResult(shown).catch(() => {});
  }

  async #judgePiece(piece: StreamedPiece): Promise<StreamedText | undefined> {
    try {
      return await this.#operation.checkStreamed(piece);
    } catch (error) {
      throw refusalOfResult(error, this.#call.opId);
    }
  }

  #note(answer: LiveAnswer, bytes: Buffer, isWhole: boolean): void {
    if (!isWhole || !isUtf8(bytes) || bytes[0] === 0xef) throw new OddStream('its events are not understood');
    const text = dataOf(bytes);
    if (text === '' || text === '[DONE]') return;
    if (isTooDeep(text)) throw new OddStream('its events are not understood');
    answer.note(jsonOf(text));
  }

  async #send(event: string, stop: CallStop): Promise<void> {
    const { response, passed, upstream } = this.#call;
    await stop.passable();
    this.#begin();
    passed.last = Buffer.from(event);
    if (!response.write(conceal(passed.last, upstream.apiKey))) await once(response, 'drain', { signal: stop.signal });
  }
}

/** What the client is told of an answer that may not be read, or that nobody could judge. */
export function refusalOfResult(error: unknown, opId: string): unknown {
  if (!(error instanceof ResultDenied)) return error;
  const code = error.source === 'gateway' ? 'policy_denied' : 'gateway_unavailable';
  return new Refusal(code, error.message, opId);
}
