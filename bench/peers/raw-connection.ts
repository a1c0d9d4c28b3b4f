import type { Socket } from 'node:net';
import { connect } from 'node:net';
import {
  defaultWindow,
  flag,
  frame,
  frameHeaderBytes,
  frameType,
  largestWindow,
  preface,
  settingId,
  settingsFrame,
  windowUpdateFrame,
  writeFrameHeader,
} from '../http2-frames.ts';

/** What calls of one kind have in common. */
export interface RawKind {
  /** The header block of all but the first call of a connection. */
  readonly block: Buffer;
  /** What a right answer holds, at a place of its content or anywhere. */
  readonly answer: { readonly bytes: Buffer; readonly at: number | undefined };
}

/** A call that is about to be sent; valid until the next one. */
export interface RawSending {
  kind: RawKind;
  content: Buffer;
  /** Of its operation, if it has one. */
  number: number;
}

export interface RawCalls {
  /** The header block of the first call of a connection, which later ones refer to. */
  readonly first: Buffer;
  readonly next: (isFirst: boolean) => RawSending;
  readonly going: () => boolean;
  readonly settle: (kind: RawKind, number: number, startedAt: number, ok: boolean) => void;
}

/** Calls are kept by their number, modulo this. It is far more than are ever in flight. */
const slots = 4096;
const outBytes = 256 * 1024;
/** No call holds more. */
const mostContent = 4096;
const replenishAt = 2 ** 30;
const state = { free: 0, sent: 1, right: 2 } as const;

/**
 * A closed loop of calls on one HTTP/2 connection. Nothing is allocated per call, and all that one read of the
 * socket causes goes out in one write, so the load costs much less than any server.
 */
export class RawConnection {
  readonly #socket: Socket;
  readonly #calls: RawCalls;
  readonly #startedAt = new Float64Array(slots);
  readonly #states = new Uint8Array(slots);
  readonly #kinds: RawKind[] = [];
  readonly #numbers = new Float64Array(slots);
  readonly #over: () => void;
  readonly #failed: (error: Error) => void;
  /** Resolves when every lane has its last answer. */
  readonly done: Promise<void>;
  #out = Buffer.allocUnsafe(outBytes);
  #outStart = 0;
  #outEnd = 0;
  #rest: Buffer | undefined;
  #nextId = 1;
  #open = 0;
  /** Requests that wait for the server to take more. */
  #held = 0;
  #sendWindow = defaultWindow;
  #received = 0;

  private constructor(socket: Socket, calls: RawCalls, inFlight: number) {
    this.#socket = socket;
    this.#calls = calls;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    // It is awaited when the time is up. Until then, a failure waits for that.
    promise.catch(() => {});
    this.#over = resolve;
    this.#failed = reject;
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server has closed a connection')));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    const settings = settingsFrame([
      [settingId.enablePush, 0],
      [settingId.initialWindowSize, largestWindow],
    ]);
    socket.write(Buffer.concat([preface, settings, windowUpdateFrame(0, largestWindow - defaultWindow)]));
    for (let lane = 0; lane < inFlight; lane++) this.#send();
    this.#flush();
  }

  static open(address: string, calls: RawCalls, inFlight: number): Promise<RawConnection> {
    const at = address.lastIndexOf(':');
    return new Promise((resolve, reject) => {
      const socket = connect(Number(address.slice(at + 1)), address.slice(0, at));
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawConnection(socket, calls, inFlight)));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(): void {
    if (this.#sendWindow < mostContent) {
      this.#held++;
      return;
    }
    const id = this.#nextId;
    const { kind, content, number } = this.#calls.next(id === 1);
    if (content.length > mostContent) throw new Error(`a call of ${content.length} bytes is not supported`);
    const block = id === 1 ? this.#calls.first : kind.block;
    const slot = (id >>> 1) % slots;
    if (this.#states[slot] !== state.free) throw new Error('too many calls are open on one connection');
    const size = 2 * frameHeaderBytes + block.length + content.length;
    if (this.#outEnd + size > outBytes) this.#freshOut();
    let at = this.#outEnd;
    writeFrameHeader(this.#out, at, block.length, frameType.headers, flag.endHeaders, id);
    block.copy(this.#out, at + frameHeaderBytes);
    at += frameHeaderBytes + block.length;
    writeFrameHeader(this.#out, at, content.length, frameType.data, flag.endStream, id);
    content.copy(this.#out, at + frameHeaderBytes);
    this.#outEnd += size;
    this.#sendWindow -= content.length;
    this.#nextId += 2;
    this.#open++;
    this.#states[slot] = state.sent;
    this.#kinds[slot] = kind;
    this.#numbers[slot] = number;
    this.#startedAt[slot] = performance.now();
  }

  /** What was written before may still be read by the socket, so it is not overwritten. */
  #freshOut(): void {
    this.#flush();
    this.#out = Buffer.allocUnsafe(outBytes);
    this.#outStart = 0;
    this.#outEnd = 0;
  }

  #flush(): void {
    if (this.#outEnd === this.#outStart) return;
    this.#socket.write(this.#out.subarray(this.#outStart, this.#outEnd));
    this.#outStart = this.#outEnd;
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    try {
      while (at + frameHeaderBytes <= bytes.length) {
        const end = at + frameHeaderBytes + bytes.readUIntBE(at, 3);
        if (end > bytes.length) break;
        this.#frame(bytes, at, end);
        at = end;
      }
    } catch (error) {
      this.#failed(error instanceof Error ? error : new Error(String(error)));
      this.#socket.destroy();
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
    this.#flush();
    if (this.#open === 0 && this.#held === 0 && !this.#calls.going()) this.#over();
  }

  #frame(bytes: Buffer, at: number, end: number): void {
    const flags = bytes[at + 4] ?? 0;
    switch (bytes[at + 3] ?? 0) {
      case frameType.data:
        this.#data(bytes, at, end);
        if ((flags & flag.endStream) !== 0) this.#answered(bytes.readUInt32BE(at + 5));
        break;
      case frameType.headers:
        if ((flags & flag.endStream) !== 0) this.#answered(bytes.readUInt32BE(at + 5));
        break;
      case frameType.reset:
        this.#answered(bytes.readUInt32BE(at + 5));
        break;
      case frameType.settings:
        if ((flags & flag.ack) === 0) this.#socket.write(frame(frameType.settings, flag.ack, 0, Buffer.alloc(0)));
        break;
      case frameType.ping:
        if ((flags & flag.ack) === 0) {
          this.#socket.write(frame(frameType.ping, flag.ack, 0, bytes.subarray(at + frameHeaderBytes, end)));
        }
        break;
      case frameType.windowUpdate:
        if (bytes.readUInt32BE(at + 5) === 0) this.#granted(bytes.readUInt32BE(at + frameHeaderBytes));
        break;
      case frameType.goAway:
        throw new Error(`the server says goodbye with error ${bytes.readUInt32BE(at + frameHeaderBytes + 4)}`);
      default:
    }
  }

  #granted(increment: number): void {
    this.#sendWindow += increment;
    for (let held = this.#held; held > 0; held--) {
      this.#held--;
      this.#send();
    }
  }

  #data(bytes: Buffer, at: number, end: number): void {
    this.#received += end - at - frameHeaderBytes;
    if (this.#received > replenishAt) {
      this.#socket.write(windowUpdateFrame(0, this.#received));
      this.#received = 0;
    }
    const slot = (bytes.readUInt32BE(at + 5) >>> 1) % slots;
    if (this.#states[slot] !== state.sent) return;
    const kind = this.#kinds[slot];
    if (kind !== undefined && isRight(kind, bytes, at + frameHeaderBytes, end)) this.#states[slot] = state.right;
  }

  /** A stream may end twice, when the server resets it after its answer. */
  #answered(id: number): void {
    const slot = (id >>> 1) % slots;
    const was = this.#states[slot];
    if (was === state.free) return;
    this.#states[slot] = state.free;
    this.#open--;
    const kind = this.#kinds[slot];
    if (kind === undefined) return;
    this.#calls.settle(kind, this.#numbers[slot] ?? 0, this.#startedAt[slot] ?? 0, was === state.right);
    if (this.#calls.going()) this.#send();
  }
}

function isRight({ answer }: RawKind, bytes: Buffer, from: number, end: number): boolean {
  const { bytes: wanted, at } = answer;
  if (at === undefined) {
    const found = bytes.indexOf(wanted, from);
    return found >= 0 && found + wanted.length <= end;
  }
  for (let index = 0; index < wanted.length; index++) {
    if (bytes[from + at + index] !== wanted[index]) return false;
  }
  return from + at + wanted.length <= end;
}
