import type { ServerResponse } from 'node:http';
import type { SharedRoom } from '@reeve/grpc-server';
import { patienceMs } from './patient-stream.ts';
import { HttpError } from './problem.ts';

/** Smaller answers are sent too fast to matter. */
const leastCounted = 16 * 1024;

/**
 * Answers that their clients have not read yet. They stay in memory until then. So a tenant that asks for many large
 * ones and reads none gets no more, and a client that takes nothing for long is cut off. Callers without a credential
 * share one bound.
 */
export class UnsentAnswers {
  readonly #room: SharedRoom;

  constructor(room: SharedRoom) {
    this.#room = room;
  }

  /** Refuses a reader that has left too much unread. */
  requireRead(reader: string): void {
    if (!this.#room.isNearlyFull(reader)) return;
    const detail = 'answers to this tenant wait to be read; read them, or close their connections, then try again';
    throw new HttpError('rate_limited', detail, {}, { 'retry-after': '1' });
  }

  /** Counts an answer until it is sent or its connection has ended. Without a reader, it is a stranger's. */
  hold(reader: string | undefined, payload: unknown, response: ServerResponse): void {
    // Streams have their own patience.
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      response.setTimeout(patienceMs, () => response.destroy());
    }
    const bytes = memoryOf(payload, reader);
    if (bytes < leastCounted) return;
    const share = this.#room.join(() => response.destroy());
    if (reader !== undefined) share.belongTo(reader);
    share.hold(bytes);
    response.once('close', () => share.leave());
  }
}

/** What strangers get as bytes is the same for all, and is not copied: pages, files, the description of the API. */
function memoryOf(payload: unknown, reader: string | undefined): number {
  if (typeof payload === 'string') return payload.length;
  return reader !== undefined && Buffer.isBuffer(payload) ? payload.length : 0;
}
