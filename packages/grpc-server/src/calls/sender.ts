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
  unsent: Uint8Array[] | undefined;
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
  /** Bytes of all calls that wait. */
  queuedBytes = 0;
  readonly #outbox: Outbox;
  readonly #onUseful: () => void;
  readonly #mostQueued: number;
  readonly #onFlood: () => void;
  /** Calls that could send if the connection could. */
  readonly #queue = new TurnQueue<Sending>(isWaiting);

  /**
   * `onUseful` is called for each message that has gone, and for each large part of one; `onFlood` when more than
   * `mostQueued` bytes wait.
   */
  constructor(outbox: Outbox, onUseful: () => void, mostQueued: number, onFlood: () => void) {
    this.#outbox = outbox;
    this.#onUseful = onUseful;
    this.#mostQueued = mostQueued;
    this.#onFlood = onFlood;
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
  message(call: Sending, message: Uint8Array): boolean {
    this.head(call);
    call.unsent ??= [];
    const { unsent } = call;
    unsent.push(message);
    this.queuedBytes += prefixBytes + message.length;
    try {
      if (unsent.length === 1) this.#sendWhatFits(call);
    } finally {
      // Whatever happens, nobody else's bytes may follow in its place.
      if (unsent.length > 0) unsent[unsent.length - 1] = new Uint8Array(message);
    }
    return this.#hasGone(call);
  }

  /** A whole answer that is not gRPC: its content goes without the prefix of a message, as if that had been sent. */
  content(call: Sending, head: Buffer, content: Uint8Array): void {
    call.hasSentHead = true;
    this.headers(call.id, head, false);
    call.unsent = [content];
    call.unsentAt = prefixBytes;
    this.queuedBytes += content.length;
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
  }

  /** Drops what a call has not sent. */
  forget(call: Sending): void {
    for (const message of call.unsent ?? []) this.queuedBytes -= prefixBytes + message.length;
    this.queuedBytes += call.unsentAt;
    call.unsent = undefined;
    call.unsentAt = 0;
    call.lastBlock = undefined;
    this.#queue.leave(call);
  }

  #readOn(call: Sending): void {
    this.#sendWhatFits(call);
    this.#settle(call);
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
    if (this.queuedBytes > this.#mostQueued) this.#onFlood();
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
    if (from === 0 && size >= prefixBytes) {
      writePrefix(buffer, at, message.length);
      buffer.set(message.subarray(0, size - prefixBytes), at + prefixBytes);
    } else {
      for (let i = from; i < Math.min(prefixBytes, from + size); i++) buffer[at + i - from] = prefixByte(message, i);
      const start = Math.max(0, from - prefixBytes);
      const end = from + size - prefixBytes;
      // Behind the prefix there may be no place in the buffer, not even for nothing.
      if (end > start) buffer.set(message.subarray(start, end), at + Math.max(0, prefixBytes - from));
    }
    this.window -= size;
    call.sendWindow -= size;
    this.queuedBytes -= size;
    call.unsentAt += size;
    const isWhole = call.unsentAt === total;
    if (isWhole) {
      call.unsent?.shift();
      call.unsentAt = 0;
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

function writePrefix(out: Uint8Array, at: number, length: number): void {
  out[at] = 0;
  writeUint32(out, at + 1, length);
}

function prefixByte(message: Uint8Array, index: number): number {
  return index === 0 ? 0 : (message.length >>> (8 * (4 - index))) & 255;
}
