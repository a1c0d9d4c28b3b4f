import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { encodeFields } from '../hpack/encoder.ts';
import { HpackDecoder } from '../hpack/decoder.ts';
import { flag, frameHeaderBytes, frameType, preface, readUint31, writeFrameHeader } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const out = Buffer.alloc(frameHeaderBytes + payload.length);
  out.set(payload, writeFrameHeader(out, 0, payload.length, type, flags, stream));
  return out;
}

export function word(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}

type Fields = readonly (readonly [string, string])[];

export function requestFields(path: string, ...extra: Fields): Fields {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'localhost'],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ...extra,
  ];
}

/** HEADERS with END_HEADERS. */
export function headers(stream: number, fields: Fields, isLast = false): Buffer {
  return frame(frameType.headers, flag.endHeaders | (isLast ? flag.endStream : 0), stream, encodeFields(fields));
}

export function request(stream: number, path = '/t/Echo', ...extra: Fields): Buffer {
  return headers(stream, requestFields(path, ...extra));
}

export function data(stream: number, payload: Uint8Array, isLast = false): Buffer {
  return frame(frameType.data, isLast ? flag.endStream : 0, stream, payload);
}

/** A message with its prefix. */
export function framed(message: Uint8Array, declared = message.length, isCompressed = false): Buffer {
  const out = Buffer.alloc(5 + message.length);
  out[0] = isCompressed ? 1 : 0;
  out.writeUInt32BE(declared, 1);
  out.set(message, 5);
  return out;
}

export function ping(text = '12345678', isAck = false): Buffer {
  return frame(frameType.ping, isAck ? flag.ack : 0, 0, Buffer.from(text));
}

export const emptySettings: Buffer = settingsFrame([]);

/** A client that sends any bytes, and keeps all frames that it gets. */
export class RawClient {
  readonly frames: Frame[] = [];
  readonly socket: Socket;
  isClosed = false;
  readonly #decoder = new HpackDecoder(4096, 1 << 20);
  #rest: Buffer = Buffer.alloc(0);
  #wake: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      this.#woken();
    });
  }

  /** Connects, and sends the preface and whatever else is given. */
  static async open(port: number, ...first: Uint8Array[]): Promise<RawClient> {
    const client = await RawClient.silent(port);
    client.write(preface, ...(first.length === 0 ? [emptySettings] : first));
    return client;
  }

  static silent(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        socket.setNoDelay(true);
        resolve(new RawClient(socket));
      });
    });
  }

  write(...parts: readonly Uint8Array[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(parts));
  }

  /** Waits for a frame that has come or will come; undefined if the connection closes without it. */
  async until(isIt: (frame: Frame) => boolean): Promise<Frame | undefined> {
    for (;;) {
      const found = this.frames.find(isIt);
      if (found !== undefined || this.isClosed) return found;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Waits until the server has read all that was sent, or has closed. */
  async settled(text = 'settled.'): Promise<void> {
    this.write(ping(text));
    await this.until(
      ({ type, flags, payload }) => type === frameType.ping && flags === 1 && payload.equals(Buffer.from(text)),
    );
  }

  async closed(): Promise<void> {
    while (!this.isClosed) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** The code of GOAWAY, once the server has sent one; undefined if it closed without it. */
  async goAway(): Promise<number | undefined> {
    return (await this.until(({ type }) => type === frameType.goAway))?.payload.readUInt32BE(4);
  }

  /** The code of RST_STREAM, once it has come for this stream. */
  async reset(stream: number): Promise<number | undefined> {
    const it = await this.until((frame) => frame.type === frameType.rstStream && frame.stream === stream);
    return it?.payload.readUInt32BE(0);
  }

  /** All response fields of a stream, once it has ended. */
  async answer(stream: number): Promise<Map<string, string>> {
    await this.until(
      (it) =>
        it.stream === stream &&
        (it.type === frameType.rstStream || (it.type <= 1 && (it.flags & flag.endStream) !== 0)),
    );
    const blocks = this.frames.filter((it) => it.stream === stream && it.type === frameType.headers);
    return new Map(
      blocks.flatMap(({ payload }) =>
        this.#decoder.decode(payload, 0, payload.length).fields.map(({ name, value }) => [name, value] as const),
      ),
    );
  }

  /** The content of all DATA of a stream so far. */
  content(stream: number): Buffer {
    return Buffer.concat(
      this.frames.filter((it) => it.stream === stream && it.type === frameType.data).map(({ payload }) => payload),
    );
  }

  /** What the server lets this stream send by WINDOW_UPDATE. */
  granted(stream: number): number {
    return this.frames
      .filter((it) => it.type === frameType.windowUpdate && it.stream === stream)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
  }

  destroy(): void {
    this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= frameHeaderBytes) {
      const end = frameHeaderBytes + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) break;
      this.frames.push({
        type: this.#rest[3] ?? 0,
        flags: this.#rest[4] ?? 0,
        stream: readUint31(this.#rest, 5),
        payload: this.#rest.subarray(frameHeaderBytes, end),
      });
      this.#rest = this.#rest.subarray(end);
    }
    this.#woken();
  }

  #woken(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}
