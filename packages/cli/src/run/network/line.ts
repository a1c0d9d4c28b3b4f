import { once } from 'node:events';
import type { OnReadOpts, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TlsGuard } from './tls-guard.ts';

/**
 * What may lie in one direction, at each end and in between: two reads. With one, each would stop the other end. With more, a
 * program that does not read takes more memory of this process, which no limit of its own counts.
 */
export const highWaterMark = 131_072;

/**
 * The way from a program to one server outside. It counts the bytes, and none passes in either direction while anything
 * holds it.
 */
export class Line extends Duplex {
  /** Bytes to and from the server. */
  sent = 0;
  received = 0;
  /**
   * How the socket of the server is made: all that it reads goes through one buffer. A new one for each read would cost more
   * than all else here. Such a socket must be paused from the beginning, as nobody would know what it has read before.
   */
  readonly onread: OnReadOpts = {
    buffer: Buffer.allocUnsafeSlow(highWaterMark),
    callback: (length, buffer) => {
      this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      return true;
    },
  };
  readonly #holds = new Set<string>();
  readonly #guard: TlsGuard | undefined;
  #socket: Socket | undefined;
  #client: Socket | undefined;
  /** What goes on once nothing holds the line any more: bytes, and then the end. */
  #onReleased: (() => void)[] = [];
  #isAwaited = false;

  constructor(guard?: TlsGuard) {
    super({ allowHalfOpen: true, highWaterMark });
    this.#guard = guard;
  }

  hold(why: string): void {
    this.#holds.add(why);
    this.#socket?.pause();
  }

  release(why: string): void {
    this.#holds.delete(why);
    if (this.#holds.size > 0) return;
    const waiting = this.#onReleased;
    this.#onReleased = [];
    for (const goOn of waiting) goOn();
    this.emit('released');
    if (this.#isAwaited) this.#socket?.resume();
  }

  /** Waits until nothing holds the line. */
  async released(signal: AbortSignal): Promise<void> {
    while (this.#holds.size > 0 && !signal.aborted) await once(this, 'released', { signal }).catch(() => {});
    signal.throwIfAborted();
  }

  /**
   * Joins the line to a client, without a stream in between. What either sends is written to the other at once, and nothing more
   * of it is passed on before the kernel has taken that.
   */
  serve(client: Socket): void {
    this.#client = client;
    client.on('data', (chunk: Buffer) => {
      let isSent = false;
      this.#send(chunk, (error) => {
        isSent = true;
        if (error) return void this.destroy(error);
        letGo(chunk);
        if (client.isPaused()) client.resume();
      });
      if (!isSent) client.pause();
    });
    client.on('end', () => this.end());
    this.once('end', () => client.end()).resume();
  }

  /** Joins the line to the server. */
  attach(socket: Socket): void {
    if (this.destroyed) return void socket.destroy();
    this.#socket = socket;
    socket.pause();
    // TLS goes on with what it has decrypted although it is stopped, so its sockets are not made with the one buffer.
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    // What has come to its end is still to be read here.
    socket.on('close', () => {
      if (!socket.readableEnded) this.destroy();
    });
    if (this.#isAwaited && this.#holds.size === 0) socket.resume();
  }

  #take(bytes: Buffer): void {
    this.received += bytes.length;
    this.#guard?.fromServer(bytes);
    const client = this.#client;
    if (client === undefined) this.#isAwaited = this.push(Buffer.from(bytes));
    else {
      client.write(bytes, this.#onDelivered);
      this.#isAwaited = client.writableLength === 0;
    }
    if (!this.#isAwaited) this.#socket?.pause();
  }

  readonly #onDelivered = (): void => {
    if (!this.#isAwaited && this.#client?.writableLength === 0) this._read();
  };

  override _read(): void {
    this.#isAwaited = true;
    if (this.#holds.size === 0) this.#socket?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  /** It is done once the kernel has taken all of it. */
  #send(chunk: Buffer, done: (error?: Error | null) => void): void {
    const socket = this.#socket;
    if (socket === undefined) return done(new Error('there is no connection yet'));
    if (this.#holds.size > 0) {
      this.#onReleased.push(() => this.#send(chunk, done));
      return;
    }
    let passed = chunk;
    try {
      if (this.#guard !== undefined) passed = this.#guard.fromClient(chunk);
    } catch (error) {
      return done(error as Error);
    }
    if (passed.length === 0) return done();
    this.sent += passed.length;
    let isTaken = false;
    socket.write(passed, (error) => {
      if (!isTaken) done(error);
    });
    isTaken = socket.writableLength === 0;
    if (isTaken) done();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#holds.size > 0) {
      this.#onReleased.push(() => this._final(done));
      return;
    }
    try {
      this.#guard?.end();
    } catch (error) {
      return done(error as Error);
    }
    this.#socket?.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket?.destroy();
    done(error);
  }
}

/** Gives the memory of bytes back at once, where nothing else is in it. Collecting it would cost more than all else here. */
function letGo({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
