import { randomUUID } from 'node:crypto';
import type { Message } from '../protocol/message.ts';
import type { Session } from '../session.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { Caller } from './caller.ts';
import type { HttpExchange } from './http-exchange.ts';

const mostWaiting = 1000;
const mostWaitingText = 4 * 1024 * 1024;

/** A session of a client over HTTP: who opened it, and which of its exchanges are open. */
export class FrontSession {
  readonly id = randomUUID();
  readonly runId = `mcp-${this.id}`;
  readonly server: string;
  /** Who opened it, with the token that they showed last. */
  caller: Caller;
  usedAt = Date.now();
  isOver = false;
  readonly #exchanges = new Set<HttpExchange>();
  readonly #streams = new Set<HttpExchange>();
  /** What the server said while the client listened to nothing. */
  readonly #waiting: Message[] = [];
  #session: Session | undefined;

  constructor(server: string, caller: Caller) {
    this.server = server;
    this.caller = caller;
  }

  get session(): Session {
    if (this.#session === undefined) throw new Error('the session has not begun');
    return this.#session;
  }

  begin(session: Session): void {
    this.#session = session;
  }

  get isBusy(): boolean {
    return [...this.#exchanges, ...this.#streams].some(({ isOpen }) => isOpen) || !this.session.isIdle;
  }

  opened(exchange: HttpExchange, isStream: boolean): void {
    this.usedAt = Date.now();
    for (const set of [this.#exchanges, this.#streams]) {
      for (const each of set) if (!each.isOpen) set.delete(each);
    }
    (isStream ? this.#streams : this.#exchanges).add(exchange);
  }

  /** Gives a new stream what came before it. */
  flush(stream: HttpExchange): void {
    for (const message of this.#waiting.splice(0)) void stream.deliver(message);
  }

  /**
   * Where a message goes that belongs to no exchange. A question of the server most likely comes from what the client
   * asked last; everything else goes to the stream that the client opened for it.
   */
  readonly unrelated = (isRequest: boolean): Exchange | undefined => {
    const exchange = [...this.#exchanges].findLast(({ isOpen }) => isOpen);
    const stream = [...this.#streams].findLast(({ isOpen }) => isOpen);
    return (isRequest ? (exchange ?? stream) : (stream ?? exchange)) ?? this.#later;
  };

  end(): void {
    this.isOver = true;
    for (const exchange of [...this.#exchanges, ...this.#streams]) exchange.end();
  }

  readonly #later: Exchange = {
    left: new AbortController().signal,
    headers: undefined,
    person: undefined,
    isReplay: false,
    deliver: async (message) => {
      this.#waiting.push(message);
      const size = () => this.#waiting.reduce((sum, { text }) => sum + text.length, 0);
      while (this.#waiting.length > mostWaiting || size() > mostWaitingText) this.#waiting.shift();
    },
    mark: async () => {},
    accept: () => {},
    refuse: () => {},
    end: () => {},
  };
}
