import type { StoredEntry } from '@reeve/core';
import { entryJson } from '@reeve/core';
import type { Sink } from '../../forwarding/sink.ts';
import { signDelivery } from '../webhook/sign-delivery.ts';
import { encodeAll } from './entry-facts.ts';
import type { Poster } from './post.ts';

/** Posts entries as JSON lines, signed as webhooks are. */
export class NdjsonSink implements Sink {
  readonly unconfirmed = { entries: 0, ms: 0 };
  readonly #poster: Poster;
  readonly #secret: string;

  constructor(poster: Poster, secret: string) {
    this.#poster = poster;
    this.#secret = secret;
  }

  async send(entries: readonly StoredEntry[], signal: AbortSignal): Promise<void> {
    const lines = await encodeAll(entries, (entry) => `${entryJson(entry)}\n`);
    const body = lines.join('');
    const headers = {
      'content-type': 'application/x-ndjson',
      'reeve-delivery': `audit.${entries[0]?.seq ?? 0}-${entries.at(-1)?.seq ?? 0}`,
      'reeve-signature': signDelivery(this.#secret, Math.floor(Date.now() / 1000), body),
    };
    await this.#poster.post(body, headers, signal);
  }

  /** An answer is a confirmation. */
  async confirm(): Promise<void> {
    return Promise.resolve();
  }

  async reset(): Promise<void> {
    this.#poster.close();
    return Promise.resolve();
  }
}
