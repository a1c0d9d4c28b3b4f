import type { IncomingMessage } from 'node:http';

/** Which pages may call the proxy. */
export class AllowedOrigins {
  readonly #named: ReadonlySet<string>;

  constructor(named: readonly string[]) {
    this.#named = new Set(named.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  }

  /** Programs send no origin. A page does, and must be of this host or be named. */
  include({ headers }: IncomingMessage): boolean {
    const origin = headers.origin?.toLowerCase();
    return origin === undefined || origin === `http://${headers.host?.toLowerCase()}` || this.#named.has(origin);
  }
}
