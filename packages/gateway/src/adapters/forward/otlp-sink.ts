import type { StoredEntry } from '@reeve/core';
import type { Sink } from '../../forwarding/sink.ts';
import { encodeAll } from './entry-facts.ts';
import { otlpRecord } from './otlp-record.ts';
import type { Poster } from './post.ts';

export interface OtlpOptions {
  readonly poster: Poster;
  /** Further headers, such as a key that the receiver wants. */
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  /** Names this installation among others. */
  readonly instance: string;
  /** Called if the receiver took a batch but for some records, which it never wants to see again. */
  readonly onRejected: (records: number, why: string) => void;
}

/** Sends entries as OpenTelemetry logs: OTLP over HTTP, in JSON. */
export class OtlpSink implements Sink {
  readonly unconfirmed = { entries: 0, ms: 0 };
  readonly #options: OtlpOptions;
  readonly #before: string;

  constructor(options: OtlpOptions) {
    this.#options = options;
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const resource = {
      attributes: [
        text('service.name', 'reeve'),
        text('service.version', options.version),
        text('service.instance.id', options.instance),
      ],
    };
    const scope = { name: 'reeve.audit', version: options.version };
    this.#before = `{"resourceLogs":[{"resource":${JSON.stringify(resource)},"scopeLogs":[{"scope":${JSON.stringify(scope)},"logRecords":[`;
  }

  async send(entries: readonly StoredEntry[], signal: AbortSignal): Promise<void> {
    const records = await encodeAll(entries, otlpRecord);
    const body = `${this.#before}${records.join(',')}]}]}]}`;
    const headers = { ...this.#options.headers, 'content-type': 'application/json' };
    const { text } = await this.#options.poster.post(body, headers, signal);
    const { rejected, why } = partialSuccess(text);
    // By the protocol, what was rejected must not be sent again.
    if (rejected > 0) this.#options.onRejected(rejected, why);
  }

  /** An answer is a confirmation. */
  async confirm(): Promise<void> {
    return Promise.resolve();
  }

  async reset(): Promise<void> {
    this.#options.poster.close();
    return Promise.resolve();
  }
}

/** How many records an answer rejects. In JSON a 64-bit number is a text, but not every receiver knows. */
function partialSuccess(answer: string): { readonly rejected: number; readonly why: string } {
  const none = { rejected: 0, why: '' };
  try {
    const value = JSON.parse(answer) as {
      readonly partialSuccess?: { readonly rejectedLogRecords?: unknown; readonly errorMessage?: unknown } | null;
    } | null;
    const { rejectedLogRecords: rejected, errorMessage: why } = value?.partialSuccess ?? {};
    const count = Number(rejected ?? 0);
    return Number.isSafeInteger(count) && count > 0
      ? { rejected: count, why: typeof why === 'string' ? why : '' }
      : none;
  } catch {
    return none;
  }
}
