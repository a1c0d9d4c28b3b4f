import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent } from '@reeve/sdk';
import { longestMessage } from '../protocol/message.ts';

export interface RoomLimits {
  readonly mostTogether: number;
  readonly mostOfAgent: number;
}

/** What a request takes besides its body, and a chunk besides its bytes. A client can send one chunk for each byte. */
const requestOverhead = 16 * 1024;
const chunkOverhead = 128;

/** How much the requests under way take, so that no agent takes the room of all. */
export class RequestRoom {
  readonly #limits: RoomLimits;
  readonly #heldBy = new WeakMap<Agent, number>();
  #held = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  /** Takes room until the response is over. False if there is none. */
  hold(agent: Agent, response: ServerResponse, bytes = requestOverhead): boolean {
    if (response.destroyed) return false;
    this.#add(agent, bytes);
    response.once('close', () => this.#add(agent, -bytes));
    return this.#hasRoom(agent);
  }

  /** Counts an answer until the client has it. An agent that reads none of them gets no more. */
  holdAnswer(agent: Agent, response: ServerResponse, bytes: number): void {
    this.#add(agent, bytes);
    response.once('close', () => this.#add(agent, -bytes));
    // What others leave unread is not the fault of this one.
    if ((this.#heldBy.get(agent) ?? 0) > this.#limits.mostOfAgent) response.destroy();
  }

  /** Reads a body and keeps its room until the response is over. */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    agent: Agent,
  ): Promise<{ readonly text: string } | { readonly refused: 413 | 503 }> {
    if (!this.hold(agent, response)) return { refused: 503 };
    const chunks: Buffer[] = [];
    let [bytes, held] = [0, 0];
    const release = () => {
      this.#add(agent, -held);
      held = 0;
    };
    response.once('close', release);
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > longestMessage) return { refused: 413 };
      if (response.destroyed) break;
      held += chunk.length + chunkOverhead;
      this.#add(agent, chunk.length + chunkOverhead);
      if (!this.#hasRoom(agent)) return { refused: 503 };
      chunks.push(chunk);
    }
    return { text: Buffer.concat(chunks).toString() };
  }

  #hasRoom(agent: Agent): boolean {
    const { mostTogether, mostOfAgent } = this.#limits;
    return this.#held <= mostTogether && (this.#heldBy.get(agent) ?? 0) <= mostOfAgent;
  }

  #add(agent: Agent, bytes: number): void {
    this.#held += bytes;
    this.#heldBy.set(agent, (this.#heldBy.get(agent) ?? 0) + bytes);
  }
}
