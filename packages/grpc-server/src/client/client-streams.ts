import type { BlockSink } from '../calls/header-blocks.ts';
import { prefixBytes } from '../calls/partial-message.ts';
import type { Sender } from '../calls/sender.ts';
import { ConnectionError } from '../http2/connection-error.ts';
import type { ErrorCode } from '../http2/frame.ts';
import {
  defaultFrameSize,
  defaultWindow,
  errorCode,
  flag,
  frameHeaderBytes,
  frameType,
  largestStreamId,
  writeFrameHeader,
  writeUint32,
} from '../http2/frame.ts';
import type { Outbox } from '../http2/outbox.ts';
import type { Status } from '../status.ts';
import { AnswerReader } from './answer-reader.ts';
import type { CallCarrier, ClientCall } from './client-call.ts';
import type { ClientLimits } from './client-limits.ts';
import { writeTimeout } from './request-heads.ts';
import { deadlineExceeded, statusOfReset } from './transport-status.ts';

const leastSwept = 1000;

/** The calls of one connection, by their streams. */
export class ClientStreams implements BlockSink, CallCarrier {
  readonly sender: Sender;
  /** When the last bytes came, on `performance.now()`. */
  now = 0;
  /** How many calls the server takes at a time. */
  most = Number.POSITIVE_INFINITY;
  /** Whether any call has ever gone out. */
  isUsed = false;
  readonly #outbox: Outbox;
  readonly #limits: ClientLimits;
  readonly #onIdle: () => void;
  readonly #answers: AnswerReader;
  readonly #calls = new Map<number, ClientCall>();
  /** Calls for which the server or the socket has no room. */
  #waiting: ClientCall[] = [];
  #sweepAt = leastSwept;
  #nextId = 1;
  #initialWindow = defaultWindow;
  #unfinished = 0;

  constructor(outbox: Outbox, sender: Sender, limits: ClientLimits, onIdle: () => void) {
    this.#outbox = outbox;
    this.sender = sender;
    this.#limits = limits;
    this.#onIdle = onIdle;
    this.#answers = new AnswerReader(limits.headerListBytes);
  }

  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#waiting.every(({ isOver }) => isOver);
  }

  /** Stream ids are never used twice. */
  get isUsedUp(): boolean {
    return this.#nextId > largestStreamId;
  }

  get messageBytes(): number {
    return this.#limits.messageBytes;
  }

  start(call: ClientCall): void {
    if (this.#hasRoom && this.#waiting.length === 0) return this.#send(call);
    this.#waiting.push(call);
    if (this.#waiting.length >= this.#sweepAt) this.#sweep();
  }

  /** Starts calls that wait, as far as there is room. */
  startWaiting(): void {
    if (this.#waiting.length === 0 || !this.#hasRoom) return;
    let started = 0;
    for (const call of this.#waiting) {
      if (!this.#hasRoom) break;
      started++;
      if (!call.isOver) this.#send(call);
    }
    this.#waiting = this.#waiting.slice(started);
  }

  /** The calls that have not gone out. They leave this connection. */
  takeWaiting(): ClientCall[] {
    const waiting = this.#waiting.filter(({ isOver }) => !isOver);
    this.#waiting = [];
    return waiting;
  }

  /** Calls beyond this stream were not seen (RFC 9113 §6.8). Returns those that may go out again. */
  refuseAfter(lastId: number): ClientCall[] {
    const again: ClientCall[] = [];
    for (const call of [...this.#calls.values()]) {
      if (call.id <= lastId) continue;
      this.#calls.delete(call.id);
      if (call.refuse()) again.push(call);
    }
    return again;
  }

  failAll(status: Status): void {
    for (const call of [...this.#calls.values()]) call.finish(status);
  }

  headers(stream: number, isLast: boolean, bytes: Buffer, start: number, end: number): void {
    // Every block is read, because it may change the table of the decoder.
    const head = this.#answers.read(bytes, start, end);
    this.#callOf(stream)?.headers(head, isLast);
  }

  /** DATA begins. The call that it is for, if that is not over. */
  data(stream: number, length: number): ClientCall | undefined {
    const call = this.#callOf(stream);
    if (call === undefined) return undefined;
    call.receiveWindow -= length;
    if (call.receiveWindow >= 0) return call;
    throw new ConnectionError(errorCode.flowControlError, 'more DATA than the window of a stream');
  }

  dataEnds(call: ClientCall, isLast: boolean): void {
    if (call.isOver) return;
    if (isLast) return call.endWithoutStatus();
    const increment = call.replenish();
    if (increment > 0) this.sender.grant(call.id, increment);
  }

  /** Returns the call, if it may go out again. */
  rstStream(stream: number, code: number): ClientCall | undefined {
    const call = this.#callOf(stream);
    if (call === undefined) return undefined;
    this.#calls.delete(stream);
    call.hasSentAll = true;
    if (code === errorCode.refusedStream) return call.refuse() ? call : undefined;
    // A server that keeps to the deadline may be quicker to notice it than the wheel here.
    const isLate = code === errorCode.cancel && call.deadline !== undefined && call.deadline <= this.now;
    call.finish(isLate ? deadlineExceeded : statusOfReset(code));
    return undefined;
  }

  windowUpdate(stream: number, increment: number): void {
    const call = this.#callOf(stream);
    if (call === undefined) return;
    if (increment === 0 || !this.sender.widen(call, increment)) {
      throw new ConnectionError(errorCode.flowControlError, 'the window of a stream grows by nothing, or over 2^31-1');
    }
  }

  setInitialWindow(size: number): void {
    const change = size - this.#initialWindow;
    this.#initialWindow = size;
    if (change === 0) return;
    for (const call of [...this.#calls.values()]) {
      if (this.sender.widen(call, change)) continue;
      throw new ConnectionError(errorCode.flowControlError, 'the window of a stream is over 2^31-1');
    }
  }

  hold(bytes: number): void {
    this.#unfinished += bytes;
    if (bytes < 0 || this.#unfinished <= this.#limits.unfinishedBytes) return;
    throw new ConnectionError(errorCode.enhanceYourCalm, 'the unfinished messages of all calls are too large');
  }

  remove(call: ClientCall, reset: ErrorCode | undefined): void {
    if (this.#calls.delete(call.id) && reset !== undefined) this.sender.reset(call.id, reset);
    this.startWaiting();
    if (this.isIdle) this.#onIdle();
  }

  /** Lets go of calls that have ended while they waited. A server may take none for as long as it likes. */
  #sweep(): void {
    this.#waiting = this.#waiting.filter(({ isOver }) => !isOver);
    this.#sweepAt = Math.max(leastSwept, 2 * this.#waiting.length);
  }

  get #hasRoom(): boolean {
    return this.#calls.size < this.most && !this.#outbox.isCongested && !this.isUsedUp;
  }

  /** The call of a stream, if it is not over. What comes for a stream that was never opened breaks the protocol. */
  #callOf(stream: number): ClientCall | undefined {
    if (stream % 2 === 0 || stream >= this.#nextId) {
      throw new ConnectionError(errorCode.protocolError, `stream ${stream} was not opened`);
    }
    return this.#calls.get(stream);
  }

  #send(call: ClientCall): void {
    const id = this.#nextId;
    const message = call.whole;
    const length = prefixBytes + (message?.length ?? 0);
    this.#nextId += 2;
    this.isUsed = true;
    this.#calls.set(id, call);
    call.started(this, id, this.#initialWindow);
    const fits = length <= this.sender.window && length <= this.#initialWindow && length <= defaultFrameSize;
    if (message !== undefined && fits && call.head.block.length <= defaultFrameSize) {
      this.#sendAtOnce(call, message);
    } else {
      const block = Buffer.from(call.head.block);
      writeTimeoutOf(call, block, 0);
      this.sender.headers(id, block, false);
      call.sendKept();
    }
  }

  /** The whole of a usual request in one go. */
  #sendAtOnce(call: ClientCall, message: Uint8Array): void {
    const { block } = call.head;
    const length = prefixBytes + message.length;
    const from = this.#outbox.reserve(frameHeaderBytes + block.length + frameHeaderBytes + length);
    const { buffer } = this.#outbox;
    const blockAt = writeFrameHeader(buffer, from, block.length, frameType.headers, flag.endHeaders, call.id);
    buffer.set(block, blockAt);
    writeTimeoutOf(call, buffer, blockAt);
    const dataAt = writeFrameHeader(buffer, blockAt + block.length, length, frameType.data, flag.endStream, call.id);
    buffer[dataAt] = 0;
    writeUint32(buffer, dataAt + 1, message.length);
    buffer.set(message, dataAt + prefixBytes);
    this.sender.window -= length;
    call.sentLast();
  }
}

function writeTimeoutOf({ head, deadline = 0 }: ClientCall, out: Uint8Array, blockAt: number): void {
  if (head.timeoutAt >= 0) writeTimeout(out, blockAt + head.timeoutAt, Math.max(1, deadline - performance.now()));
}
