import type { Person } from '../person.ts';
import type { JsonId, Message } from '../protocol/message.ts';

/** What a server says besides a message on an event stream: the position to resume from, and when to come again. */
export interface Mark {
  readonly id?: string | undefined;
  readonly retry?: number | undefined;
}

/** An answer over HTTP that is no message of the protocol. */
export interface Refusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * What the client opened and waits on: one POST, one GET, or all of standard input and output. Messages for the client
 * leave on the exchange that they belong to.
 */
export interface Exchange {
  /** Fires when the client has left it. */
  readonly left: AbortSignal;
  /** The client's headers that concern the message. Undefined where there is nothing like headers. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** For whom the client acts on it. */
  readonly person: Person | undefined;
  /** Whether the server repeats on it what was said before. */
  readonly isReplay: boolean;
  /** Whether the proxy asks by itself on it. */
  readonly isOwn?: boolean;
  /** Resolves when there is room for more. */
  deliver(message: Message, mark?: Mark): Promise<void>;
  /** Passes on a position without a message. */
  mark(mark: Mark): Promise<void>;
  /** The upstream takes the messages, or opens the stream. What they lead to follows. */
  accept(): void;
  /** The upstream does not answer these requests. */
  refuse(refusal: Refusal, requests: readonly JsonId[]): void;
  /** Nothing more comes. */
  end(): void;
}

/** For requests of the proxy itself, for the person that the client acts for. Whoever asked gets the answer otherwise. */
export function ownExchange(person: Person | undefined): Exchange {
  return { ...silent, person };
}

const silent: Exchange = {
  left: new AbortController().signal,
  headers: undefined,
  person: undefined,
  isReplay: false,
  isOwn: true,
  deliver: async () => {},
  mark: async () => {},
  accept: () => {},
  refuse: () => {},
  end: () => {},
};
