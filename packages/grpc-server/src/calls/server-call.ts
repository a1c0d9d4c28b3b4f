import type { Call } from '../handlers.ts';
import { encodeFields } from '../hpack/encoder.ts';
import { defaultWindow, errorCode, readUint32 } from '../http2/frame.ts';
import type { StreamState } from '../http2/stream-state.ts';
import { nextState } from '../http2/stream-state.ts';
import type { Timed } from '../limits/deadline-wheel.ts';
import type { Claim } from '../limits/message-room.ts';
import type { Metadata, MetadataEntries } from '../metadata.ts';
import { metadataFields } from '../metadata.ts';
import type { Status } from '../status.ts';
import { compressed, deadlineExceeded, misflagged, tooLarge, tooLargeYet } from './call-faults.ts';
import type { Carrier } from './carrier.ts';
import { besideEach } from './message.ts';
import { PartialMessage, prefixBytes } from './partial-message.ts';
import { isUnproven, mayGrowTo, prove } from './prove-message.ts';
import type { RequestHead } from './request-head.ts';
import { trailerBlock } from './response-blocks.ts';
import type { Sending } from './sender.ts';

/** The overhead of each call. */
const besideCall = 1024;
/** How far a message may be behind while others wait for its room, as a share of the time that it has. */
const mayLag = 1 / 15;

/** One call: its stream's state, what it has received and what it still has to send. */
export abstract class ServerCall implements Call, Claim, Sending, Timed {
  readonly id: number;
  readonly connection: Carrier<ServerCall>;
  readonly deadline: number | undefined;
  /** Of the stream (RFC 9113 §5.1). */
  state: Exclude<StreamState, 'idle'> = 'open';
  isOpen = true;
  /** Whether its answer is useful work, which pays for the peer's control frames. */
  isUseful = true;
  /** Since when a message is unfinished. */
  since: number | undefined;
  held = 0;
  waitsWith = 0;
  isTouched = false;
  isProving = false;
  sendWindow: number;
  receiveWindow = defaultWindow;
  hasSentHead = false;
  headFields: Buffer | undefined;
  unsent: Uint8Array[] | undefined;
  unsentAt = 0;
  lastBlock: Buffer | undefined;
  isQueued = false;
  /** Since when answers wait for the peer to read. */
  stalledSince: number | undefined;
  /** How much of the first of them had gone when that was last looked at. */
  seenUnsentAt = 0;
  previousTimed: Timed | undefined;
  nextTimed: Timed | undefined;
  timedSlot = 0;
  protected readonly requestHead: RequestHead;
  protected partial: PartialMessage | undefined;
  protected isWaitingForRoom = false;
  /** Whether what comes is kept unread. */
  protected isHolding = false;
  #trailerFields: Buffer | undefined;
  #bodyLeft: number;
  /** When it got room that it had waited for. */
  #roomSince = 0;

  constructor(id: number, connection: Carrier<ServerCall>, head: RequestHead, sendWindow: number) {
    this.id = id;
    this.connection = connection;
    this.requestHead = head;
    this.sendWindow = sendWindow;
    this.deadline = head.timeoutMs === undefined ? undefined : connection.now + head.timeoutMs;
    this.#bodyLeft = head.contentLength;
  }

  get path(): string {
    return this.requestHead.path;
  }

  get metadata(): Metadata {
    return this.requestHead.metadata;
  }

  get needed(): number {
    if (this.state === 'closed') return 0;
    const { partial } = this;
    // Trusted calls are bounded by their number.
    const head = this.connection.account === undefined ? this.requestHead.size + besideCall : 0;
    const unfinished = partial === undefined ? 0 : mayGrowTo(this.connection, partial) + besideEach;
    return head + this.heldBytes + unfinished;
  }

  /** What was received in whole and not handed on. */
  protected abstract readonly heldBytes: number;
  /** How far the peer may send beyond the message that has begun. */
  protected abstract readonly spareWindow: number;
  /** A message may begin; false after the call was refused for it. */
  protected abstract begins(): boolean;
  protected abstract gotMessage(message: Buffer): void;
  protected abstract gotEnd(): void;
  /** Called once, when the stream is closed. */
  protected abstract gone(): void;
  abstract stalled(): void;
  abstract drained(): void;

  trust(account = ''): void {
    this.connection.trust(account);
  }

  setHeaders(entries: MetadataEntries): void {
    this.headFields = encodeFields(metadataFields(entries));
  }

  setTrailers(entries: MetadataEntries): void {
    this.#trailerFields = encodeFields(metadataFields(entries));
  }

  fail(error: unknown): void {
    if (this.isOpen) this.finish(this.connection.statusOf(error));
  }

  /** Ends the call with a status, unless it has ended. */
  finish(status: Status): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.connection.sender.last(this, trailerBlock(status, this.hasSentHead, this.headFields, this.#trailerFields));
  }

  protected get hasExtraFields(): boolean {
    return this.headFields !== undefined || this.#trailerFields !== undefined;
  }

  /** Content of a DATA frame. Returns where it stopped, which is before the end if others should have their turn. */
  take(bytes: Buffer, start: number, end: number): number {
    // RFC 9113 §8.1.1: a body that is not as long as content-length says is malformed.
    if (this.#bodyLeft >= 0 && end - start > this.#bodyLeft) {
      this.connection.reset(this, errorCode.protocolError);
      return end;
    }
    const stop = this.read(bytes, start, end);
    if (this.#bodyLeft >= 0) this.#bodyLeft -= stop - start;
    return stop;
  }

  protected read(bytes: Buffer, start: number, end: number): number {
    const at = this.readUntilHeld(bytes, start, end);
    if (!this.isOpen) return end;
    if (!this.isHolding) return at;
    this.keep(bytes, at, end);
    return end;
  }

  /** Reads messages until the call holds or ends, or the turn is over, and returns where it stopped. */
  protected readUntilHeld(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && this.isOpen && !this.isHolding) {
      at = this.partial === undefined ? this.#begin(bytes, at, end) : this.#goOn(this.partial, bytes, at, end);
      if (this.connection.turn.isOver) break;
    }
    return at;
  }

  /** Keeps bytes for later; only a call that holds does. */
  protected keep(_bytes: Buffer, _start: number, _end: number): void {}

  /** The last frame of the request has come. */
  endInput(): void {
    if (this.state === 'open') this.state = nextState.open['recv ES'];
    if (this.#bodyLeft > 0) this.connection.reset(this, errorCode.protocolError);
    else if (this.isOpen) this.gotEnd();
  }

  /** Called at the end of a turn in which something came: asks for room, and lets the peer send on. */
  settle(): void {
    this.isTouched = false;
    if (this.state === 'closed' && this.held === 0) return;
    if ((this.needed !== this.held || this.isWaitingForRoom) && !this.connection.settle(this)) {
      this.connection.reset(this, errorCode.enhanceYourCalm);
      return;
    }
    if (this.isOpen) prove(this, this.partial);
    this.#replenish();
  }

  awaitRoom(): void {
    this.isWaitingForRoom = true;
  }

  gotRoom(): void {
    this.isWaitingForRoom = false;
    this.#roomSince = performance.now();
    this.#replenish();
  }

  expire(status = deadlineExceeded): void {
    this.isUseful = false;
    // Within a message there is no place for a status.
    if (this.unsent === undefined || this.unsent.length === 0) this.finish(status);
    if (this.state !== 'closed') this.connection.reset(this, errorCode.cancel);
  }

  /** Whether a message took too long. */
  isOverdue(now: number): boolean {
    return this.since !== undefined && this.since <= now - this.connection.limits.finishWithinMs && !this.isHolding;
  }

  /** Whether a message that has room comes too slowly to be finished in time. */
  isBehind(now: number): boolean {
    if (this.since === undefined || this.isWaitingForRoom || this.isHolding) return false;
    const { length, missing } = this.partial ?? { length: undefined, missing: 0 };
    if (length === undefined) return false;
    const due = (now - Math.max(this.since, this.#roomSince)) / this.connection.limits.finishWithinMs;
    return length - missing < length * (due - mayLag);
  }

  sentLast(): void {
    if (this.state !== 'open' && this.state !== 'halfClosedRemote') return;
    const state = nextState[this.state]['send ES'];
    // Whoever got the whole answer need not send the rest of the request (RFC 9113 §8.1).
    if (state === 'halfClosedLocal') this.connection.sender.reset(this.id, errorCode.noError);
    this.connection.remove(this, state === 'halfClosedLocal');
  }

  /** The stream is closed: by its last frame, by a reset, or with its connection. */
  close(): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.connection.sender.forget(this);
    this.partial = undefined;
    this.since = undefined;
    this.notStalled();
    if (this.held > 0 || this.isWaitingForRoom) this.connection.settle(this);
    this.isOpen = false;
    this.gone();
  }

  protected markStalled(): void {
    if (this.stalledSince !== undefined) return;
    this.stalledSince = performance.now();
    this.connection.stalled++;
  }

  protected notStalled(): void {
    if (this.stalledSince === undefined) return;
    this.stalledSince = undefined;
    this.connection.stalled--;
    this.connection.readOn();
  }

  #begin(bytes: Buffer, at: number, end: number): number {
    if (!this.begins()) return end;
    // Naming an encoding is allowed; compressing a message by it is not.
    if (bytes[at] !== 0) {
      this.finish((this.metadata.get('grpc-encoding') ?? 'identity') === 'identity' ? misflagged : compressed);
      return end;
    }
    if (end - at >= prefixBytes) {
      const length = readUint32(bytes, at + 1);
      if (!this.#accepts(length)) return end;
      const start = at + prefixBytes;
      if (end - start >= length) {
        this.gotMessage(bytes.subarray(start, start + length));
        return start + length;
      }
    }
    this.partial = new PartialMessage();
    this.since ??= this.connection.now;
    return this.partial.take(bytes, at, end);
  }

  #goOn(partial: PartialMessage, bytes: Buffer, at: number, end: number): number {
    const hadPrefix = partial.length !== undefined;
    const next = partial.take(bytes, at, end);
    if (!hadPrefix && partial.length !== undefined && !this.#accepts(partial.length)) return end;
    if (partial.isComplete) {
      this.partial = undefined;
      this.gotMessage(partial.message);
    }
    return next;
  }

  #accepts(length: number): boolean {
    const { messageBytes, trustedMessageBytes } = this.connection.limits;
    if (length <= messageBytes) return true;
    const trusted = trustedMessageBytes.get(this.path) ?? messageBytes;
    const mayShow = this.connection.account !== undefined || this.connection.limits.findCredential.has(this.path);
    if (length <= trusted && mayShow) return true;
    this.finish(length <= trusted ? tooLargeYet(length, messageBytes) : tooLarge(length, trusted));
    return false;
  }

  #replenish(): void {
    if (this.state !== 'open' || !this.isOpen || this.isWaitingForRoom || this.isHolding) return;
    if (isUnproven(this.connection, this.partial)) return;
    const missing = this.partial?.missing ?? 0;
    if (this.receiveWindow > missing + this.spareWindow / 2) return;
    const target = missing + this.spareWindow;
    this.connection.sender.grant(this.id, target - this.receiveWindow);
    this.receiveWindow = target;
  }
}
