import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeCodes } from '@reeve/contract/events';
import type { ServerOptions, WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import type { EventHub, Follower } from './event-hub.ts';
import type { Ending, EventStream } from './event-stream.ts';
import { webSocketFormat } from './stream-format.ts';

/** Clients have nothing to say here: their messages are dropped and must be small. */
const largestMessage = 4096;
/** Above this, the client's pings stay unanswered, so that answers do not pile up for a client that does not read. */
const mostBeforePong = 64 * 1024;
/** How long clients may take to close when the gateway stops. */
const leaveTakingMs = 2000;
/** How long a client may take to answer a close. */
const answerMs = 30_000;
/**
 * The same for a client that reads too slowly. The close frame stands behind all that it has not read. If the
 * connection were cut, the frame would be lost, and the client would not learn why.
 */
const slowAnswerMs = 60_000;
/** What such clients may hold in memory together; beyond it, those closed first are cut off. */
const mostLingering = 64 * 1024 * 1024;

/** A request for a WebSocket, and the headers of its answer. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const closings: Readonly<Record<Exclude<Ending, 'silent'>, readonly [code: number, reason: string]>> = {
  slow: [closeCodes.tooSlow, 'reads too slowly; resume with since'],
  credential: [closeCodes.unauthenticated, 'the credential is revoked or has expired'],
  drain: [closeCodes.goingAway, 'the gateway is being stopped'],
};

/** The types of the library do not know `closeTimeout` yet. */
const socketOptions: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  maxPayload: largestMessage,
  perMessageDeflate: false,
  skipUTF8Validation: true,
  autoPong: false,
  closeTimeout: slowAnswerMs,
};

/** Event streams as WebSockets. */
export class EventSockets {
  readonly #hub: EventHub;
  readonly #server = new WebSocketServer(socketOptions);
  readonly #lingering = new Set<WebSocketStream>();

  constructor(hub: EventHub) {
    this.#hub = hub;
  }

  /** Takes over a connection, once its request is known to be valid. */
  open({ request, socket, head, headers }: Upgrade, follower: Follower): void {
    // There are no subprotocols here, and the library would refuse a malformed header without a problem document.
    delete request.headers['sec-websocket-protocol'];
    this.#server.once('headers', (lines) => {
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    });
    this.#server.handleUpgrade(request, socket, head, (client) => {
      const stream = new WebSocketStream(client, socket, (ended) => this.#linger(ended));
      socket.on('drain', () => this.#hub.wake());
      client.on('close', () => {
        this.#hub.leave(stream);
        this.#lingering.delete(stream);
      });
      // A broken connection shows in its close.
      client.on('error', () => undefined);
      this.#hub.join(stream, follower);
    });
  }

  /** Lets a slow client read the rest of what it was sent, as long as there is room. */
  #linger(stream: WebSocketStream): void {
    this.#lingering.add(stream);
    let held = 0;
    for (const { buffered } of this.#lingering) held += buffered;
    for (const oldest of this.#lingering) {
      if (held <= mostLingering) return;
      held -= oldest.buffered;
      this.#lingering.delete(oldest);
      oldest.destroy();
    }
  }

  /** Cuts off clients that have not closed in time. */
  drain(): void {
    setTimeout(() => {
      for (const client of this.#server.clients) client.terminate();
    }, leaveTakingMs).unref();
  }
}

class WebSocketStream implements EventStream {
  readonly format = webSocketFormat;
  readonly beatEveryMs = 30_000;
  readonly #client: WebSocket;
  readonly #socket: Duplex;
  readonly #onSlow: (stream: WebSocketStream) => void;
  #answered = true;

  constructor(client: WebSocket, socket: Duplex, onSlow: (stream: WebSocketStream) => void) {
    this.#client = client;
    this.#socket = socket;
    this.#onSlow = onSlow;
    client.on('pong', () => {
      this.#answered = true;
    });
    client.on('ping', (data) => {
      if (this.buffered < mostBeforePong) client.pong(data);
    });
  }

  get buffered(): number {
    return this.#socket.writableLength;
  }

  /** Writes whole frames past the library, which would encode them again for every client. */
  write(frames: Uint8Array): void {
    this.#socket.write(frames);
  }

  beat(): boolean {
    if (!this.#answered) return false;
    this.#answered = false;
    this.#client.ping();
    return true;
  }

  end(why: Ending): void {
    if (why === 'silent') {
      this.destroy();
      return;
    }
    this.#client.close(...closings[why]);
    if (why === 'slow') {
      this.#onSlow(this);
      return;
    }
    const timer = setTimeout(() => this.destroy(), answerMs).unref();
    this.#client.once('close', () => clearTimeout(timer));
  }

  destroy(): void {
    this.#client.terminate();
  }
}
