import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

export interface BodyLimits {
  /** The most bytes of one body. */
  readonly most: number;
  /** The most bytes of all bodies that are held at once. */
  readonly mostTogether: number;
}

/** What a chunk takes besides its bytes. A client can send one for each byte. */
const chunkOverhead = 128;
/** Of the room for all, one agent takes no more than this part, unless two bodies need more. */
const share = 1 / 4;

/** A body, and its room. */
export interface HeldBody {
  readonly bytes: Buffer;
  /** Nobody needs the bytes any more. */
  readonly release: () => void;
}

/** Reads the bodies of requests, and holds no more of them than there is room for. */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Reads the body of a request of an agent. */
  async read(request: IncomingMessage, owner: string): Promise<HeldBody> {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      throw new Refusal('invalid_request', 'a compressed body cannot be judged; send it plain');
    if (Number(request.headers['content-length'] ?? 0) > this.#limits.most) throw this.#tooLarge();
    const chunks: Buffer[] = [];
    let [bytes, held] = [0, 0];
    const release = () => {
      this.#hold(owner, -held);
      held = 0;
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      held += chunk.length + chunkOverhead;
      this.#hold(owner, chunk.length + chunkOverhead);
      chunks.push(chunk);
      if (bytes > this.#limits.most) throw this.#tooLarge();
      if (this.#isFull(owner)) throw new Refusal('overloaded', 'there is no room for further requests at the moment');
    };
    try {
      await taken(request, take);
    } catch (error) {
      release();
      throw error;
    }
    const [first] = chunks;
    return { bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks), release };
  }

  #hold(owner: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#heldBy.get(owner) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(owner);
    else this.#heldBy.set(owner, held);
  }

  #isFull(owner: string): boolean {
    const { most, mostTogether } = this.#limits;
    const mostOfOne = Math.max(2 * most, mostTogether * share);
    return this.#held > mostTogether || (this.#heldBy.get(owner) ?? 0) > mostOfOne;
  }

  #tooLarge(): Refusal {
    return new Refusal('request_too_large', `the body is larger than ${this.#limits.most} bytes`);
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
