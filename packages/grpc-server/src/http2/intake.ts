import type { Socket } from 'node:net';
import type { FrameSink } from './frame-reader.ts';
import { FrameReader } from './frame-reader.ts';
import type { Outbox } from './outbox.ts';
import { PrefaceReader } from './preface-reader.ts';

const nothing: Buffer = Buffer.alloc(0);
/** A peer that has been told to go, and sends more than this, does not want to hear why. */
const mostDiscarded = 1024 * 1024;

/** How a socket shares the event loop with others. */
export interface IntakeTurns {
  /** Is called with each portion, and calls back to have it read. It is new if others had theirs before it. */
  read(isNew: boolean, bytes: number, read: (now: number) => void): void;
  /** Lets others have their turn, and calls back after it. */
  rest(goOn: () => void): void;
  /** The same for bytes that nobody wants. */
  discard(bytes: number, goOn: () => void): void;
}

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
  readonly #turns: IntakeTurns;
  readonly #preface = new PrefaceReader();
  readonly #reader: FrameReader;
  #isStopped = false;
  #isResting = false;
  #hasEnded = false;
  #discarded = 0;

  constructor(socket: Socket, outbox: Outbox, sink: FrameSink, turns: IntakeTurns) {
    this.prefaceSince = performance.now();
    this.#socket = socket;
    this.#outbox = outbox;
    this.#sink = sink;
    this.#turns = turns;
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
    this.#turns.rest(() => {
      this.#isResting = false;
      this.#take(nothing, true);
    });
  }

  #take(chunk: Buffer, isNew: boolean): void {
    if (this.#isStopped) {
      this.#discard(chunk.length);
      return;
    }
    this.#turns.read(isNew, chunk.length, (now) => {
      const rest = this.prefaceSince === undefined ? chunk : this.#preface.read(chunk);
      if (!this.#preface.isDone) return;
      this.prefaceSince = undefined;
      this.#reader.read(rest, now);
    });
    if (!this.#isStopped) this.#goOn();
  }

  /** A peer that has not heard yet why the connection ends loses that if its bytes are left unread. */
  #discard(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded > mostDiscarded) {
      this.#socket.destroy();
      return;
    }
    if (bytes === 0) return;
    this.#socket.pause();
    this.#turns.discard(bytes, () => this.#socket.resume());
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
