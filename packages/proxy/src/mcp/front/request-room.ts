import type { IncomingMessage, ServerResponse } from 'node:http';
import { longestMessage } from '../protocol/message.ts';
import type { Caller } from './caller.ts';

export interface RoomLimits {
  readonly mostTogether: number;
  readonly mostOfCaller: number;
}

/** What a request takes besides its body, and a chunk besides its bytes. A client can send one chunk for each byte. */
const requestOverhead = 16 * 1024;
const chunkOverhead = 128;

/** How much the requests under way take, so that no caller takes the room of all. */
export class RequestRoom {
  readonly #limits: RoomLimits;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  /** Takes room until the response is over. False if there is none. */
  hold(caller: Caller, response: ServerResponse, bytes = requestOverhead): boolean {
    if (response.destroyed) return false;
    this.#add(caller, bytes);
    response.once('close', () => this.#add(caller, -bytes));
    return this.#hasRoom(caller);
  }

  /** Counts an answer until the client has it. A caller that reads none of them gets no more. */
  holdAnswer(caller: Caller, response: ServerResponse, bytes: number): void {
    this.#add(caller, bytes);
    response.once('close', () => this.#add(caller, -bytes));
    // What others leave unread is not the fault of this one.
    if ((this.#heldBy.get(caller.key) ?? 0) > this.#limits.mostOfCaller) response.destroy();
  }

  /** Reads a body and keeps its room until the response is over. */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
  ): Promise<{ readonly text: string } | { readonly refused: 413 | 503 }> {
    if (!this.hold(caller, response)) return { refused: 503 };
    const chunks: Buffer[] = [];
    let [bytes, held] = [0, 0];
    const release = () => {
      this.#add(caller, -held);
      held = 0;
    };
    response.once('close', release);
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > longestMessage) return { refused: 413 };
      if (response.destroyed) break;
      held += chunk.length + chunkOverhead;
      this.#add(caller, chunk.length + chunkOverhead);
      if (!this.#hasRoom(caller)) return { refused: 503 };
      chunks.push(chunk);
    }
    return { text: Buffer.concat(chunks).toString() };
  }

  #hasRoom(caller: Caller): boolean {
    const { mostTogether, mostOfCaller } = this.#limits;
    return this.#held <= mostTogether && (this.#heldBy.get(caller.key) ?? 0) <= mostOfCaller;
  }

  #add(caller: Caller, bytes: number): void {
    this.#held += bytes;
    const held = (this.#heldBy.get(caller.key) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(caller.key);
    else this.#heldBy.set(caller.key, held);
  }
}
