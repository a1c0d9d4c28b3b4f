import type { IncomingMessage } from 'node:http';
import type { HeldLimits } from './held-bytes.ts';
import { HeldBytes } from './held-bytes.ts';
import { Refusal } from './refusal.ts';

/** A body, and its room. */
export interface HeldBody {
  readonly bytes: Buffer;
  /** Nobody needs the bytes any more. */
  readonly release: () => void;
}

/** Reads the bodies of requests, and holds no more of them than there is room for. */
export class BodyReader {
  readonly #most: number;
  readonly #held: HeldBytes;

  constructor(limits: HeldLimits) {
    this.#most = limits.most;
    this.#held = new HeldBytes(limits);
  }

  /** Reads the body of a request of an agent. */
  async read(request: IncomingMessage, owner: string): Promise<HeldBody> {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      throw new Refusal('invalid_request', 'a compressed body cannot be judged; send it plain');
    if (Number(request.headers['content-length'] ?? 0) > this.#most) throw this.#tooLarge();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const room = this.#held.roomFor(owner);
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > this.#most) throw this.#tooLarge();
      if (!room.take(chunk.length))
        throw new Refusal('overloaded', 'there is no room for further requests at the moment');
      chunks.push(chunk);
    };
    try {
      await taken(request, take);
    } catch (error) {
      room.release();
      throw error;
    }
    const [first] = chunks;
    return { bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks), release: room.release };
  }

  #tooLarge(): Refusal {
    return new Refusal('request_too_large', `the body is larger than ${this.#most} bytes`);
  }
}

/** Takes all chunks of a request. The connection outlives a refusal: the client must be able to read it. */
function taken(request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: unknown) => {
      request.off('data', onData).off('end', end).off('error', end).off('close', onClose);
      if (error === undefined) return resolve();
      request.pause();
      // The connection may still break, and nobody else listens.
      request.on('error', () => {});
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        end(error);
      }
    };
    const onClose = () => end(new Error('the request broke off'));
    if (request.destroyed) return onClose();
    request.on('data', onData).once('end', end).once('error', end).once('close', onClose);
  });
}
