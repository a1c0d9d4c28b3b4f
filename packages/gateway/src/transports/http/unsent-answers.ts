import type { ServerResponse } from 'node:http';
import { patienceMs } from './patient-stream.ts';
import { HttpError } from './problem.ts';

/** Smaller answers are sent too fast to matter. */
const leastCounted = 64 * 1024;
/** How many bytes a tenant may leave unread before it is refused. */
const mostUnsent = 32 * 1024 * 1024;

/**
 * Answers that their clients have not read yet. They stay in memory until then. So a tenant that asks for many large
 * ones and reads none gets no more, and a client that takes nothing for long is cut off.
 */
export class UnsentAnswers {
  readonly #bytes = new Map<string, number>();
  readonly #most: number;

  constructor(most = mostUnsent) {
    this.#most = most;
  }

  /** Refuses a tenant that has left too much unread. */
  requireRead(tenant: string): void {
    if ((this.#bytes.get(tenant) ?? 0) <= this.#most) return;
    const detail = 'answers to this tenant wait to be read; read them, or close their connections, then try again';
    throw new HttpError('rate_limited', detail, {}, { 'retry-after': '1' });
  }

  /** Counts an answer until it is sent or its connection has ended. */
  hold(tenant: string, payload: unknown, response: ServerResponse): void {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
    if (bytes < leastCounted) return;
    this.#add(tenant, bytes);
    response.setTimeout(patienceMs, () => response.destroy());
    response.once('close', () => this.#add(tenant, -bytes));
  }

  #add(tenant: string, bytes: number): void {
    const left = (this.#bytes.get(tenant) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(tenant, left);
    else this.#bytes.delete(tenant);
  }
}
