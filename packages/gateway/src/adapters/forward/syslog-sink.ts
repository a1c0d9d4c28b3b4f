import type { StoredEntry } from '@reeve/core';
import type { Sink } from '../../forwarding/sink.ts';
import { encodeAll } from './entry-facts.ts';
import type { SyslogPlace } from './syslog-connection.ts';
import { SyslogConnection } from './syslog-connection.ts';
import { syslogFrame } from './syslog-message.ts';

/** How long a receiver may take to close a connection in turn. */
const usualCloseMs = 3000;

/** Sends entries over TCP or TLS, each as one message of RFC 5424 with its length. */
export class SyslogSink implements Sink {
  readonly unconfirmed = { entries: 2000, ms: 5000 };
  readonly #place: SyslogPlace;
  readonly #hostName: string;
  readonly #closeMs: number;
  #connection: SyslogConnection | undefined;

  constructor(place: SyslogPlace, hostName: string, closeMs = usualCloseMs) {
    this.#place = place;
    this.#hostName = hostName;
    this.#closeMs = closeMs;
  }

  async send(entries: readonly StoredEntry[], signal: AbortSignal): Promise<void> {
    this.#connection ??= await SyslogConnection.open(this.#place, signal);
    const frames = await encodeAll(entries, (entry) => syslogFrame(entry, this.#hostName));
    await this.#connection.write(Buffer.concat(frames), signal);
  }

  /**
   * Ends the connection and waits for the receiver to do the same. Some receivers leave their side open; a new
   * connection then shows at least that the network is there and that they still take messages.
   */
  async confirm(signal: AbortSignal): Promise<void> {
    const ended = this.#connection;
    if (ended === undefined) return;
    if (!(await ended.finish(this.#closeMs, signal))) {
      const next = await SyslogConnection.open(this.#place, signal);
      next.destroy();
    }
    this.#connection = undefined;
    ended.destroy();
  }

  async reset(): Promise<void> {
    this.#connection?.destroy();
    this.#connection = undefined;
    return Promise.resolve();
  }
}
