import type { Socket } from 'node:net';

const bufferBytes = 64 * 1024;
const mostSpare = 16;
/** Buffers that the kernel has taken all bytes of. One that is hot in the processor's cache comes first. */
const spare: Buffer[] = [];

/**
 * Gathers what one turn sends on a connection, and writes it at once. While `batch` is open, nothing is written before
 * it is closed; otherwise at the end of the current operation.
 */
export class Outbox {
  /** Where the next bytes go. Valid only until `reserve` is called again. */
  buffer: Buffer = empty;
  /** Whether the socket holds more than it should. `onDrained` is called once that is over. */
  isCongested = false;
  readonly #socket: Socket;
  readonly #onDrained: () => void;
  #end = 0;
  #isInBatch = false;
  #isScheduled = false;

  constructor(socket: Socket, onDrained: () => void) {
    this.#socket = socket;
    this.#onDrained = onDrained;
    socket.on('drain', () => {
      this.isCongested = false;
      this.#onDrained();
    });
  }

  /** Makes room for so many bytes (at most 32 KiB), and returns their place in `buffer`. They must be written now. */
  reserve(bytes: number): number {
    if (this.#end + bytes > this.buffer.length) {
      this.flush();
      this.buffer = spare.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
    }
    const at = this.#end;
    this.#end = at + bytes;
    if (!this.#isInBatch && !this.#isScheduled) {
      this.#isScheduled = true;
      process.nextTick(flushScheduled, this);
    }
    return at;
  }

  put(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.buffer.set(bytes, at);
  }

  beginBatch(): void {
    this.#isInBatch = true;
  }

  endBatch(): void {
    this.#isInBatch = false;
    this.flush();
  }

  scheduled(): void {
    this.#isScheduled = false;
    if (!this.#isInBatch) this.flush();
  }

  flush(): void {
    const { buffer } = this;
    const end = this.#end;
    if (buffer === empty) return;
    this.buffer = empty;
    this.#end = 0;
    if (end > 0 && this.#socket.writable) {
      const isLow = this.#socket.write(end === buffer.length ? buffer : buffer.subarray(0, end));
      // The kernel may have taken a large write at once.
      if (!isLow && this.#socket.writableLength > 0) this.isCongested = true;
    }
    // Nothing is left in the socket: nobody reads the buffer any more.
    if (this.#socket.writableLength === 0 && spare.length < mostSpare) spare.push(buffer);
  }
}

const empty = Buffer.alloc(0);

function flushScheduled(outbox: Outbox): void {
  outbox.scheduled();
}
