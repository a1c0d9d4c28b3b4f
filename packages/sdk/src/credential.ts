import { ReeveUnauthenticated } from './errors.ts';

/** How long a token works, and for how much longer, in milliseconds. */
export interface TokenLife {
  readonly ttlMs: number;
  readonly leftMs: number;
}

/**
 * Why another token is asked for: two thirds of the life are over, or the gateway no longer accepts it, for a new check or
 * for what is under way (reports, heartbeats, controls).
 */
export type TokenNeed = 'due' | 'check' | 'report';

export interface Replacing {
  /** Another token in place of this one. Undefined: there is none, or not yet. */
  readonly next: (token: string, need: TokenNeed) => Promise<string | undefined>;
  /** There is a new token. Calls with the old one may still succeed for a while. */
  readonly onReplaced: (old: string) => void;
}

/** No timer of Node waits longer. */
const longestTimerMs = 2 ** 31 - 1;
/** How soon a renewal that failed is tried again, by the life of the token. */
const triesPerLife = 30;
/** A renewal whose answer was lost can be repeated while the former token works, for a minute. */
const longestPauseMs = 10_000;

/**
 * The token of an agent, for all who act with it in this process: it is renewed once, at two thirds of its life, and
 * whoever sends takes it from here each time. The timer does not keep the process alive.
 */
export class Credential {
  #token: string;
  /** The token that everybody came with, and the one before this. Whoever comes with them later means this credential. */
  readonly #first: string;
  #former: string;
  readonly #replacing: Replacing;
  readonly #asking = new Map<TokenNeed, Promise<boolean>>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(token: string, replacing: Replacing) {
    this.#token = token;
    this.#first = token;
    this.#former = token;
    this.#replacing = replacing;
  }

  get token(): string {
    return this.#token;
  }

  had(token: string): boolean {
    return token === this.#token || token === this.#former || token === this.#first;
  }

  /** Renews in time from now on. Of several who say when it ends, the first counts. */
  renewBefore({ ttlMs, leftMs }: TokenLife): void {
    if (this.#timer === undefined) this.#schedule(ttlMs, leftMs - ttlMs / 3);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /**
   * Makes a call with the token. If the gateway does not accept it, and there is another by now, the call is made once
   * more: the gateway has done nothing for the first.
   */
  async with<Result>(call: (token: string) => Promise<Result>): Promise<Result> {
    const sent = this.#token;
    try {
      return await call(sent);
    } catch (error) {
      if (!(error instanceof ReeveUnauthenticated) || !(await this.isReplaced(sent, 'report'))) throw error;
    }
    return call(this.#token);
  }

  /** Makes a check in the same way. A check that is refused has an answer that says so. */
  async withCheck<Answer>(
    check: (token: string) => Promise<Answer>,
    isRefused: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const sent = this.#token;
    const answer = await check(sent);
    return isRefused(answer) && (await this.isReplaced(sent, 'check')) ? check(this.#token) : answer;
  }

  /** Whether there is another token in place of one that the gateway refused. */
  async isReplaced(refused: string, need: 'check' | 'report'): Promise<boolean> {
    if (refused !== this.#token) return this.had(refused);
    const asking = this.#asking.get(need) ?? this.#replace(refused, need).catch(() => false);
    this.#asking.set(need, asking);
    return asking.finally(() => this.#asking.delete(need));
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
    const soonMs = Math.min(ttlMs / triesPerLife, longestPauseMs);
    try {
      const isNew = await this.#replace(this.#token, 'due');
      this.#schedule(ttlMs, isNew ? (ttlMs * 2) / 3 : soonMs);
    } catch (error) {
      // The heartbeat notices, too, and says so.
      if (!(error instanceof ReeveUnauthenticated)) this.#schedule(ttlMs, soonMs);
    }
  }

  async #replace(old: string, need: TokenNeed): Promise<boolean> {
    const token = await this.#replacing.next(old, need);
    // Meanwhile everybody may have left, or the token was replaced for another need.
    if (this.#stopped || token === undefined || token === old) return false;
    if (this.#token !== old) return true;
    this.#former = old;
    this.#token = token;
    this.#replacing.onReplaced(old);
    return true;
  }
}
