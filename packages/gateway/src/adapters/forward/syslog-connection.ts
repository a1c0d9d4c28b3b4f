import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTcp, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { SinkError } from '../../forwarding/sink.ts';

export interface SyslogPlace {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Authorities to trust in place of the usual ones. */
  readonly ca: readonly string[] | undefined;
}

const connectMs = 10_000;
/** How long to wait for an end of the receiver's that was on its way before ours: it would prove nothing. */
const settleMs = 100;

/**
 * A connection that ends with a proof. Syslog has no acknowledgements: what was written may lie in a buffer of a
 * receiver that has crashed. But a receiver that has read up to the end closes its side in turn, without an error.
 */
export class SyslogConnection {
  readonly #socket: Socket;
  /** Why the connection is not usable any more. */
  #fault: unknown;
  #isEnding = false;
  readonly #closedByPeer = Promise.withResolvers<boolean>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', (error) => this.#lost(error));
    socket.on('end', () => {
      if (this.#isEnding) this.#closedByPeer.resolve(true);
      else this.#lost(new SinkError('the receiver has closed the connection'));
    });
    socket.on('close', () => this.#lost(new SinkError('the connection is closed')));
    // Whatever the receiver says is of no interest, but its end is read only after it.
    socket.resume();
  }

  static async open({ host, port, isTls, ca }: SyslogPlace, signal: AbortSignal): Promise<SyslogConnection> {
    // Several receivers may share an address, so each is told its name. An address is no name.
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = isTls
      ? connectTls({ host, port, ...name, ...(ca === undefined ? {} : { ca: [...ca] }) })
      : connectTcp({ host, port });
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
      await once(socket, isTls ? 'secureConnect' : 'connect', { signal: limit });
    } catch (error) {
      socket.on('error', () => undefined);
      socket.destroy();
      throw error;
    }
    socket.setKeepAlive(true, 10_000);
    return new SyslogConnection(socket);
  }

  /** Resolves once the system has taken the bytes. */
  async write(bytes: Buffer, signal: AbortSignal): Promise<void> {
    if (this.#fault !== undefined) throw this.#fault;
    const written = Promise.withResolvers<void>();
    const give = () => written.reject(signal.reason);
    signal.addEventListener('abort', give, { once: true });
    this.#socket.write(bytes, (error) => (error == null ? written.resolve() : written.reject(error)));
    try {
      await written.promise;
    } finally {
      signal.removeEventListener('abort', give);
    }
  }

  /**
   * Ends the connection. Resolves with true once the receiver has closed it, too, and with false if it has not within
   * `waitMs`. Rejects if the connection broke.
   */
  async finish(waitMs: number, signal: AbortSignal): Promise<boolean> {
    await sleep(settleMs, undefined, { signal });
    if (this.#fault !== undefined) throw this.#fault;
    this.#isEnding = true;
    this.#socket.end();
    const timer = setTimeout(() => this.#closedByPeer.resolve(false), waitMs);
    const give = () => this.#closedByPeer.reject(signal.reason);
    signal.addEventListener('abort', give, { once: true });
    try {
      return await this.#closedByPeer.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', give);
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #lost(error: unknown): void {
    this.#fault ??= error;
    if (this.#isEnding) this.#closedByPeer.reject(error);
  }
}
