import type { Socket } from 'node:net';
import { HeaderBlocks } from '../calls/header-blocks.ts';
import { Sender } from '../calls/sender.ts';
import { ConnectionError, requireLength, unexpected } from '../http2/connection-error.ts';
import { goAwayFrame, pingBytes, pingFrame } from '../http2/control-frames.ts';
import type { ErrorCode } from '../http2/frame.ts';
import {
  defaultWindow,
  errorCode,
  flag,
  frameType,
  preface,
  readUint31,
  readUint32,
  settingId,
} from '../http2/frame.ts';
import type { FrameSink } from '../http2/frame-reader.ts';
import { FrameReader } from '../http2/frame-reader.ts';
import { Outbox } from '../http2/outbox.ts';
import { SharedRoom } from '../limits/shared-room.ts';
import { ReceiveWindow } from '../http2/receive-window.ts';
import { defaultSettings, readSettings, settingsAck, settingsFrame } from '../http2/settings.ts';
import type { ClientCall } from './client-call.ts';
import type { ClientLimits } from './client-limits.ts';
import { ClientStreams } from './client-streams.ts';
import { Keepalive } from './keepalive.ts';
import { unavailable } from './transport-status.ts';

/** Whoever a connection belongs to. */
export interface ConnectionOwner {
  /** The server has sent its SETTINGS: calls may go out. */
  ready(): void;
  /** No new calls may go out. Those that have may still be answered. */
  leaving(isForPings: boolean): void;
  closed(why: string): void;
  /** The server has not seen these calls. */
  startAgain(calls: readonly ClientCall[]): void;
}

const areYouThere = Buffer.from('are you?');
const dropped = 'Connection dropped';
const closeWithinMs = 1000;
const tooManyPings = 'too_many_pings';

/** One connection, from the first attempt to its end. Whatever breaks the rules ends it, and its calls as unavailable. */
export class ClientConnection implements FrameSink {
  readonly mayReadOn = true;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #limits: ClientLimits;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #streams: ClientStreams;
  readonly #blocks: HeaderBlocks;
  readonly #reader = new FrameReader(this);
  readonly #window = new ReceiveWindow();
  readonly #peer = defaultSettings();
  readonly #connecting: NodeJS.Timeout;
  /** There is one as soon as the server has sent its SETTINGS. */
  #keepalive: Keepalive | undefined;
  #dataCall: ClientCall | undefined;
  #isDataLast = false;
  /** Answers to frames of the server that it has not read. */
  #owed = 0;
  #isLeaving = false;
  #isClosed = false;

  constructor(socket: Socket, limits: ClientLimits, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#limits = limits;
    this.#outbox = new Outbox(socket, () => this.#drained());
    this.#sender = new Sender(
      this.#outbox,
      () => {},
      new SharedRoom({ ofStrangers: Infinity, ofAccount: Infinity }).join(() => {}),
    );
    this.#streams = new ClientStreams(this.#outbox, this.#sender, limits, () => this.#closeIfLeft());
    this.#blocks = new HeaderBlocks(limits, this.#streams);
    const { connectWithinMs } = limits;
    this.#connecting = setTimeout(() => this.#close(`no connection within ${connectWithinMs} ms`), connectWithinMs);
    this.#connecting.unref();
    let cause = '';
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => (cause = messageOf(error)));
    socket.on('end', () => this.#drop(cause));
    socket.on('close', () => this.#drop(cause));
    this.#greet();
  }

  /** Whether any call has ever gone out on it. */
  get isUsed(): boolean {
    return this.#streams.isUsed;
  }

  start(call: ClientCall): void {
    this.#streams.start(call);
    if (this.#streams.isUsedUp) this.#leave(false);
  }

  /** Takes no more calls, gives back those that have not gone out, and closes once the others are over. */
  leave(): void {
    this.#isLeaving = true;
    this.#owner.startAgain(this.#streams.takeWaiting());
    this.#closeIfLeft();
  }

  dataBegins(stream: number, length: number, _content: number, isLast: boolean): void {
    if (this.#blocks.isOpen || this.#keepalive === undefined) throw unexpected('DATA');
    this.#window.take(length);
    this.#dataCall = this.#streams.data(stream, length);
    this.#isDataLast = isLast;
  }

  dataPart(bytes: Buffer, start: number, end: number): number {
    this.#dataCall?.take(bytes, start, end);
    return end;
  }

  dataEnds(): void {
    const call = this.#dataCall;
    this.#dataCall = undefined;
    if (call !== undefined) this.#streams.dataEnds(call, this.#isDataLast);
  }

  frame(type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (this.#blocks.isOpen && type !== frameType.continuation) throw unexpected('a frame');
    if (this.#keepalive === undefined && (type !== frameType.settings || (flags & flag.ack) !== 0)) {
      throw new ConnectionError(errorCode.protocolError, 'the first frame is not SETTINGS');
    }
    switch (type) {
      case frameType.headers:
        return this.#blocks.headers(flags, stream, bytes, start, end);
      case frameType.continuation:
        return this.#blocks.continuation(flags, stream, bytes, start, end);
      case frameType.rstStream:
        requireLength(end - start, 4);
        return this.#startAgain(this.#streams.rstStream(stream, readUint32(bytes, start)));
      case frameType.windowUpdate:
        requireLength(end - start, 4);
        if (stream === 0) return this.#sender.widenAll(readUint31(bytes, start));
        return this.#streams.windowUpdate(stream, readUint31(bytes, start));
      case frameType.settings:
        return this.#settings(flags, stream, bytes, start, end);
      case frameType.ping:
        return this.#pinged(flags, stream, bytes, start, end);
      case frameType.goAway:
        return this.#goAway(stream, bytes, start, end);
      case frameType.pushPromise:
        throw unexpected('PUSH_PROMISE');
      default:
      // PRIORITY is for servers, and frames of unknown types are ignored (RFC 9113 §5.5).
    }
  }

  #greet(): void {
    this.#outbox.put(preface);
    this.#outbox.put(
      settingsFrame([
        [settingId.enablePush, 0],
        [settingId.maxHeaderListSize, this.#limits.headerListBytes],
      ]),
    );
    this.#sender.grant(0, this.#window.size - defaultWindow);
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return;
    this.#streams.now = performance.now();
    this.#keepalive?.heard();
    this.#outbox.beginBatch();
    try {
      this.#reader.read(chunk, this.#streams.now);
      const increment = this.#window.replenish();
      if (increment > 0) this.#sender.grant(0, increment);
    } catch (error) {
      // Whatever a server sends, it takes down nothing but its connection.
      const code = error instanceof ConnectionError ? error.code : errorCode.internalError;
      this.#end(code, error instanceof Error ? error.message : String(error));
    } finally {
      this.#outbox.endBatch();
    }
  }

  #settings(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) throw unexpected('SETTINGS');
    if ((flags & flag.ack) !== 0) return requireLength(end - start, 0);
    readSettings(this.#peer, bytes, start, end);
    this.#answer(settingsAck);
    this.#streams.most = this.#peer.streams;
    this.#streams.setInitialWindow(this.#peer.initialWindow);
    if (this.#keepalive !== undefined) return this.#streams.startWaiting();
    clearTimeout(this.#connecting);
    this.#keepalive = new Keepalive({
      ...this.#limits,
      isBusy: () => !this.#streams.isIdle,
      ping: () => this.#outbox.put(pingFrame(areYouThere, false)),
      onDead: () => this.#end(errorCode.noError, `${dropped}: the server does not answer`),
    });
    this.#owner.ready();
  }

  #pinged(flags: number, stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) throw unexpected('PING');
    requireLength(end - start, pingBytes);
    if ((flags & flag.ack) === 0) this.#answer(pingFrame(bytes.subarray(start, end), true));
  }

  #goAway(stream: number, bytes: Buffer, start: number, end: number): void {
    if (stream !== 0) throw unexpected('GOAWAY');
    if (end - start < 8) throw new ConnectionError(errorCode.frameSizeError, 'GOAWAY is too short');
    const code = readUint32(bytes, start + 4);
    const debug = bytes.toString('latin1', start + 8, Math.min(end, start + 8 + tooManyPings.length));
    this.#leave(code === errorCode.enhanceYourCalm && debug === tooManyPings);
    const unseen = this.#streams.refuseAfter(readUint31(bytes, start));
    this.#owner.startAgain([...unseen, ...this.#streams.takeWaiting()]);
    this.#closeIfLeft();
  }

  /** Puts an answer that the server has asked for. One that asks and does not read would have us keep them all. */
  #answer(answer: Buffer): void {
    if (this.#outbox.isCongested && ++this.#owed > this.#limits.owedAnswers) {
      throw new ConnectionError(errorCode.enhanceYourCalm, 'the server does not read what it asks for');
    }
    this.#outbox.put(answer);
  }

  #startAgain(call: ClientCall | undefined): void {
    if (call !== undefined) this.#owner.startAgain([call]);
    this.#streams.startWaiting();
    this.#closeIfLeft();
  }

  #drained(): void {
    this.#owed = 0;
    this.#sender.pump();
    this.#streams.startWaiting();
  }

  #leave(isForPings: boolean): void {
    if (this.#isLeaving || this.#isClosed) return;
    this.#isLeaving = true;
    this.#owner.leaving(isForPings);
  }

  #closeIfLeft(): void {
    if (this.#isLeaving && this.#streams.isIdle) this.#end(errorCode.noError, dropped);
  }

  #end(code: ErrorCode, why: string): void {
    if (this.#isClosed) return;
    this.#outbox.put(goAwayFrame(0, code, ''));
    this.#outbox.flush();
    this.#close(why);
  }

  /** A connection that was never made is told by its cause alone. */
  #drop(cause: string): void {
    if (this.#keepalive === undefined && cause !== '') this.#close(cause);
    else this.#close(cause === '' ? dropped : `${dropped}: ${cause}`);
  }

  #close(why: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isLeaving = true;
    clearTimeout(this.#connecting);
    this.#keepalive?.stop();
    this.#reader.stop();
    this.#closeSocket();
    const waiting = this.#streams.takeWaiting();
    this.#streams.failAll(unavailable(why));
    this.#owner.closed(why);
    this.#owner.startAgain(waiting);
  }

  /** The last frames may go, for a while. */
  #closeSocket(): void {
    if (this.#keepalive === undefined) {
      this.#socket.destroy();
      return;
    }
    this.#socket.destroySoon();
    setTimeout(() => this.#socket.destroy(), closeWithinMs).unref();
  }
}

/** The error of an attempt on several addresses has no text of its own. */
function messageOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((each) => messageOf(each as Error)).join('; ');
  return error.message;
}
