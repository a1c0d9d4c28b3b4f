import type { ServerStream, StreamHandler, StreamListener } from '../handlers.ts';
import { defaultWindow } from '../http2/frame.ts';
import type { Status } from '../status.ts';
import { statusCode } from '../status.ts';
import { KeptBytes } from './kept-bytes.ts';
import { besideEach, SplitMessage } from './message.ts';
import { ServerCall } from './server-call.ts';

const ok: Status = { code: statusCode.ok, message: '' };

/** A call with any number of messages each way. */
export class StreamServerCall extends ServerCall implements ServerStream {
  #listener: StreamListener | undefined;
  #isPaused = false;
  #isReading = false;
  /** Whether the rest of what came waits for a turn to come. */
  #isPostponed = false;
  #hasEnded = false;
  #hasToldEnd = false;
  #hasMessage = false;
  readonly #begunAt = performance.now();
  /** What came while the call held. */
  readonly #unread = new KeptBytes();

  /** Call it once, before anything is received. The handler may end the stream at once. */
  start(handler: StreamHandler): void {
    try {
      this.#listener = handler(this);
      if (this.state === 'closed') this.gone();
    } catch (error) {
      this.fail(error);
    }
  }

  protected override get heldBytes(): number {
    return this.#unread.length === 0 ? 0 : this.#unread.length + besideEach;
  }

  protected override get spareWindow(): number {
    return defaultWindow;
  }

  open(): void {
    if (this.isOpen) this.connection.sender.head(this);
  }

  send(message: Uint8Array, constant?: Uint8Array): boolean {
    if (!this.isOpen) return false;
    try {
      const whole = constant === undefined ? message : new SplitMessage(message, constant);
      return this.connection.sender.message(this, whole);
    } catch (error) {
      // It concerns this stream, and not whoever has something to say on it.
      this.fail(error);
      return false;
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.isHolding = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#goOn();
  }

  end(): void {
    this.finish(ok);
  }

  /** Backpressure: a client that does not read its answers is not read from, so nothing piles up here. */
  override stalled(): void {
    this.isHolding = true;
    this.markStalled();
  }

  override drained(): void {
    if (this.stalledSince === undefined) return;
    this.notStalled();
    if (this.isOpen) this.#guard(() => this.#listener?.drained?.());
    this.#goOn();
  }

  /** A stranger whose stream nobody has answered may not leave it silent for longer than a connection. */
  override isOverdue(now: number): boolean {
    if (super.isOverdue(now)) return true;
    const isSilent = !this.#hasMessage && !this.hasSentHead && this.state === 'open' && !this.isHolding;
    return isSilent && this.connection.account === undefined && this.#begunAt <= now - this.connection.limits.idleForMs;
  }

  protected override begins(): boolean {
    return true;
  }

  protected override gotMessage(message: Buffer): void {
    this.since = undefined;
    this.#hasMessage = true;
    this.connection.turn.spend(1);
    try {
      this.#listener?.message(message);
    } catch (error) {
      this.fail(error);
    }
  }

  protected override readUntilHeld(bytes: Buffer, start: number, end: number): number {
    const wasReading = this.#isReading;
    this.#isReading = true;
    const at = super.readUntilHeld(bytes, start, end);
    this.#isReading = wasReading;
    return at;
  }

  protected override keep(bytes: Buffer, start: number, end: number): void {
    this.#unread.add(bytes, start, end);
  }

  protected override gotEnd(): void {
    this.#hasEnded = true;
    if (this.#unread.length === 0) this.#ended();
  }

  protected override gone(): void {
    this.#unread.clear();
    this.#guard(() => this.#listener?.closed());
  }

  #ended(): void {
    this.#hasToldEnd = true;
    this.since = undefined;
    if (this.partial !== undefined) {
      this.finish({ code: statusCode.internal, message: 'the request ends within a message' });
    } else {
      this.#guard(() => this.#listener?.ended());
    }
  }

  /** Reads what was kept, as far as the handler does not pause again. */
  #goOn(): void {
    if (this.#isPaused || this.#isPostponed || this.stalledSince !== undefined) return;
    this.isHolding = false;
    if (this.#isReading || this.#postpone()) return;
    if (this.partial !== undefined) this.since = performance.now();
    const { bytes, start, end } = this.#unread;
    this.#unread.drop(this.readUntilHeld(bytes, start, end));
    if (this.#hasEnded && !this.#hasToldEnd && this.#unread.length === 0 && this.isOpen) this.#ended();
    if (!this.isHolding && this.isOpen) this.#postpone();
    if (this.state !== 'closed') this.connection.touch(this);
  }

  /** Once the turn is over, what was kept waits for the next one. */
  #postpone(): boolean {
    if (this.#unread.length === 0 || !this.connection.turn.isOver) return false;
    this.#isPostponed = true;
    this.isHolding = true;
    this.connection.turn.postpone(() => {
      this.#isPostponed = false;
      this.#goOn();
    });
    return true;
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      if (this.isOpen) this.fail(error);
      // Nobody is left to hear it, but `statusOf` may log it.
      else this.connection.statusOf(error);
    }
  }
}
