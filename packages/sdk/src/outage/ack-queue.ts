import type { KernelWord } from '../live-operation.ts';
import type { BackoffSettings } from './retry.ts';
import { backoffMs } from './retry.ts';

export type AckOutcome = 'received' | 'failed' | 'effective';

/** Sends an acknowledgement. `later`: the gateway could not be told now. Anything else needs no second attempt. */
export type SendAck = (ack: AckWord) => Promise<'told' | 'later'>;

export interface AckWord {
  readonly sequence: number;
  readonly outcome: AckOutcome;
  readonly detail: string;
  readonly word: KernelWord | undefined;
}

interface Ack extends Pick<AckWord, 'sequence'> {
  outcome: AckOutcome;
  detail: string;
  word: KernelWord | undefined;
  /** The rank of the furthest outcome that the gateway knows. 0 for none. */
  told: number;
  /** Whether the acknowledgement is in flight or queued. */
  busy: boolean;
  waiting: (() => void)[];
}

/** A failed control can still become effective. An effective one stays so. */
const rank: Readonly<Record<AckOutcome, number>> = { received: 1, failed: 2, effective: 3 };

const mostInFlight = 16;
const mostRemembered = 10_000;

/**
 * The acknowledgements of the controls that the gateway sent. They go out in order, never backwards, until the gateway
 * knows. While it is out of reach, each one waits here with the furthest outcome so far.
 */
export class AckQueue {
  readonly #send: SendAck;
  readonly #backoff: BackoffSettings;
  readonly #acks = new Map<number, Ack>();
  #line: Ack[] = [];
  #inFlight = 0;
  #failures = 0;
  #paused = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: SendAck, backoff: BackoffSettings) {
    this.#send = send;
    this.#backoff = backoff;
  }

  /** The promise waits until the gateway knows, or is out of reach. The acknowledgement is kept either way. */
  tell(sequence: number, outcome: AckOutcome, detail = '', word?: KernelWord): Promise<void> {
    const ack = this.#acks.get(sequence) ?? this.#remember({ sequence, outcome, detail, word });
    if (rank[outcome] > rank[ack.outcome]) {
      ack.outcome = outcome;
      ack.detail = detail;
      ack.word = word;
    }
    return this.#deliver(ack);
  }

  /** The control came again, so the gateway is told again how far it got. */
  repeat(sequence: number): void {
    const ack =
      this.#acks.get(sequence) ?? this.#remember({ sequence, outcome: 'received', detail: '', word: undefined });
    ack.told = 0;
    void this.#deliver(ack);
  }

  /** The gateway is back. Nothing waits any longer. */
  wake(): void {
    clearTimeout(this.#timer);
    this.#paused = false;
    this.#failures = 0;
    this.#pump();
  }

  /** Waits until everything is told, or the gateway is out of reach. */
  async flush(): Promise<void> {
    this.wake();
    await Promise.all([...this.#acks.values()].map((ack) => this.#deliver(ack)));
  }

  /** Controls count anew. Nobody needs the earlier acknowledgements any more. */
  reset(): void {
    for (const ack of this.#acks.values()) settle(ack);
    this.#acks.clear();
    this.#line = [];
  }

  /** Stops sending until `wake`, because there is nobody to tell. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#paused = true;
    for (const ack of this.#line) settle(ack);
  }

  #remember(said: AckWord): Ack {
    if (this.#acks.size >= mostRemembered) {
      for (const ack of this.#acks.values()) {
        if (ack.busy || !isTold(ack)) continue;
        this.#acks.delete(ack.sequence);
        break;
      }
    }
    const ack: Ack = { ...said, told: 0, busy: false, waiting: [] };
    this.#acks.set(said.sequence, ack);
    return ack;
  }

  #deliver(ack: Ack): Promise<void> {
    return new Promise((resolve) => {
      if (isTold(ack) && !ack.busy) return resolve();
      if (!ack.busy) this.#line.push(ack);
      ack.busy = true;
      if (this.#paused) return resolve();
      ack.waiting.push(resolve);
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#paused && this.#inFlight < mostInFlight) {
      const ack = this.#line.shift();
      if (ack === undefined) return;
      this.#inFlight++;
      void this.#sendOne(ack);
    }
  }

  async #sendOne(ack: Ack): Promise<void> {
    const { sequence, outcome, detail, word } = ack;
    const result = await this.#send({ sequence, outcome, detail, word });
    this.#inFlight--;
    if (result === 'told') {
      this.#failures = 0;
      ack.told = Math.max(ack.told, rank[outcome]);
      ack.busy = !isTold(ack);
    }
    if (ack.busy && this.#acks.get(sequence) === ack) this.#line.push(ack);
    else settle(ack);
    if (result === 'later') this.#backOff();
    this.#pump();
  }

  /** Releases all who wait: the gateway may be away for long. */
  #backOff(): void {
    for (const ack of this.#line) settle(ack);
    if (this.#paused) return;
    this.#paused = true;
    this.#timer = setTimeout(
      () => {
        this.#paused = false;
        this.#pump();
      },
      backoffMs(this.#failures++, this.#backoff),
    );
    this.#timer.unref();
  }
}

function isTold(ack: Ack): boolean {
  return ack.told >= rank[ack.outcome];
}

function settle(ack: Ack): void {
  for (const resolve of ack.waiting.splice(0)) resolve();
}
