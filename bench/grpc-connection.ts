import type { Socket } from 'node:net';
import { connect } from 'node:net';
import {
  defaultWindow,
  flag,
  frame,
  frameHeaderBytes,
  frameType,
  largestFrame,
  largestWindow,
  preface,
  settingId,
  settingsFrame,
  windowUpdateFrame,
  writeFrameHeader,
} from './http2-frames.ts';

interface Call {
  readonly id: number;
  sendWindow: number;
  received: number;
  partial: Buffer | undefined;
  readonly message: (bytes: Buffer) => void;
  readonly closed: () => void;
}

interface Unsent {
  readonly call: Call;
  readonly bytes: Buffer;
  readonly last: boolean;
}

export interface GrpcStream {
  send(framed: Buffer): void;
  /** Sends the last message, and marks it as such. */
  sendLast(framed: Buffer): void;
  end(): void;
}

const replenishAt = 2 ** 30;
const bufferBytes = 256 * 1024;

/**
 * A gRPC client that writes HTTP/2 frames itself. It costs a fraction of what a server does, so one load process can
 * keep a server busy, and the benchmark measures the server. It ignores response headers: a call that ends without a
 * message has failed.
 */
export class GrpcConnection {
  readonly #socket: Socket;
  readonly #calls = new Map<number, Call>();
  readonly #unsent: Unsent[] = [];
  #out = Buffer.allocUnsafe(bufferBytes);
  #outStart = 0;
  #outEnd = 0;
  #flushing = false;
  #rest: Buffer | undefined;
  #nextId = 1;
  #sendWindow = defaultWindow;
  #initialWindow = defaultWindow;
  #received = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => this.#fail());
    socket.on('error', () => this.#fail());
    const settings = settingsFrame([
      [settingId.enablePush, 0],
      [settingId.initialWindowSize, largestWindow],
    ]);
    socket.write(Buffer.concat([preface, settings, windowUpdateFrame(0, largestWindow - defaultWindow)]));
  }

  static open(address: string): Promise<GrpcConnection> {
    const at = address.lastIndexOf(':');
    return new Promise((resolve, reject) => {
      const socket = connect(Number(address.slice(at + 1)), address.slice(0, at));
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new GrpcConnection(socket));
      });
    });
  }

  /** `answer` gets the message, or undefined if the call failed. `framed` may be reused once this returns. */
  unary(head: Buffer, framed: Buffer, answer: (bytes: Buffer | undefined) => void): void {
    let got: Buffer | undefined;
    const call = this.#start(
      head,
      (bytes) => {
        got = bytes;
      },
      () => answer(got),
    );
    this.#send(call, framed, true);
  }

  stream(head: Buffer, message: (bytes: Buffer) => void, closed: () => void): GrpcStream {
    const call = this.#start(head, message, closed);
    return {
      send: (framed) => this.#send(call, framed, false),
      sendLast: (framed) => this.#send(call, framed, true),
      end: () => {
        this.#emit(0, frameType.data, flag.endStream, call.id);
        this.#flushSoon();
      },
    };
  }

  close(): void {
    this.#socket.destroy();
  }

  #start(head: Buffer, message: Call['message'], closed: Call['closed']): Call {
    const call: Call = {
      id: this.#nextId,
      sendWindow: this.#initialWindow,
      received: 0,
      partial: undefined,
      message,
      closed,
    };
    this.#nextId += 2;
    this.#calls.set(call.id, call);
    const at = this.#emit(head.length, frameType.headers, flag.endHeaders, call.id);
    head.copy(this.#out, at);
    return call;
  }

  #send(call: Call, framed: Buffer, last: boolean): void {
    const sent = this.#unsent.length === 0 ? this.#sendWhatFits(call, framed, last) : 0;
    if (sent < framed.length) this.#unsent.push({ call, bytes: Buffer.from(framed.subarray(sent)), last });
    this.#flushSoon();
  }

  #sendWhatFits(call: Call, bytes: Buffer, last: boolean): number {
    let sent = 0;
    while (sent < bytes.length) {
      const size = Math.min(bytes.length - sent, this.#sendWindow, call.sendWindow, largestFrame);
      if (size <= 0) break;
      const ends = last && sent + size === bytes.length;
      const at = this.#emit(size, frameType.data, ends ? flag.endStream : 0, call.id);
      bytes.copy(this.#out, at, sent, sent + size);
      sent += size;
      this.#sendWindow -= size;
      call.sendWindow -= size;
    }
    return sent;
  }

  #sendRest(): void {
    for (let next = this.#unsent[0]; next !== undefined; next = this.#unsent[0]) {
      const sent = this.#sendWhatFits(next.call, next.bytes, next.last);
      if (sent < next.bytes.length) {
        this.#unsent[0] = { ...next, bytes: next.bytes.subarray(sent) };
        break;
      }
      this.#unsent.shift();
    }
    this.#flushSoon();
  }

  /** Writes a frame's header, reserves room for its payload and returns the place of that. */
  #emit(length: number, type: number, flags: number, stream: number): number {
    if (this.#outEnd + frameHeaderBytes + length > this.#out.length) {
      this.#flush();
      this.#out = Buffer.allocUnsafe(bufferBytes);
      this.#outStart = 0;
      this.#outEnd = 0;
    }
    const at = this.#outEnd;
    writeFrameHeader(this.#out, at, length, type, flags, stream);
    this.#outEnd = at + frameHeaderBytes + length;
    return at + frameHeaderBytes;
  }

  /** Sends in one write all that one read of the socket causes. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#outEnd === this.#outStart) return;
    this.#socket.write(this.#out.subarray(this.#outStart, this.#outEnd));
    this.#outStart = this.#outEnd;
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + frameHeaderBytes <= bytes.length) {
      const end = at + frameHeaderBytes + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const payload = bytes.subarray(at + frameHeaderBytes, end);
      this.#frame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, bytes.readUInt32BE(at + 5) & 0x7fff_ffff, payload);
      at = end;
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
  }

  #frame(type: number, flags: number, stream: number, payload: Buffer): void {
    const call = this.#calls.get(stream);
    switch (type) {
      case frameType.data:
        if ((flags & flag.padded) !== 0) throw new Error('padded frames are not supported');
        if (call !== undefined) this.#data(call, payload);
        if ((flags & flag.endStream) !== 0) this.#end(call);
        break;
      case frameType.headers:
        if ((flags & flag.endStream) !== 0) this.#end(call);
        break;
      case frameType.reset:
        this.#end(call);
        break;
      case frameType.settings:
        if ((flags & flag.ack) === 0) this.#settings(payload);
        break;
      case frameType.ping:
        if ((flags & flag.ack) === 0) this.#socket.write(frame(frameType.ping, flag.ack, 0, payload));
        break;
      case frameType.windowUpdate:
        if (stream === 0) this.#sendWindow += payload.readUInt32BE(0);
        else if (call !== undefined) call.sendWindow += payload.readUInt32BE(0);
        this.#sendRest();
        break;
      case frameType.goAway:
        this.#fail();
        break;
      default:
    }
  }

  #data(call: Call, payload: Buffer): void {
    this.#received += payload.length;
    call.received += payload.length;
    if (this.#received > replenishAt) this.#socket.write(windowUpdateFrame(0, this.#received));
    if (call.received > replenishAt) this.#socket.write(windowUpdateFrame(call.id, call.received));
    if (this.#received > replenishAt) this.#received = 0;
    if (call.received > replenishAt) call.received = 0;

    const bytes = call.partial === undefined ? payload : Buffer.concat([call.partial, payload]);
    let at = 0;
    while (at + 5 <= bytes.length) {
      const end = at + 5 + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      call.message(bytes.subarray(at + 5, end));
      at = end;
    }
    call.partial = at === bytes.length ? undefined : bytes.subarray(at);
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== settingId.initialWindowSize) continue;
      const value = payload.readUInt32BE(at + 2);
      for (const call of this.#calls.values()) call.sendWindow += value - this.#initialWindow;
      this.#initialWindow = value;
    }
    this.#socket.write(frame(frameType.settings, flag.ack, 0, Buffer.alloc(0)));
    this.#sendRest();
  }

  #end(call: Call | undefined): void {
    if (call === undefined) return;
    this.#calls.delete(call.id);
    call.closed();
  }

  #fail(): void {
    this.#socket.destroy();
    for (const call of this.#calls.values()) this.#end(call);
  }
}
