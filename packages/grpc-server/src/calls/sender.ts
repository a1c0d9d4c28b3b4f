import { ConnectionError } from '../http2/connection-error.ts';
import type { ErrorCode } from '../http2/frame.ts';
import {
  defaultFrameSize,
  defaultWindow,
  errorCode,
  flag,
  frameHeaderBytes,
  frameType,
  largestWindow,
  writeFrameHeader,
  writeUint32,
} from '../http2/frame.ts';
import type { Outbox } from '../http2/outbox.ts';
import type { RoomShare } from '../limits/shared-room.ts';
import type { Message } from './message.ts';
import { kept, memoryOf, writePart, writePrefix } from './message.ts';
import { prefixBytes } from './partial-message.ts';
import { TurnQueue } from './turn-queue.ts';
import { headBlockWith, headFrame, okFrame, streamIdAt } from './response-blocks.ts';

/** Smaller parts of messages may be the work of tiny windows. */
const usefulFrame = 1024;

/** The sending side of a call, which belongs to the sender. */
export interface Sending {
  readonly id: number;
  sendWindow: number;
  hasSentHead: boolean;
  /** Encoded metadata for the head. */
  readonly headFields: Buffer | undefined;
  /** Messages that wait for the peer to read, and how much of the first has gone, prefix included. */
  unsent: Message[] | undefined;
  unsentAt: number;
  /** The last header block, which waits behind them. An empty one stands for an empty DATA frame. */
  lastBlock: Buffer | undefined;
  isQueued: boolean;
  /** The status was written. */
  sentLast(): void;
  /** Messages have begun to wait, or none waits any more. */
  stalled(): void;
  drained(): void;
}

/** Sends the answers of one connection, as far as flow control lets it (RFC 9113 §5.2). */
export class Sender {
  /** What the connection may still send. */
  window = defaultWindow;
  /** The memory of the messages that wait. */
  keptBytes = 0;
  /** Bytes of messages that have gone to the outbox. */
  sentBytes = 0;
  /** What the peer has not taken. */
  readonly unsent: RoomShare;
  readonly #outbox: Outbox;
  readonly #onUseful: () => void;
  /** Calls that could send if the connection could. */
  readonly #queue = new TurnQueue<Sending>(isWaiting);

  /** `onUseful` is called for each message that has gone, and for each large part of one. */
  constructor(outbox: Outbox, onUseful: () => void, unsent: RoomShare) {
    this.#outbox = outbox;
    this.#onUseful = onUseful;
    this.unsent = unsent;
    outbox.onHeld = () => this.#noteHeld();
  }

  /** How much the peer has taken, of messages if they wait for its windows, else of anything. */
  get takenBytes(): number {
    return this.#outbox.heldBytes === 0 ? this.sentBytes : this.#outbox.takenBytes;
  }

  /** The whole of a usual unary answer in one go. False, with nothing done, if it does not fit. */
  answerAtOnce(call: Sending, message: Uint8Array): boolean {
    const length = prefixBytes + message.length;
    if (length > this.window || length > call.sendWindow || length > defaultFrameSize || this.#outbox.isCongested) {
      return false;
    }
    const { id } = call;
    const headAt = this.#outbox.reserve(headFrame.length + frameHeaderBytes + length + okFrame.length);
    const { buffer } = this.#outbox;
    buffer.set(headFrame, headAt);
    writeUint32(buffer, headAt + streamIdAt, id);
    const dataAt = writeFrameHeader(buffer, headAt + headFrame.length, length, frameType.data, 0, id);
    writePrefix(buffer, dataAt, message.length);
    buffer.set(message, dataAt + prefixBytes);
    const lastAt = dataAt + length;
    buffer.set(okFrame, lastAt);
    writeUint32(buffer, lastAt + streamIdAt, id);
    this.window -= length;
    call.hasSentHead = true;
    return true;
  }

  head(call: Sending): void {
    if (call.hasSentHead) return;
    call.hasSentHead = true;
    this.headers(call.id, headBlockWith(call.headFields), false);
  }

  /** Returns whether all of it has gone. What has not is a copy: the bytes are only lent. */
  message(call: Sending, message: Message): boolean {
    this.head(call);
    call.unsent ??= [];
    const { unsent } = call;
    this.#queueMessage(unsent, message);
    try {
      if (unsent.length === 1) this.#sendWhatFits(call);
    } finally {
      // Whatever happens, nobody else's bytes may follow in its place.
      if (unsent.length > 0) unsent[unsent.length - 1] = kept(message);
    }
    return this.#hasGone(call);
  }

  /** A whole answer that is not gRPC: its content goes without the prefix of a message, as if that had been sent. */
  content(call: Sending, head: Buffer, content: Uint8Array): void {
    call.hasSentHead = true;
    this.headers(call.id, head, false);
    call.unsent = [];
    this.#queueMessage(call.unsent, content);
    call.unsentAt = prefixBytes;
    this.#sendWhatFits(call);
    this.#hasGone(call);
    this.last(call, Buffer.alloc(0));
  }

  /** Sends the last block now, or behind the messages that wait. */
  last(call: Sending, block: Buffer): void {
    call.hasSentHead = true;
    if (isWaiting(call)) {
      call.lastBlock = block;
    } else {
      this.#end(call, block);
    }
  }

  /** A header block, in as many frames as it takes. */
  headers(stream: number, block: Buffer, isLast: boolean): void {
    for (let at = 0; at === 0 || at < block.length; at += defaultFrameSize) {
      const part = block.subarray(at, at + defaultFrameSize);
      const type = at === 0 ? frameType.headers : frameType.continuation;
      const end = at + defaultFrameSize >= block.length ? flag.endHeaders : 0;
      const flags = end | (isLast && at === 0 ? flag.endStream : 0);
      const place = this.#outbox.reserve(frameHeaderBytes + part.length);
      this.#outbox.buffer.set(part, writeFrameHeader(this.#outbox.buffer, place, part.length, type, flags, stream));
    }
  }

  reset(stream: number, code: ErrorCode): void {
    this.#word(frameType.rstStream, stream, code);
  }

  grant(stream: number, increment: number): void {
    this.#word(frameType.windowUpdate, stream, increment);
  }

  /** The peer takes more of the connection. */
  widenAll(increment: number): void {
    if (increment === 0) throw new ConnectionError(errorCode.protocolError, 'WINDOW_UPDATE of 0');
    this.window += increment;
    if (this.window > largestWindow) {
      throw new ConnectionError(errorCode.flowControlError, 'the window of the connection is over 2^31-1');
    }
    this.pump();
  }

  /** The peer takes more of this call. False if its window would be over 2^31-1. */
  widen(call: Sending, increment: number): boolean {
    call.sendWindow += increment;
    if (call.sendWindow > largestWindow) return false;
    if (isWaiting(call)) this.#readOn(call);
    return true;
  }

  /** Sends what waits, one frame of each call in turn, until the window or the socket is full. */
  pump(): void {
    while (!this.#queue.isEmpty && this.window > 0 && !this.#outbox.isCongested) {
      const call = this.#queue.next();
      if (call === undefined || !isWaiting(call)) continue;
      this.#sendFrame(call);
      this.#settle(call);
    }
    this.#noteHeld();
  }

  /** Drops what a call has not sent. */
  forget(call: Sending): void {
    for (const message of call.unsent ?? []) this.keptBytes -= memoryOf(message);
    call.unsent = undefined;
    call.unsentAt = 0;
    call.lastBlock = undefined;
    this.#queue.leave(call);
    this.#noteHeld();
  }

  /** Counts what is held now. */
  #noteHeld(): void {
    this.unsent.hold(this.keptBytes + this.#outbox.heldBytes);
  }

  #queueMessage(unsent: Message[], message: Message): void {
    unsent.push(message);
    this.keptBytes += memoryOf(message);
  }

  #readOn(call: Sending): void {
    this.#sendWhatFits(call);
    this.#settle(call);
    this.#noteHeld();
  }

  #sendWhatFits(call: Sending): void {
    while (isWaiting(call) && this.#sendFrame(call)) continue;
  }

  /** A call whose messages have all gone may end, or go on; any other waits for its turn. */
  #settle(call: Sending): void {
    if (isWaiting(call)) {
      this.#enqueue(call);
    } else if (call.lastBlock !== undefined) {
      const block = call.lastBlock;
      call.lastBlock = undefined;
      this.#end(call, block);
    } else {
      call.drained();
    }
  }

  #end(call: Sending, block: Buffer): void {
    if (block.length > 0) this.headers(call.id, block, true);
    else this.#emptyData(call.id);
    call.sentLast();
  }

  /** Whether all messages of a call have gone. If not, it waits for its turn. */
  #hasGone(call: Sending): boolean {
    if (!isWaiting(call)) return true;
    this.#enqueue(call);
    call.stalled();
    this.#noteHeld();
    return false;
  }

  /** A call with a window of its own waits for its turn; any other waits for `widen`. */
  #enqueue(call: Sending): void {
    if (call.sendWindow > 0) this.#queue.add(call);
  }

  /** One DATA frame of the first message that waits. False if none may be sent. */
  #sendFrame(call: Sending): boolean {
    const message = call.unsent?.[0];
    if (message === undefined || this.#outbox.isCongested) return false;
    const total = prefixBytes + message.length;
    const from = call.unsentAt;
    const size = Math.min(total - from, this.window, call.sendWindow, defaultFrameSize);
    if (size <= 0) return false;
    const place = this.#outbox.reserve(frameHeaderBytes + size);
    const { buffer } = this.#outbox;
    const at = writeFrameHeader(buffer, place, size, frameType.data, 0, call.id);
    writePart(message, from, size, buffer, at);
    this.window -= size;
    call.sendWindow -= size;
    this.sentBytes += size;
    call.unsentAt += size;
    const isWhole = call.unsentAt === total;
    if (isWhole) {
      call.unsent?.shift();
      call.unsentAt = 0;
      this.keptBytes -= memoryOf(message);
    }
    if (isWhole || size >= usefulFrame) this.#onUseful();
    return true;
  }

  /** Ends a stream, which no window forbids. */
  #emptyData(stream: number): void {
    const place = this.#outbox.reserve(frameHeaderBytes);
    writeFrameHeader(this.#outbox.buffer, place, 0, frameType.data, flag.endStream, stream);
  }

  #word(type: number, stream: number, value: number): void {
    const place = this.#outbox.reserve(frameHeaderBytes + 4);
    writeUint32(this.#outbox.buffer, writeFrameHeader(this.#outbox.buffer, place, 4, type, 0, stream), value);
  }
}

function isWaiting({ unsent }: Sending): boolean {
  return unsent !== undefined && unsent.length > 0;
}
