import { createHash, randomUUID } from 'node:crypto';
import type { Message } from '../protocol/message.ts';
import { asNotification, asRequest, partsOf } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import type { Session } from '../session.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { Upstream } from '../transport/upstream.ts';
import type { Caller } from './caller.ts';
import type { HttpExchange } from './http-exchange.ts';
import { StreamPositions } from './stream-positions.ts';

const mostWaiting = 1000;
const mostWaitingText = 4 * 1024 * 1024;

/** A session of a client over HTTP: who opened it, and which of its exchanges are open. */
export class FrontSession {
  readonly id: string;
  readonly runId: string;
  /** How the client names it. Asked for when there is an answer to give the name with. */
  publicId: () => string;
  /** Resolves when the server behind it can be spoken to, where another replica began the session. */
  ready: Promise<void> = Promise.resolve();
  readonly server: string;
  /** Who opened it, with the token that they showed last. */
  caller: Caller;
  usedAt = Date.now();
  isOver = false;
  /** Where its streams of this process can be resumed. */
  readonly positions = new StreamPositions();
  readonly #exchanges = new Set<HttpExchange>();
  readonly #streams = new Set<HttpExchange>();
  /** What the server said while the client listened to nothing. */
  readonly #waiting: Message[] = [];
  #session: Session | undefined;
  #upstream: Upstream | undefined;
  #isInitialized = false;

  constructor(server: string, caller: Caller, id: string = randomUUID()) {
    this.id = id;
    this.runId = `mcp-${digestOf(id)}`;
    this.publicId = () => id;
    this.server = server;
    this.caller = caller;
  }

  get session(): Session {
    if (this.#session === undefined) throw new Error('the session has not begun');
    return this.#session;
  }

  begin(session: Session, upstream: Upstream): void {
    this.#session = session;
    this.#upstream = upstream;
  }

  /** Begins with a process of this replica where another replica began. */
  async introduce(hello: JsonObject): Promise<void> {
    await this.session.ask('initialize', hello);
    await this.session.tell('notifications/initialized');
    this.#isInitialized = true;
  }

  /** Before a message of a client whose other messages another replica may have got: is the process here ready for it? */
  async tellReady(message: Message): Promise<void> {
    if (this.#isInitialized || this.#upstream?.hasExchanges !== false) return;
    const isReady = asNotification(message)?.method === 'notifications/initialized';
    const requests = partsOf(message).flatMap((part) => asRequest(part) ?? []);
    if (!isReady && (requests.length === 0 || requests.some(({ method }) => method === 'initialize'))) return;
    this.#isInitialized = true;
    if (!isReady) await this.session.tell('notifications/initialized');
  }

  /** Ends, and leaves the session with the server to other replicas. */
  leave(): void {
    this.#upstream?.leave?.();
    this.end();
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

/** Whoever reads of runs learns no id of a session. */
function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}
