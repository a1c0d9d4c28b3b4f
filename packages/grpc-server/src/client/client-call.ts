import { PartialMessage, prefixBytes } from '../calls/partial-message.ts';
import type { Sender, Sending } from '../calls/sender.ts';
import type { ErrorCode } from '../http2/frame.ts';
import { defaultWindow, errorCode, readUint32 } from '../http2/frame.ts';
import type { Timed } from '../limits/deadline-wheel.ts';
import { Metadata } from '../metadata.ts';
import type { Status } from '../status.ts';
import { statusCode } from '../status.ts';
import type { AnswerHead, HeadFault } from './answer-head.ts';
import type { CallListener } from './call-listener.ts';
import { tellEnded, tellMessage, tellOpened } from './call-listener.ts';
import type { RequestHead } from './request-heads.ts';
import { cancelled, deadlineExceeded, neverConnected, refused, statusOfAnswer } from './transport-status.ts';

/** What a call needs of its connection. */
export interface CallCarrier {
  readonly sender: Sender;
  readonly messageBytes: number;
  /** The unfinished message of a call declares so many bytes more, or less. */
  hold(bytes: number): void;
  /** The call is over. Anything but `undefined` tells the server so. */
  remove(call: ClientCall, reset: ErrorCode | undefined): void;
}

/** Who looks after calls that wait for a connection. */
export interface CallOwner {
  forget(call: ClientCall): void;
}

/** What a call keeps, so that it can be sent again if the server has refused it unseen. */
const mostKept = 1024 * 1024;
const nothing: Buffer = Buffer.alloc(0);
const noMetadata = new Metadata([]);
const faultCodes: Readonly<Record<HeadFault, number>> = {
  'too large': statusCode.resourceExhausted,
  malformed: statusCode.internal,
  'not of gRPC': statusCode.unknown,
};

/** One call: what it has sent, and what came back. */
export class ClientCall implements Sending, Timed {
  id = 0;
  sendWindow = 0;
  receiveWindow = defaultWindow;
  readonly hasSentHead = true;
  readonly headFields = undefined;
  unsent: Uint8Array[] | undefined;
  unsentAt = 0;
  lastBlock: Buffer | undefined;
  isQueued = false;
  previousTimed: Timed | undefined;
  nextTimed: Timed | undefined;
  timedSlot = 0;
  /** Whether the last frame of the request has gone. */
  hasSentAll = false;
  isOver = false;
  readonly head: RequestHead;
  readonly deadline: number | undefined;
  readonly waitsForReady: boolean;
  readonly #listener: CallListener;
  readonly #owner: CallOwner;
  readonly #messageBytes: number | undefined;
  #carrier: CallCarrier | undefined;
  /** All that was sent, until it is too much or the server has begun to answer. */
  #kept: Uint8Array[] | undefined = [];
  #keptBytes = 0;
  #hasEnded = false;
  #answer: AnswerHead | undefined;
  #partial: PartialMessage | undefined;
  /** What the unfinished message counts for on its connection. */
  #held = 0;
  #mayStartAgain = true;

  constructor(
    head: RequestHead,
    deadline: number | undefined,
    waitsForReady: boolean,
    listener: CallListener,
    owner: CallOwner,
    messageBytes?: number,
  ) {
    this.head = head;
    this.deadline = deadline;
    this.waitsForReady = waitsForReady;
    this.#listener = listener;
    this.#owner = owner;
    this.#messageBytes = messageBytes;
  }

  /** The one message of a call that is as short as most are; undefined if it sends otherwise. */
  get whole(): Uint8Array | undefined {
    return this.#hasEnded && this.#kept?.length === 1 ? this.#kept[0] : undefined;
  }

  send(message: Uint8Array): void {
    if (this.isOver || this.#hasEnded) return;
    this.#kept?.push(message);
    this.#keptBytes += message.length;
    if (this.#carrier === undefined) return;
    if (this.#keptBytes > mostKept) this.#kept = undefined;
    this.#carrier.sender.message(this, message);
  }

  /** No more messages follow. */
  end(): void {
    if (this.isOver || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#carrier?.sender.last(this, nothing);
  }

  /** Ends the call here, with a status of the caller's. */
  cancel(status: Status = cancelled): void {
    if (this.isOver) return;
    this.#leave(errorCode.cancel);
    process.nextTick(() => tellEnded(this.#listener, status, noMetadata));
  }

  expire(): void {
    this.cancel(this.#carrier === undefined ? neverConnected : deadlineExceeded);
  }

  /** It gets a connection and a stream. The head has gone. */
  started(carrier: CallCarrier, id: number, sendWindow: number): void {
    this.#carrier = carrier;
    this.id = id;
    this.sendWindow = sendWindow;
  }

  /** Sends what has been waiting for the connection. */
  sendKept(): void {
    const { sender } = this.#carrier ?? {};
    for (const message of this.#kept ?? []) sender?.message(this, message);
    if (this.#hasEnded) sender?.last(this, nothing);
    if (this.#keptBytes > mostKept) this.#kept = undefined;
  }

  sentLast(): void {
    this.hasSentAll = true;
  }

  stalled(): void {}
  drained(): void {}

  /** The server has not seen the call. True if it may go out again, which it may once. */
  refuse(): boolean {
    const isKept = this.#answer === undefined && this.#kept !== undefined && !this.isQueued;
    const mayStartAgain = this.#mayStartAgain && isKept;
    if (!mayStartAgain) {
      this.finish(refused);
      return false;
    }
    this.#mayStartAgain = false;
    this.#detach();
    this.hasSentAll = false;
    this.receiveWindow = defaultWindow;
    return true;
  }

  /** A header block: the head of the answer, or its trailers. */
  headers(head: AnswerHead, isLast: boolean): void {
    if (head.fault !== undefined) return this.#refuseHead(head.fault);
    const isHead = this.#answer === undefined;
    // An informational answer precedes the one that counts (RFC 9113 §8.1).
    if (isHead && !isLast && head.httpStatus !== undefined && head.httpStatus < 200) return;
    if (isHead ? head.httpStatus === undefined : head.httpStatus !== undefined || !isLast) {
      return this.#refuseHead('malformed');
    }
    this.#answer ??= head;
    this.#kept = undefined;
    if (!isLast) {
      if (this.#answer.httpStatus === 200) tellOpened(this.#listener, head.metadata);
      return;
    }
    this.finish(head.status ?? statusOfAnswer(this.#answer.httpStatus ?? 0), head.metadata);
  }

  /** Content of a DATA frame. */
  take(bytes: Buffer, start: number, end: number): void {
    if (this.#answer?.httpStatus !== 200) return this.#takeForeign();
    for (let at = start; at < end && !this.isOver; ) {
      at = this.#partial === undefined ? this.#begin(bytes, at, end) : this.#goOn(this.#partial, bytes, at, end);
    }
  }

  /** What the server may send on, beyond what it may already: nothing until half of that is used up. */
  replenish(): number {
    const missing = this.#partial?.missing ?? 0;
    if (this.isOver || this.receiveWindow > missing + defaultWindow / 2) return 0;
    const increment = missing + defaultWindow - this.receiveWindow;
    this.receiveWindow += increment;
    return increment;
  }

  /** The stream has ended without trailers. */
  endWithoutStatus(): void {
    this.finish(statusOfAnswer(this.#answer?.httpStatus ?? 200));
  }

  /** The call has ended at the server, or with the connection. */
  finish(status: Status, metadata: Metadata = noMetadata): void {
    if (this.isOver) return;
    // Whoever has answered need not read the rest of the request.
    this.#leave(this.hasSentAll ? undefined : errorCode.cancel);
    tellEnded(this.#listener, status, metadata);
  }

  #begin(bytes: Buffer, at: number, end: number): number {
    if (bytes[at] !== 0) {
      this.#fail(statusCode.internal, 'a message is compressed, which was not asked for');
      return end;
    }
    if (end - at >= prefixBytes) {
      const length = readUint32(bytes, at + 1);
      if (!this.#accepts(length)) return end;
      const start = at + prefixBytes;
      if (end - start >= length) {
        tellMessage(this.#listener, bytes.subarray(start, start + length));
        return start + length;
      }
    }
    this.#partial = new PartialMessage();
    return this.#goOn(this.#partial, bytes, at, end);
  }

  #goOn(partial: PartialMessage, bytes: Buffer, at: number, end: number): number {
    const hadPrefix = partial.length !== undefined;
    const next = partial.take(bytes, at, end);
    if (!hadPrefix && partial.length !== undefined) {
      if (!this.#accepts(partial.length)) return end;
      this.#held = partial.length;
      this.#carrier?.hold(this.#held);
    }
    if (partial.isComplete) {
      this.#dropPartial();
      tellMessage(this.#listener, partial.message);
    }
    return next;
  }

  #accepts(length: number): boolean {
    const most = this.#messageBytes ?? this.#carrier?.messageBytes ?? 0;
    if (length > most) {
      this.#fail(statusCode.resourceExhausted, `Received message larger than max (${length} vs ${most})`);
    }
    return length <= most;
  }

  /** A page of a proxy is no message. Its status says what there is to say. */
  #takeForeign(): void {
    const { httpStatus } = this.#answer ?? {};
    if (httpStatus === undefined) this.#fail(statusCode.internal, 'a message comes before the head of the answer');
    else this.finish(statusOfAnswer(httpStatus));
  }

  #refuseHead(fault: HeadFault): void {
    this.#fail(faultCodes[fault], `the answer cannot be read: its head is ${fault}`);
  }

  #fail(code: number, message: string): void {
    this.#leave(errorCode.cancel);
    tellEnded(this.#listener, { code, message }, noMetadata);
  }

  #leave(reset: ErrorCode | undefined): void {
    this.isOver = true;
    const carrier = this.#carrier;
    this.#detach();
    this.#kept = undefined;
    this.#owner.forget(this);
    carrier?.remove(this, reset);
  }

  #detach(): void {
    this.#dropPartial();
    this.#carrier?.sender.forget(this);
    this.#carrier = undefined;
  }

  #dropPartial(): void {
    if (this.#held > 0) this.#carrier?.hold(-this.#held);
    this.#held = 0;
    this.#partial = undefined;
  }
}
