import { once } from 'node:events';
import type { Socket } from 'node:net';
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
  readonly #holds = new Set<string>();
  readonly #guard: TlsGuard | undefined;
  #socket: Socket | undefined;
  /** What goes on once nothing holds the line any more. */
  #onReleased: (() => void) | undefined;
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
    const goOn = this.#onReleased;
    this.#onReleased = undefined;
    goOn?.();
    this.emit('released');
    if (this.#isAwaited) this.#socket?.resume();
  }

  /** Waits until nothing holds the line. */
  async released(signal: AbortSignal): Promise<void> {
    while (this.#holds.size > 0 && !signal.aborted) await once(this, 'released', { signal }).catch(() => {});
    signal.throwIfAborted();
  }

  /** Joins the line to the server. */
  attach(socket: Socket): void {
    if (this.destroyed) return void socket.destroy();
    this.#socket = socket;
    socket.pause();
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    // What has come to its end is still to be read here.
    socket.on('close', () => {
      if (!socket.readableEnded) this.destroy();
    });
    if (this.#isAwaited && this.#holds.size === 0) socket.resume();
  }

  #take(chunk: Buffer): void {
    this.received += chunk.length;
    this.#guard?.fromServer(chunk);
    this.#isAwaited = this.push(chunk);
    if (!this.#isAwaited) this.#socket?.pause();
  }

  override _read(): void {
    this.#isAwaited = true;
    if (this.#holds.size === 0) this.#socket?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const socket = this.#socket;
    if (socket === undefined) return done(new Error('there is no connection yet'));
    if (this.#holds.size > 0) {
      this.#onReleased = () => this._write(chunk, _encoding, done);
      return;
    }
    let passed = chunk;
    try {
      if (this.#guard?.isDone === false) passed = this.#guard.fromClient(chunk);
    } catch (error) {
      return done(error as Error);
    }
    if (passed.length === 0) return done();
    this.sent += passed.length;
    if (socket.write(passed)) done();
    else socket.once('drain', () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#holds.size > 0) {
      this.#onReleased = () => this._final(done);
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
