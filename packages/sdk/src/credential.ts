import { ReeveUnauthenticated } from './errors.ts';

/** How long a token works, and for how much longer, in milliseconds. */
export interface TokenLife {
  readonly ttlMs: number;
  readonly leftMs: number;
}

export interface Renewing {
  readonly renew: (token: string) => Promise<{ readonly token: string }>;
  /** There is a new token. Calls with the old one still succeed for a while. */
  readonly onRenewed: (old: string) => void;
}

/** No timer of Node waits longer. */
const longestTimerMs = 2 ** 31 - 1;
/** How soon a renewal that failed is tried again, by the life of the token. */
const triesPerLife = 30;
/** A renewal whose answer was lost can be repeated while the former token works, for a minute. */
const longestPauseMs = 10_000;

/**
 * The token of an agent. It is renewed at two thirds of its life, so whoever sends takes it from here each time. The timer
 * does not keep the process alive.
 */
export class Credential {
  #token: string;
  readonly #renewing: Renewing;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** Without a life, the token is never renewed. */
  constructor(token: string, life: TokenLife | undefined, renewing: Renewing) {
    this.#token = token;
    this.#renewing = renewing;
    if (life !== undefined) this.#schedule(life.ttlMs, life.leftMs - life.ttlMs / 3);
  }

  get token(): string {
    return this.#token;
  }

  /** Takes a token that somebody else in this process has got for the same agent. */
  take(token: string): void {
    this.#token = token;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(ttlMs: number, afterMs: number): void {
    if (this.#stopped) return;
    const waitMs = Math.min(Math.max(afterMs, 0), longestTimerMs);
    const next = () => (afterMs > waitMs ? this.#schedule(ttlMs, afterMs - waitMs) : void this.#renew(ttlMs));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(next, waitMs);
    this.#timer.unref();
  }

  async #renew(ttlMs: number): Promise<void> {
    const old = this.#token;
    try {
      const { token } = await this.#renewing.renew(old);
      // Meanwhile the agent may have been closed, or registered again.
      if (this.#stopped || this.#token !== old) return;
      this.#token = token;
      this.#renewing.onRenewed(old);
      this.#schedule(ttlMs, (ttlMs * 2) / 3);
    } catch (error) {
      // The heartbeat notices, too, and says so.
      if (!(error instanceof ReeveUnauthenticated))
        this.#schedule(ttlMs, Math.min(ttlMs / triesPerLife, longestPauseMs));
    }
  }
}
