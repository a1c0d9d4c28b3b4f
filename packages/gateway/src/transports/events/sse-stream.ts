import type { ServerResponse } from 'node:http';
import type { EventHub, Follower } from './event-hub.ts';
import type { EventStream } from './event-stream.ts';
import { sseFormat } from './stream-format.ts';

/** How long a client may take for the rest of an ended stream. */
const leaveTakingMs = 2000;

/** Turns an answer into a stream of Server-Sent Events. */
export function openSse(hub: EventHub, response: ServerResponse, follower: Follower): void {
  const stream = new SseStream(response);
  response.on('drain', () => hub.wake());
  response.on('close', () => hub.leave(stream));
  response.on('error', () => undefined);
  hub.join(stream, follower);
}

class SseStream implements EventStream {
  readonly format = sseFormat;
  readonly beatEveryMs = 15_000;
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get buffered(): number {
    return this.#response.writableLength;
  }

  write(bytes: Uint8Array): void {
    this.#response.write(bytes);
  }

  /** Sends a comment, which clients ignore. Clients do not answer; a lost one shows in the connection. */
  beat(): boolean {
    this.#response.write(': \n\n');
    return true;
  }

  /** SSE has no code for the reason. */
  end(): void {
    this.#response.end();
    setTimeout(() => this.destroy(), leaveTakingMs).unref();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
