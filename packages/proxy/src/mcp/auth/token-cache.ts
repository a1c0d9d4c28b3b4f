import type { Granted } from './request-token.ts';

interface Kept {
  readonly token: Promise<string>;
  /** When it is no longer used, in the time of `performance`. Unknown while it is asked for. */
  until: number;
}

const mostKept = 10_000;
/** How long before its end a token is no longer used, and how long one is used whose end nobody said. */
const marginMs = 30_000;
const unstatedMs = 300_000;

/**
 * Access tokens for servers, by whom they are for. The key names everything that a token depends on, the token of the
 * person included: a token is used for nobody and nothing else. Whoever asks meanwhile waits for the same request.
 */
export class TokenCache {
  /** Those asked for last are at the end. */
  readonly #kept = new Map<string, Kept>();

  async find(key: string, request: () => Promise<Granted>): Promise<string> {
    const known = this.#kept.get(key);
    if (known !== undefined && known.until > performance.now()) return known.token;
    const asked = request();
    const kept: Kept = { token: asked.then(({ token }) => token), until: Number.POSITIVE_INFINITY };
    // Who asked first gets the failure as well.
    kept.token.catch(() => {});
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > mostKept) this.#kept.delete(oldest);
    try {
      const { lastsMs = unstatedMs } = await asked;
      kept.until = performance.now() + Math.max(lastsMs - marginMs, lastsMs / 2);
      return await kept.token;
    } catch (error) {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      throw error;
    }
  }

  /** The server does not take this token. Returns whether it was the kept one, so that another may be had. */
  async drop(key: string, token: string): Promise<boolean> {
    const kept = this.#kept.get(key);
    if (kept === undefined || (await kept.token.catch(() => undefined)) !== token) return false;
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    return true;
  }
}
