/** A look that comes this late was held up by this process. */
const lateMs = 250;

export interface Patience {
  /** How long a connection may take. */
  readonly connectMs: number;
  /** How long a gateway that is connected may say nothing although it was asked. */
  readonly answerMs: number;
}

/** A call that a gateway should answer. */
export interface Question {
  answer(): void;
  /** There was no answer. The silence goes on. */
  fail(): void;
  /** The caller does not want an answer any more. */
  withdraw(): void;
}

type Close = (how: 'answered' | 'failed' | 'withdrawn') => void;

/** There is one for each answer, so it is made to be cheap. */
class OpenQuestion implements Question {
  #close: Close | undefined;

  constructor(close: Close) {
    this.#close = close;
  }

  answer(): void {
    this.#end('answered');
  }

  fail(): void {
    this.#end('failed');
  }

  withdraw(): void {
    this.#end('withdrawn');
  }

  #end(how: Parameters<Close>[0]): void {
    const close = this.#close;
    this.#close = undefined;
    close?.(how);
  }
}

/**
 * Notices a gateway that is asked and says nothing. It counts from the first question without an answer, whoever asked
 * it: a short deadline ends a call, but not the silence. A gateway that answers others is only slow, and not silent.
 */
export class Silence {
  readonly #patience: Patience | undefined;
  readonly #isConnected: () => boolean;
  readonly #onTooLong: (connected: boolean) => void;
  #open = 0;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the next look is due. */
  #lookAt = 0;
  #ended = false;
  #everBroken = false;

  readonly #onClosed: Close = (how) => {
    this.#open--;
    if (how === 'answered') {
      this.#everBroken = true;
      this.#since = this.#open > 0 ? performance.now() : undefined;
    } else if (how === 'withdrawn' && this.#open === 0) {
      this.#since = undefined;
    }
  };

  constructor(patience: Patience | undefined, isConnected: () => boolean, onTooLong: (connected: boolean) => void) {
    this.#patience = patience;
    this.#isConnected = isConnected;
    this.#onTooLong = onTooLong;
  }

  /** Whether the gateway has ever answered. */
  get everBroken(): boolean {
    return this.#everBroken;
  }

  ask(): Question {
    this.#open++;
    if (this.#since === undefined) {
      this.#since = performance.now();
      this.#lookAt = this.#since;
      this.#watch();
    }
    return new OpenQuestion(this.#onClosed);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #watch(): void {
    if (this.#patience === undefined || this.#ended || this.#since === undefined) return;
    clearTimeout(this.#timer);
    const connected = this.#isConnected();
    const { answerMs, connectMs } = this.#patience;
    const now = performance.now();
    // A process that was busy may not have read the answer yet. The silence then counts anew.
    if (now - this.#lookAt > lateMs) this.#since = now;
    const left = this.#since + (connected ? answerMs : connectMs) - now;
    if (left <= 0) return this.#onTooLong(connected);
    this.#lookAt = now + left;
    this.#timer = setTimeout(() => this.#watch(), left);
    this.#timer.unref();
  }
}
