/** A part of a stream of events, in the bytes of the stream. */
export interface SseEvent {
  readonly bytes: Buffer;
  /** False for a part of an event that is larger than is held, or that the stream ended within. */
  readonly isWhole: boolean;
}

const lf = 0x0a;
const cr = 0x0d;

/**
 * Cuts a stream of server-sent events where events end: at an empty line. The parts together are the stream, byte for
 * byte. An event that is still incomplete is held, up to a limit; a longer one comes in parts.
 */
export class SseFramer {
  readonly #most: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isAtLineStart = true;
  #isAfterCr = false;
  #isCutUp = false;

  constructor(most = 16 * 1024 * 1024) {
    this.#most = most;
  }

  push(chunk: Buffer): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === lf && this.#isAfterCr) {
        this.#isAfterCr = false;
        continue;
      }
      this.#isAfterCr = byte === cr;
      if (byte !== lf && byte !== cr) {
        this.#isAtLineStart = false;
        continue;
      }
      if (!this.#isAtLineStart) {
        this.#isAtLineStart = true;
        continue;
      }
      if (byte === cr && chunk[at + 1] === lf) {
        at++;
        this.#isAfterCr = false;
      }
      events.push(this.#end(chunk.subarray(from, at + 1)));
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    if (this.#heldBytes > this.#most) events.push(this.#part());
    return events;
  }

  /** What is left at the end of the stream. */
  flush(): SseEvent | undefined {
    return this.#heldBytes === 0 ? undefined : this.#part();
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
  }

  /** The event that ends with these bytes. */
  #end(bytes: Buffer): SseEvent {
    const event = { bytes: this.#withHeld(bytes), isWhole: !this.#isCutUp };
    this.#isCutUp = false;
    return event;
  }

  #part(): SseEvent {
    this.#isCutUp = true;
    return { bytes: this.#withHeld(Buffer.alloc(0)), isWhole: false };
  }

  #withHeld(bytes: Buffer): Buffer {
    if (this.#heldBytes === 0) return bytes;
    const all = Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    this.#heldBytes = 0;
    return all;
  }
}

/** The data of an event: its `data` lines, joined. Empty if it has none. */
export function dataOf(event: Buffer): string {
  const lines = event.toString('utf8').split(/\r\n|\r|\n/);
  const data = lines.filter((line) => line === 'data' || line.startsWith('data:'));
  return data.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n');
}
