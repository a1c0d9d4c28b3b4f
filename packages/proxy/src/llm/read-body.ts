import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

export interface BodyLimits {
  /** The most bytes of one body. */
  readonly most: number;
  /** The most bytes of all bodies that are held at once. */
  readonly mostTogether: number;
}

/** A body, and its room. */
export interface HeldBody {
  readonly bytes: Buffer;
  /** Nobody needs the bytes any more. */
  readonly release: () => void;
}

/** Reads the bodies of requests, and holds no more of them than there is room for. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  async read(request: IncomingMessage): Promise<HeldBody> {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      throw new Refusal('invalid_request', 'a compressed body cannot be judged; send it plain');
    if (Number(request.headers['content-length'] ?? 0) > this.#limits.most) throw this.#tooLarge();
    const chunks: Buffer[] = [];
    let held = 0;
    const release = () => {
      this.#held -= held;
      held = 0;
    };
    try {
      // The connection outlives a refusal: the client must be able to read it.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        held += chunk.length;
        this.#held += chunk.length;
        chunks.push(chunk);
        if (held > this.#limits.most) throw this.#tooLarge();
        if (this.#held > this.#limits.mostTogether) {
          throw new Refusal('overloaded', 'there is no room for further requests at the moment');
        }
      }
    } catch (error) {
      release();
      throw error;
    }
    const [first] = chunks;
    return { bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks), release };
  }

  #tooLarge(): Refusal {
    return new Refusal('request_too_large', `the body is larger than ${this.#limits.most} bytes`);
  }
}
