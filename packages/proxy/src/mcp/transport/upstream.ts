import type { JsonId, Message } from '../protocol/message.ts';
import type { Exchange, Mark, Refusal } from './exchange.ts';

/** A session with a server over HTTP, which any process can go on with that knows it. */
export interface UpstreamSession {
  readonly id: string | undefined;
  readonly version: string | undefined;
}

/** Headers that a message has by its content. */
export interface SentHeaders {
  readonly values: Readonly<Record<string, string>>;
  /** Whether the message is not as the client sent it, so that the client's headers no longer tell of it. */
  readonly isRewritten: boolean;
}

/** The server behind the proxy, as one session sees it. */
export interface Upstream {
  /** The session with it, where another process can go on with that. */
  readonly session?: UpstreamSession;
  /** Leaves the session as it is for others: it does not end with this connection. */
  leave?(): void;
  /** Whether an exchange of the client is one with the server as well, as over HTTP. */
  readonly hasExchanges: boolean;
  /** Sends a message. Resolves when there is room for more. */
  send(message: Message, exchange: Exchange, headers?: SentHeaders): Promise<void>;
  /**
   * Tells the server that nobody waits for the answer any more. Resolves when it has been told, or does not listen.
   */
  cancel(id: JsonId, notification: Message): Promise<void>;
  /** Opens a stream for what the server says by itself, or resumes one. */
  listen(exchange: Exchange, lastEventId: string | undefined): void;
  close(): Promise<void>;
  /** Passes a signal on, where the server is a process. */
  kill?(signal: NodeJS.Signals): void;
}

/** What an upstream reports to its session. */
export interface UpstreamEvents {
  /** A message, and the exchange that it came on, where there is such a thing. Resolves when there is room for more. */
  message(message: Message, from?: Exchange, mark?: Mark): Promise<void>;
  mark(from: Exchange, mark: Mark): Promise<void>;
  /**
   * The server did not take what was sent: these requests, by their keys. An exchange may have others under way, as all
   * of standard input is one.
   */
  refused(exchange: Exchange, refusal: Refusal, requests: ReadonlySet<string>): void;
  /** No answer comes to these requests where they were sent. If that is resumable, it may come on another exchange. */
  ended(exchange: Exchange, resumable: boolean, requests: ReadonlySet<string>): void;
  /** The server is gone for good. */
  gone(why: UpstreamGone): void;
}

const patienceMs = 2000;

/** Waits for a server that is told something, for a while. One that does not listen holds up nobody. Never throws. */
export async function inTime(told: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patienceMs);
  await Promise.race([told.catch(() => {}), over]);
  clearTimeout(timer);
}

/** The server has ended, or does something that no server does. */
export class UpstreamGone extends Error {
  /** Whether it ended as programs do that have nothing more to do. */
  readonly orderly: boolean;

  constructor(message: string, orderly = false) {
    super(message);
    this.orderly = orderly;
  }
}
