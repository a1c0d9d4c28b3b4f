import type { Socket } from 'node:net';
import { HeaderBlocks } from './calls/header-blocks.ts';
import { Sender } from './calls/sender.ts';
import type { ServerCall } from './calls/server-call.ts';
import type { Shared } from './calls/shared.ts';
import { Streams } from './calls/streams.ts';
import { Turn } from './calls/turn.ts';
import { ConnectionError, requireLength, unexpected } from './http2/connection-error.ts';
import { goAwayFrame, pingBytes, pingFrame } from './http2/control-frames.ts';
import type { ErrorCode } from './http2/frame.ts';
import { defaultWindow, errorCode, flag, frameType, largestStreamId, readUint31, settingId } from './http2/frame.ts';
import type { FrameSink } from './http2/frame-reader.ts';
import { Intake } from './http2/intake.ts';
import { Outbox } from './http2/outbox.ts';
import { ReceiveWindow } from './http2/receive-window.ts';
import { defaultSettings, readSettings, settingsAck, settingsFrame } from './http2/settings.ts';
import { PeerBudget } from './limits/peer-budget.ts';
import { RoomShares } from './limits/rooms.ts';

const keepalive = Buffer.from('are you?');
const farewell = Buffer.from('farewell');

/** One connection: reads frames, and ends with GOAWAY on whatever breaks the rules. */
export class Connection implements FrameSink {
  readonly streams: Streams;
  /** When a PING was sent that is not acknowledged. */
  pingedAt: number | undefined;
  /** When it began to close. */
  closingSince: number | undefined;
  readonly #socket: Socket;
  readonly #shared: Shared;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #budget: PeerBudget;
  readonly #intake: Intake;
  readonly #peer = defaultSettings();
  #hasSettings = false;
  readonly #blocks: HeaderBlocks;
  readonly #window = new ReceiveWindow();
  #dataCall: ServerCall | undefined;
  #isDataLast = false;
  readonly #turn: Turn;
  #isDraining = false;
  #isLeaving = false;

  constructor(socket: Socket, shared: Shared, onClosed: (connection: Connection) => void) {
    const now = performance.now();
    this.#socket = socket;
    this.#shared = shared;
    this.#budget = new PeerBudget(shared.limits, now);
    this.#outbox = new Outbox(socket, () => this.#drained());
    const shares = new RoomShares(shared.rooms, (why) => this.#calm(why));
    this.#sender = new Sender(this.#outbox, () => this.#budget.sent(), shares.unsent);
    this.#turn = new Turn(shared.order, () => this.#intake.rest());
    const parts = { sender: this.#sender, shares, turn: this.#turn, budget: this.#budget };
    this.streams = new Streams(shared, parts, now, () => this.#leaveIfIdle());
    this.#blocks = new HeaderBlocks(shared.limits, this.streams);
    this.#intake = new Intake(socket, this.#outbox, this, {
      read: (isNew, bytes, read) => this.#read(isNew, bytes, read),
      rest: (goOn) => this.#rest(goOn),
      discard: (bytes, goOn) => this.#turn.discard(bytes, goOn) || socket.destroy(),
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#closed();
      onClosed(this);
    });
    this.#greet();
  }

  /** Since when a frame or header block is unfinished. */
  get unfinishedSince(): number | undefined {
    return this.#blocks.since ?? this.#intake.unfinishedSince;
  }

  /** When it was accepted, until the preface has come. */
  get prefaceSince(): number | undefined {
    return this.#intake.prefaceSince;
  }

  /** Since when the peer takes nothing, so that nothing is read from it. */
  get blockedSince(): number | undefined {
    return this.#intake.blockedSince;
  }

  get mayReadOn(): boolean {
    return !this.#turn.isOver && !this.#outbox.isCongested;
  }

  ping(now: number): void {
    this.pingedAt = now;
    this.#outbox.put(pingFrame(keepalive, false));
  }

  /** Ends the connection: says why, and closes without waiting for an answer. */
  end(code: ErrorCode, message: string): void {
    if (this.closingSince !== undefined) return;
    this.#outbox.put(goAwayFrame(this.streams.lastId, code, message));
    this.#outbox.flush();
    this.#closed();
    this.#socket.end();
  }

  /** Ends the connection without a word. */
  destroy(): void {
    this.#closed();
    this.#socket.destroy();
  }

  /**
   * Lets the peer finish (RFC 9113 §6.8): first it hears that no new calls are wanted, and a round trip later, when all
   * that it sent before has come, which was the last.
   */
  drain(): void {
    if (this.#isDraining || this.closingSince !== undefined) return;
    this.#isDraining = true;
    this.#outbox.put(goAwayFrame(largestStreamId, errorCode.noError, ''));
    this.#outbox.put(pingFrame(farewell, false));
    this.#outbox.flush();
  }

  /** Takes no more calls from now on, and closes once there are none. */
  leave(): void {
    if (this.#isLeaving || this.closingSince !== undefined) return;
    this.#isLeaving = true;
    this.streams.lastAllowed = this.streams.lastId;
    this.#outbox.put(goAwayFrame(this.streams.lastId, errorCode.noError, ''));
    this.#leaveIfIdle();
  }

  dataBegins(stream: number, length: number, content: number, isLast: boolean): void {
    if (this.#blocks.isOpen || stream === 0 || !this.#hasSettings) throw unexpected('DATA');
    this.#window.take(length);
    if (content === 0 && !isLast) this.#budget.idleFrame(this.streams.now);
    this.#turn.spend(1);
    this.#dataCall = this.streams.data(stream, length);
    this.#isDataLast = isLast;
  }

  dataPart(bytes: Buffer, start: number, end: number): number {
    const call = this.#dataCall;
    if (call === undefined) return end;
    this.streams.touch(call);
    return call.take(bytes, start, end);
  }

  dataEnds(): void {
    const call = this.#dataCall;
    this.#dataCall = undefined;
    if (call !== undefined && this.#isDataLast && call.state === 'open') call.endInput();
  }

  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (this.#blocks.isOpen && type !== frameType.continuation) throw unexpected('a frame');
    if (!this.#hasSettings && (type !== frameType.settings || (flags & flag.ack) !== 0)) {
      throw new ConnectionError(errorCode.protocolError, 'the first frame is not SETTINGS');
    }
    this.#turn.spend(1 + ((end - start) >> 8));
    switch (type) {
      case frameType.headers:
        this.#blocks.headers(flags, stream, bytes, start, end);
        break;
      case frameType.continuation:
        this.#blocks.continuation(flags, stream, bytes, start, end);
        break;
      case frameType.rstStream:
        requireLength(end - start, 4);
        if (stream === 0) throw unexpected('RST_STREAM');
        this.streams.rstStream(stream);
        break;
      case frameType.windowUpdate:
        this.#windowUpdate(stream, bytes, start, end);
        break;
      case frameType.settings:
        this.#settings(flags, stream, bytes, start, end);
        break;
      case frameType.ping:
        this.#pinged(flags, stream, bytes, start, end);
        break;
      case frameType.priority:
        this.#budget.idleFrame(this.streams.now);
        if (stream === 0) throw unexpected('PRIORITY');
        if (end - start !== 5) this.streams.priorityFault(stream);
        break;
      case frameType.goAway:
        this.#budget.idleFrame(this.streams.now);
        if (stream !== 0) throw unexpected('GOAWAY');
        if (end - start < 8) throw new ConnectionError(errorCode.frameSizeError, 'GOAWAY is too short');
        break;
      case frameType.pushPromise:
        throw unexpected('PUSH_PROMISE');
      default:
        // Frames of unknown types are ignored (RFC 9113 §5.5).
        this.#budget.idleFrame(this.streams.now);
    }
  }

  #greet(): void {
    const { streams, headerListBytes } = this.#shared.limits;
    this.#outbox.put(
      settingsFrame([
        [settingId.maxConcurrentStreams, streams],
        [settingId.maxHeaderListSize, headerListBytes],
      ]),
    );
    this.#sender.grant(0, this.#window.size - defaultWindow);
  }

  #read(isNew: boolean, bytes: number, read: (now: number) => void): void {
    const now = performance.now();
    this.streams.beginTurn(now);
    this.pingedAt = undefined;
    this.#turn.enter(bytes, now);
    this.#outbox.beginBatch();
    try {
      if (isNew) this.#turn.begin();
      read(now);
      this.streams.endTurn();
      const increment = this.#window.replenish();
      if (increment > 0) this.#sender.grant(0, increment);
    } catch (error) {
      this.#endFor(error);
    }
    this.#outbox.endBatch();
    this.#turn.leave();
  }

  #rest(goOn: () => void): void {
    if (!this.#turn.queue(goOn)) this.#calm('too many have sent more than there is time to read');
  }

  #closed(): void {
    this.#intake.stop();
    this.#turn.stop();
    this.closingSince ??= performance.now();
    this.streams.closeAll();
  }

  #endFor(error: unknown): void {
    if (error instanceof ConnectionError) this.end(error.code, error.message);
    else this.end(errorCode.internalError, this.#shared.statusOf(error).message);
  }

  /** Comes after the handlers at work, which are not interrupted. A peer that does not read would not hear why. */
  #calm(message: string): void {
    const { enhanceYourCalm } = errorCode;
    process.nextTick(() => (this.#outbox.heldBytes > 0 ? this.destroy() : this.end(enhanceYourCalm, message)));
  }

  #drained(): void {
    try {
      this.#sender.pump();
      this.#intake.drained();
      if (this.#turn.hasPostponed) this.#intake.rest();
    } catch (error) {
      this.#endFor(error);
    }
  }

  #windowUpdate(stream: number, bytes: Buffer, start: number, end: number): void {
    requireLength(end - start, 4);
    this.#budget.idleFrame(this.streams.now);
    const increment = readUint31(bytes, start);
    if (stream === 0) this.#sender.widenAll(increment);
    else this.streams.windowUpdate(stream, increment);
  }

  #settings(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) throw unexpected('SETTINGS');
    if ((flags & flag.ack) !== 0) {
      this.#budget.idleFrame(this.streams.now);
      requireLength(end - start, 0);
      return;
    }
    this.#hasSettings = true;
    // Dear, because it may change the window of every stream.
    this.#budget.fault(this.streams.now);
    readSettings(this.#peer, bytes, start, end);
    // Before what a new window lets out, because it comes "immediately" (RFC 9113 §6.5.3).
    this.#outbox.put(settingsAck);
    this.streams.setInitialWindow(this.#peer.initialWindow);
  }

  #pinged(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) throw unexpected('PING');
    requireLength(end - start, pingBytes);
    this.#budget.idleFrame(this.streams.now);
    const payload = bytes.subarray(start, end);
    if ((flags & flag.ack) === 0) this.#outbox.put(pingFrame(payload, true));
    else if (this.#isDraining && farewell.equals(payload)) this.leave();
  }

  #leaveIfIdle(): void {
    if (!this.#isLeaving || this.streams.calls.size > 0 || this.closingSince !== undefined) return;
    this.closingSince = performance.now();
    this.#intake.stop();
    this.#outbox.flush();
    this.#socket.end();
  }
}
