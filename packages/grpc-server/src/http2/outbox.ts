import type { Socket } from 'node:net';

/** Buffers of one size. Of those that the kernel has taken all bytes of, one that is hot in the processor's cache comes first. */
class BufferPool {
  readonly #bytes: number;
  readonly #mostSpare: number;
  readonly #spare: Buffer[] = [];

  constructor(bytes: number, mostSpare: number) {
    this.#bytes = bytes;
    this.#mostSpare = mostSpare;
  }

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
  }

  give(buffer: Buffer): void {
    if (this.#spare.length < this.#mostSpare) this.#spare.push(buffer);
  }
}

const smallBytes = 4 * 1024;
/** The overhead of each write that waits. */
const besideWrite = 256;
const largeBytes = 64 * 1024;
/**
 * Answers that wait for one commit leave on all their connections at once, each of which has a buffer then. Most need
 * little. New buffers would make the collector look at the whole heap again and again, as they count as its memory.
 */
const small = new BufferPool(smallBytes, 1024);
const large = new BufferPool(largeBytes, 16);

/**
 * Gathers what one turn sends on a connection, and writes it at once. While `batch` is open, nothing is written before
 * it is closed; otherwise at the end of the current operation.
 */
export class Outbox {
  /** Where the next bytes go. Valid only until `reserve` is called again. */
  buffer: Buffer = empty;
  /** Whether the socket holds more than it should. `onDrained` is called once that is over. */
  isCongested = false;
  /** The memory of what the socket has not taken. */
  heldBytes = 0;
  /** Called when that may have changed. */
  onHeld: () => void = () => undefined;
  readonly #socket: Socket;
  readonly #onDrained: () => void;
  #end = 0;
  #isInBatch = false;
  #isScheduled = false;
  #written = 0;
  /** Of each write that is not taken in whole: where it ends among all that was written, and its memory. */
  #untaken: { readonly until: number; readonly bytes: number }[] = [];

  constructor(socket: Socket, onDrained: () => void) {
    this.#socket = socket;
    this.#onDrained = onDrained;
    socket.on('drain', () => {
      this.isCongested = false;
      this.#noteTaken();
      this.#onDrained();
    });
  }

  /** How many bytes the socket has taken so far. */
  get takenBytes(): number {
    return this.#written - this.#socket.writableLength;
  }

  /** Makes room for so many bytes (at most 32 KiB), and returns their place in `buffer`. They must be written now. */
  reserve(bytes: number): number {
    if (this.#end + bytes > this.buffer.length) this.#makeRoom(bytes);
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
    const isOwn = this.#socket.writableLength > 0;
    if (end > 0 && this.#socket.writable) this.#write(isOwn ? ownCopy(buffer, end) : buffer, end);
    // Nothing is left in the socket, or nothing of it is: nobody reads the buffer any more.
    if (isOwn || this.#socket.writableLength === 0) poolOf(buffer).give(buffer);
  }

  /** What has to wait behind other bytes is a copy, so that a few bytes do not keep a whole buffer. */
  #write(bytes: Buffer, end: number): void {
    const isLow = this.#socket.write(end === bytes.length ? bytes : bytes.subarray(0, end));
    this.#written += end;
    if (this.#socket.writableLength > 0) {
      // The kernel may have taken a large write at once.
      if (!isLow) this.isCongested = true;
      this.#untaken.push({ until: this.#written, bytes: bytes.length + besideWrite });
      this.heldBytes += bytes.length + besideWrite;
      this.#noteTaken();
    } else if (this.heldBytes > 0) this.#noteTaken();
  }

  #noteTaken(): void {
    const { takenBytes } = this;
    let taken = 0;
    while ((this.#untaken[taken]?.until ?? Infinity) <= takenBytes)
      this.heldBytes -= this.#untaken[taken++]?.bytes ?? 0;
    if (taken > 0) this.#untaken = this.#untaken.slice(taken);
    this.onHeld();
  }

  /** What a small buffer has goes on in a large one, so that a turn is still one write. */
  #makeRoom(bytes: number): void {
    const { buffer } = this;
    const end = this.#end;
    if (buffer.length !== smallBytes) {
      this.flush();
      this.buffer = (bytes > smallBytes ? large : small).take();
      return;
    }
    this.buffer = large.take();
    this.buffer.set(end === smallBytes ? buffer : buffer.subarray(0, end));
    small.give(buffer);
  }
}

function ownCopy(buffer: Buffer, end: number): Buffer {
  const own = Buffer.allocUnsafeSlow(end);
  buffer.copy(own, 0, 0, end);
  return own;
}

function poolOf({ length }: Buffer): BufferPool {
  return length === smallBytes ? small : large;
}

const empty = Buffer.alloc(0);

function flushScheduled(outbox: Outbox): void {
  outbox.scheduled();
}
