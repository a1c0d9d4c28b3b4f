import type { Socket } from 'node:net';
import type { FrameSink } from './frame-reader.ts';
import { FrameReader } from './frame-reader.ts';
import type { Outbox } from './outbox.ts';
import { PrefaceReader } from './preface-reader.ts';

const nothing: Buffer = Buffer.alloc(0);

/**
 * Reads one socket: the preface, then frames. A read with much work in it is handled in portions, so that others have
 * their turn in between. Nothing is read while the peer does not read what is sent to it.
 */
export class Intake {
  /** When the connection was accepted, until the preface has come. */
  prefaceSince: number | undefined;
  /** Since when the peer has taken nothing, while reading waits for that. */
  blockedSince: number | undefined;
  readonly #socket: Socket;
  readonly #outbox: Outbox;
  readonly #sink: FrameSink;
  readonly #onRest: (goOn: () => void) => void;
  readonly #turn: (isNew: boolean, read: (now: number) => void) => void;
  readonly #preface = new PrefaceReader();
  readonly #reader: FrameReader;
  #isStopped = false;
  #isResting = false;
  #hasEnded = false;

  /**
   * `turn` is called with each portion, and calls back to have it read. It is new if others had theirs before it:
   * `onRest` sees to that, and calls back after it.
   */
  constructor(
    socket: Socket,
    outbox: Outbox,
    sink: FrameSink,
    onRest: (goOn: () => void) => void,
    turn: (isNew: boolean, read: (now: number) => void) => void,
  ) {
    this.prefaceSince = performance.now();
    this.#socket = socket;
    this.#outbox = outbox;
    this.#sink = sink;
    this.#onRest = onRest;
    this.#turn = turn;
    this.#reader = new FrameReader(sink);
    socket.on('data', (chunk: Buffer) => this.#take(chunk, false));
    socket.on('end', () => {
      this.#hasEnded = true;
      if (!this.#isStopped) this.#goOn();
    });
  }

  /** Since when a frame is unfinished. */
  get unfinishedSince(): number | undefined {
    return this.#reader.since;
  }

  /** What comes from now on is discarded, and what came and was not handled as well. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reader.stop();
    this.#socket.resume();
  }

  /** The peer has read what was sent. */
  drained(): void {
    if (this.blockedSince === undefined || this.#isStopped) return;
    if (this.#outbox.isCongested) {
      this.blockedSince = performance.now();
      return;
    }
    this.blockedSince = undefined;
    this.#goOn();
  }

  /** Lets others have their turn, and then begins a new one. */
  rest(): void {
    if (this.#isResting || this.#isStopped || this.blockedSince !== undefined) return;
    this.#isResting = true;
    this.#socket.pause();
    this.#onRest(() => {
      this.#isResting = false;
      this.#take(nothing, true);
    });
  }

  #take(chunk: Buffer, isNew: boolean): void {
    if (this.#isStopped) return;
    this.#turn(isNew, (now) => {
      const rest = this.prefaceSince === undefined ? chunk : this.#preface.read(chunk);
      if (!this.#preface.isDone) return;
      this.prefaceSince = undefined;
      this.#reader.read(rest, now);
    });
    if (!this.#isStopped) this.#goOn();
  }

  #goOn(): void {
    if (this.#outbox.isCongested) {
      this.blockedSince = performance.now();
      this.#socket.pause();
    } else if (this.#reader.hasMore || !this.#sink.mayReadOn) {
      this.rest();
    } else if (!this.#isResting) {
      // What came before the end is handled before the connection is closed.
      if (this.#hasEnded) this.#socket.end();
      else if (this.#socket.isPaused()) this.#socket.resume();
    }
  }
}
