import type { CheckActionResponse } from '@reeve/contract';
import { isAnswerTo } from '../answer.ts';
import type { Gateways } from './gateways.ts';
import { Tour } from './gateways.ts';
import type { BackoffSettings, Deadline, RetryBudget } from './retry.ts';
import { backoffMs, overdue, remainingMs } from './retry.ts';
import type { ByteStream, Channel } from '../channel.ts';
import type { Question } from './silence.ts';
import type { ReeveError } from '../errors.ts';
import { ReeveClosed, ReeveInternal, ReeveUnavailable } from '../errors.ts';
import { decodeResponse, rpc } from '../rpc-methods.ts';

/** The gateway takes no checks by stream, or it answered out of order. Checks must go one by one. */
export class PipelineRefused extends Error {}

export interface StreamedCheck {
  readonly opId: string;
  readonly bytes: Buffer;
  readonly deadline: Deadline;
  readonly signal?: AbortSignal | undefined;
}

interface Waiting {
  readonly check: StreamedCheck;
  readonly since: number;
  mayHaveArrived: boolean;
  /** Undefined once nobody waits any more. The answer is still to come, and is dropped. */
  settle: ((outcome: Outcome) => void) | undefined;
}

type Outcome = { readonly answer: CheckActionResponse } | { readonly error: unknown };

const idleMs = 1000;
const stalledMs = 1000;

/**
 * Many checks on one stream, answered in order. When the stream breaks, the pipeline opens another and sends the
 * waiting checks again. The checks carry their ids, so the gateway sees replays. A new stream costs one retry,
 * unless it leads to another gateway.
 */
export class CheckPipeline {
  readonly #gateways: Gateways;
  readonly #tour: Tour;
  readonly #budget: RetryBudget;
  readonly #backoff: BackoffSettings;
  #stream: ByteStream | undefined;
  /** Where the stream leads. */
  #channel: Channel | undefined;
  /** Open while the gateway owes an answer. */
  #question: Question | undefined;
  #waiting: Waiting[] = [];
  /** How many of these checks somebody still waits for. */
  #wanted = 0;
  #reopening: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #failures = 0;
  #openedAt = 0;
  #answeredAt = 0;
  #cause = '';
  #refused = false;

  constructor(gateways: Gateways, budget: RetryBudget, backoff: BackoffSettings) {
    this.#gateways = gateways;
    this.#tour = new Tour(gateways, rpc.checkStream.path);
    this.#budget = budget;
    this.#backoff = backoff;
  }

  get busy(): boolean {
    return this.#wanted > 0;
  }

  /** False once the gateway has shown that it cannot take checks this way. */
  get usable(): boolean {
    return !this.#refused;
  }

  ask(check: StreamedCheck): Promise<CheckActionResponse> {
    return new Promise((resolve, reject) => {
      const { signal, deadline } = check;
      if (this.#gateways.closed) throw new ReeveClosed();
      signal?.throwIfAborted();
      const abort = () => waiting.settle?.({ error: signal?.reason });
      const timer = setTimeout(() => this.#expire(waiting), remainingMs(deadline));
      const waiting: Waiting = {
        check,
        since: performance.now(),
        mayHaveArrived: false,
        settle: (outcome) => {
          waiting.settle = undefined;
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.answer);
          if (--this.#wanted === 0) this.#rest();
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#wanted++;
      this.#send(waiting);
    });
  }

  /** The client has gone on to another gateway. The checks that wait are asked again there. */
  follow(): void {
    if (this.#stream === undefined) return;
    this.#drop();
    for (const waiting of this.#waiting) waiting.mayHaveArrived = true;
    this.#reopen();
  }

  close(): void {
    clearTimeout(this.#reopening);
    this.#settleAll(() => new ReeveClosed());
    clearTimeout(this.#idle);
    this.#drop();
  }

  #send(waiting: Waiting): void {
    clearTimeout(this.#idle);
    if (this.#reopening !== undefined) return;
    if (this.#stream === undefined) this.#tour.restart();
    this.#stream ??= this.#open();
    this.#stream.send(waiting.check.bytes);
    this.#question ??= this.#channel?.ask();
  }

  #open(): ByteStream {
    this.#openedAt = performance.now();
    const { waitsForReady: waitForReady } = this.#tour;
    const channel = this.#gateways.use();
    const ifCurrent = (act: () => void) => (this.#stream === stream ? act() : undefined);
    const stream = channel.stream(
      rpc.checkStream.path,
      { waitForReady },
      {
        onOpen: () => {},
        onMessage: (bytes) => ifCurrent(() => this.#answer(bytes)),
        onEnd: (error) => ifCurrent(() => this.#fail(error)),
      },
    );
    this.#channel = channel;
    return stream;
  }

  #answer(bytes: Buffer): void {
    const [head] = this.#waiting;
    let answer: CheckActionResponse;
    try {
      answer = decodeResponse(rpc.checkStream, bytes);
    } catch {
      return this.#fail(new ReeveInternal('the answer of the gateway cannot be read'));
    }
    if (head === undefined || !isAnswerTo(answer, head.check.opId)) {
      return this.#fail(new ReeveInternal('the gateway answered out of order'));
    }
    this.#waiting.shift();
    this.#question?.answer();
    this.#question = this.#waiting.length > 0 ? this.#channel?.ask() : undefined;
    this.#failures = 0;
    this.#cause = '';
    this.#answeredAt = performance.now();
    this.#budget.answered();
    this.#tour.restart();
    if (this.#channel !== undefined) this.#gateways.answered(this.#channel, rpc.checkStream.path);
    head.settle?.({ answer });
  }

  /** Ends a stream that nobody waits for. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#waiting = [];
      this.#drop();
    }, idleMs);
    this.#idle.unref();
  }

  /** If a check times out on a live connection and nothing arrived for long, the stream is stuck. */
  #expire(waiting: Waiting): void {
    const connected = this.#channel?.connected === true;
    const { deadline } = waiting.check;
    waiting.settle?.({ error: overdue(deadline, this.#cause, waiting.mayHaveArrived || connected) });
    if (connected && this.#silentMs >= stalledMs) this.#fail(new ReeveUnavailable('the gateway does not answer'));
  }

  get #silentMs(): number {
    return performance.now() - Math.max(this.#openedAt, this.#answeredAt, this.#waiting[0]?.since ?? 0);
  }

  #fail(error: ReeveError): void {
    const channel = this.#channel;
    this.#drop();
    this.#waiting = this.#waiting.filter(({ settle }) => settle !== undefined);
    if (!(error instanceof ReeveUnavailable)) {
      this.#refused = true;
      return this.#settleAll(() => new PipelineRefused(error.message));
    }
    for (const waiting of this.#waiting) waiting.mayHaveArrived ||= error.mayHaveArrived;
    const next = channel === undefined ? 'wait_and_pay' : this.#tour.after(error, channel);
    if (!this.busy || this.#reopening !== undefined) return;
    this.#cause = error.message;
    if (next === 'another') return this.#reopen();
    if (next === 'wait_and_pay' && !this.#budget.take()) {
      return this.#settleAll(({ mayHaveArrived }) => new ReeveUnavailable(error.message, mayHaveArrived));
    }
    this.#reopening = setTimeout(() => this.#reopen(), backoffMs(this.#failures++, this.#backoff));
  }

  #reopen(): void {
    this.#reopening = undefined;
    this.#waiting = this.#waiting.filter(({ settle }) => settle !== undefined);
    if (!this.busy) return;
    this.#stream = this.#open();
    for (const { check } of this.#waiting) this.#stream.send(check.bytes);
    this.#question = this.#channel?.ask();
  }

  #settleAll(errorFor: (waiting: Waiting) => Error): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const waiting of all) waiting.settle?.({ error: errorFor(waiting) });
  }

  #drop(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#channel = undefined;
    this.#question?.withdraw();
    this.#question = undefined;
    stream?.cancel();
  }
}
