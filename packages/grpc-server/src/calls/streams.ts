import { ClosedStreams } from '../http2/closed-streams.ts';
import { ConnectionError } from '../http2/connection-error.ts';
import type { ErrorCode } from '../http2/frame.ts';
import { defaultWindow, errorCode, largestStreamId } from '../http2/frame.ts';
import type { FrameState } from '../http2/stream-state.ts';
import { verdictOn } from '../http2/stream-state.ts';
import type { Limits } from '../limits.ts';
import type { Claim } from '../limits/message-room.ts';
import type { PeerBudget } from '../limits/peer-budget.ts';
import type { RoomShares } from '../limits/rooms.ts';
import type { RoomShare } from '../limits/shared-room.ts';
import type { Status } from '../status.ts';
import { tooManyCalls } from './call-faults.ts';
import type { Carrier } from './carrier.ts';
import { closeInPortions } from './close-in-portions.ts';
import { HeadReader } from './head-reader.ts';
import type { RequestHead } from './request-head.ts';
import { RefusedCall } from './refused-call.ts';
import { areTrailers } from './request-head.ts';
import type { Sender } from './sender.ts';
import type { ServerCall } from './server-call.ts';
import type { Shared, StreamParts } from './shared.ts';
import { StreamServerCall } from './stream-call.ts';
import type { Turn } from './turn.ts';
import { TurnedAway } from './turned-away.ts';
import { UnaryServerCall } from './unary-call.ts';

/** The streams of one connection, from the first HEADERS to the last frame. */
export class Streams implements Carrier<ServerCall> {
  now: number;
  account: string | undefined;
  held = 0;
  stalled = 0;
  readonly waiting = new Set<Claim>();
  readonly unfinished: RoomShare;
  readonly limits: Limits;
  readonly sender: Sender;
  readonly turn: Turn;
  readonly calls = new Map<number, ServerCall>();
  /** The highest stream that was begun. */
  lastId = 0;
  /** Streams above this one come too late: the peer was told to go. */
  lastAllowed = largestStreamId;
  idleSince: number;
  /** What a new call may send to the peer. */
  initialWindow = defaultWindow;
  readonly #shared: Shared;
  readonly #shares: RoomShares;
  readonly #budget: PeerBudget;
  readonly #onEmpty: () => void;
  readonly #heads: HeadReader;
  readonly #closed = new ClosedStreams();
  readonly #turnedAway: TurnedAway;
  /** Unary handlers that have not answered, of calls that are over as well. */
  #running = 0;
  #isInTurn = false;
  #touched: ServerCall[] = [];

  constructor(shared: Shared, { sender, shares, turn, budget }: StreamParts, now: number, onEmpty: () => void) {
    this.#shared = shared;
    this.limits = shared.limits;
    this.sender = sender;
    this.#shares = shares;
    this.unfinished = shares.unfinished;
    this.turn = turn;
    this.#budget = budget;
    this.#turnedAway = new TurnedAway(sender, budget, this.#closed);
    this.now = now;
    this.idleSince = now;
    this.#onEmpty = onEmpty;
    this.#heads = new HeadReader(shared.routes, shared.limits.headerListBytes);
  }

  /** A whole header block: a new call, or the trailers of one. */
  headers(id: number, isLast: boolean, bytes: Buffer, start: number, end: number): void {
    if (id > this.lastId) {
      this.#begin(id, isLast, this.#heads.head(bytes, start, end));
      return;
    }
    const list = this.#heads.fields(bytes, start, end);
    const call = this.#take(id, 'headers');
    if (call === undefined) return;
    if (!isLast || !areTrailers(list)) this.#fault(call, errorCode.protocolError);
    else call.endInput();
  }

  /** Which call gets the content of a DATA frame, if any does. `length` counts for flow control. */
  data(id: number, length: number): ServerCall | undefined {
    const call = this.calls.get(id);
    if (call === undefined || call.state !== 'open') return this.#take(id, 'data');
    call.receiveWindow -= length;
    if (call.receiveWindow >= 0) return call;
    this.#fault(call, errorCode.flowControlError);
    return undefined;
  }

  rstStream(id: number): void {
    const call = this.#take(id, 'rstStream');
    if (call === undefined) return;
    this.#budget.reset(this.now);
    this.#closed.add(id, false);
    this.#forget(call);
  }

  windowUpdate(id: number, increment: number): void {
    const call = this.#take(id, 'windowUpdate');
    if (call === undefined) return;
    if (increment === 0) this.#fault(call, errorCode.protocolError);
    else if (!this.sender.widen(call, increment)) this.#fault(call, errorCode.flowControlError);
  }

  /** PRIORITY with a wrong length ends its stream, and the connection where there is no stream to end. */
  priorityFault(id: number): void {
    const call = this.calls.get(id);
    if (call === undefined) throw new ConnectionError(errorCode.frameSizeError, 'PRIORITY does not have five bytes');
    this.#fault(call, errorCode.frameSizeError);
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE has changed, for open streams as well (RFC 9113 §6.9.2). */
  setInitialWindow(size: number): void {
    const change = size - this.initialWindow;
    this.initialWindow = size;
    if (change === 0) return;
    this.turn.spend(this.calls.size);
    for (const call of this.calls.values()) {
      if (!this.sender.widen(call, change)) {
        throw new ConnectionError(errorCode.flowControlError, 'a window is over 2^31-1');
      }
    }
  }

  /** Something is about to be read. */
  beginTurn(now: number): void {
    this.now = now;
    this.#isInTurn = true;
  }

  /** All of it has been read. */
  endTurn(): void {
    this.#isInTurn = false;
    if (this.#touched.length === 0) return;
    const touched = this.#touched;
    this.#touched = [];
    for (const call of touched) call.settle();
  }

  closeAll(): void {
    this.#shares.leave();
    closeInPortions(this.turn, this.calls, (call) => this.#forget(call));
  }

  statusOf(error: unknown): Status {
    return this.#shared.statusOf(error);
  }

  trust(account: string): void {
    if (this.account !== undefined) return;
    const claims = [...this.calls.values()].filter((call) => call.held > 0 || this.waiting.has(call));
    this.#shared.room.leave(this, claims);
    this.account = account;
    this.#shares.belongTo(account);
    this.turn.trust();
    this.#budget.trust(this.now);
    // Each may hold more now, and send on.
    for (const claim of claims) this.touch(claim);
  }

  handling(change: 1 | -1): void {
    this.#running += change;
    this.#count();
  }

  settle(claim: Claim): boolean {
    return this.#shared.room.settle(claim);
  }

  /** Whether it keeps others waiting by a message that comes too slowly. */
  isInTheWay(call: ServerCall, now: number): boolean {
    return call.isBehind(now) && this.#shared.room.isContested(call);
  }

  readOn(): void {
    if (this.waiting.size > 0) this.#shared.room.readOn(this);
  }

  touch(call: ServerCall): void {
    if (!this.#isInTurn) {
      call.settle();
    } else if (!call.isTouched) {
      call.isTouched = true;
      this.#touched.push(call);
    }
  }

  reset(call: ServerCall, code: ErrorCode): void {
    if (call.state === 'closed') return;
    this.sender.reset(call.id, code);
    this.#closed.add(call.id, true);
    this.#forget(call);
  }

  remove(call: ServerCall, isReset: boolean): void {
    if (call.isUseful) this.#budget.answered();
    this.#closed.add(call.id, isReset);
    this.#forget(call);
  }

  #forget(call: ServerCall): void {
    this.calls.delete(call.id);
    this.#count();
    if (call.deadline !== undefined && call.state !== 'closed') this.#shared.wheel.remove(call);
    call.close();
    if (this.calls.size > 0) return;
    this.idleSince = performance.now();
    this.#onEmpty();
  }

  /** The call that a frame is for, if its stream's state allows the frame. */
  #take(id: number, frame: keyof (typeof verdictOn)['open']): ServerCall | undefined {
    const call = this.calls.get(id);
    const verdict = verdictOn[this.#stateOf(id, call)][frame];
    switch (verdict) {
      case 'take':
        return call;
      case 'discard':
        this.#budget.idleFrame(this.now);
        return undefined;
      case 'STREAM_CLOSED of the stream':
        if (call !== undefined) this.#fault(call, errorCode.streamClosed);
        return undefined;
      case 'STREAM_CLOSED':
        throw new ConnectionError(errorCode.streamClosed, `stream ${id} is closed`);
      case 'PROTOCOL_ERROR':
        throw new ConnectionError(errorCode.protocolError, `stream ${id} does not take this frame`);
    }
  }

  #stateOf(id: number, call: ServerCall | undefined): FrameState {
    if (call !== undefined) return call.state === 'halfClosedRemote' ? 'halfClosedRemote' : 'open';
    return id > this.lastId ? 'idle' : this.#closed.stateOf(id);
  }

  #fault(call: ServerCall, code: ErrorCode): void {
    this.reset(call, code);
    this.#budget.fault(this.now);
  }

  #begin(id: number, isLast: boolean, head: RequestHead): void {
    if (id % 2 === 0) throw new ConnectionError(errorCode.protocolError, 'streams of clients have odd numbers');
    this.lastId = id;
    if (id > this.lastAllowed || this.#isFull) {
      this.#turnedAway.refuse(id, this.now);
    } else if (head.fault === undefined && this.#shares.calls.isCrowding) {
      this.#turnedAway.tell(id, isLast, tooManyCalls(this.#shares.calls.most), this.now);
    } else if (head.fault?.kind === 'http') {
      const call = new RefusedCall(id, this, head, this.initialWindow, head.fault.refusal);
      this.#budget.unhandled(this.now);
      this.#add(call, isLast);
      call.start();
    } else if (head.fault !== undefined) {
      this.#turnedAway.fault(id, isLast, head.fault, this.now);
    } else if (head.unary !== undefined) {
      this.#add(new UnaryServerCall(id, this, head, this.initialWindow, head.unary), isLast);
    } else if (head.stream !== undefined) {
      const call = new StreamServerCall(id, this, head, this.initialWindow);
      this.#add(call, false);
      call.start(head.stream);
      if (isLast) call.endInput();
    }
  }

  #add(call: ServerCall, isLast: boolean): void {
    this.calls.set(call.id, call);
    this.#count();
    if (call.isUseful) this.#budget.opened();
    if (call.deadline !== undefined) this.#shared.wheel.add(call);
    this.touch(call);
    if (isLast) call.endInput();
  }

  get #isFull(): boolean {
    const most = this.account === undefined ? this.limits.untrustedStreams : this.limits.streams;
    return Math.max(this.calls.size, this.#running) >= most || this.sender.unsent.isCrowding;
  }

  /** A handler may run on after the peer has given its call up. */
  #count(): void {
    this.#shares.calls.hold(Math.max(this.calls.size, this.#running));
  }
}
