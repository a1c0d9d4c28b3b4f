import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { secondsSince } from './fleet.ts';
import { Histogram } from './histogram.ts';
import type { FollowedResult } from './load-protocol.ts';
import { bootstrapKey } from './load-protocol.ts';
import { pause } from './process-usage.ts';

const haveWithinSecs = 30;

/**
 * WebSockets that follow all events and only count them, because so many clients must cost their process next to
 * nothing.
 */
export class EventFollowers {
  readonly #sockets: Socket[] = [];
  readonly #delays = new Histogram();
  #frames = 0;
  #bytes = 0;
  #ended = 0;

  static async open(http: string, clients: number): Promise<EventFollowers> {
    const followers = new EventFollowers();
    for (let opened = 0; opened < clients; opened++) await followers.#open(new URL(http));
    return followers;
  }

  /** Waits until so many events have arrived. After a timeout it returns what has arrived. */
  async have(events: number): Promise<FollowedResult> {
    const startedAt = performance.now();
    while (this.#result().events < events && secondsSince(startedAt) < haveWithinSecs) await pause(0.005);
    return this.#result();
  }

  close(): FollowedResult {
    const result = this.#result();
    for (const socket of this.#sockets) socket.destroy();
    return result;
  }

  /** Each stream begins with a hello, which is not an event. */
  #result(): FollowedResult {
    const events = this.#frames - this.#sockets.length;
    return { events, bytes: this.#bytes, counts: this.#delays.counts, ended: this.#ended };
  }

  async #open({ hostname, port }: URL): Promise<void> {
    const socket = connect(Number(port), hostname);
    socket.write(
      [
        'GET /api/v1/ws/events HTTP/1.1',
        `Host: ${hostname}`,
        `Authorization: Bearer ${bootstrapKey}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        '',
        '',
      ].join('\r\n'),
    );
    const [first] = (await once(socket, 'data')) as [Buffer];
    const end = first.indexOf('\r\n\r\n') + 4;
    if (!first.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`refused: ${first.toString('latin1')}`);
    const count = frameCounter();
    const isFirst = this.#sockets.length === 0;
    const take = (bytes: Buffer) => {
      this.#bytes += bytes.length;
      this.#frames += count(bytes);
      if (isFirst) this.#time(bytes);
    };
    take(first.subarray(end));
    socket.on('data', take);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#ended++);
    this.#sockets.push(socket);
  }

  /** Skips a timestamp that is cut in two. */
  #time(bytes: Buffer): void {
    const now = Date.now();
    for (const [, at = ''] of bytes.toString('latin1').matchAll(/"timestamp":"([^"]{24})"/g)) {
      this.#delays.record((now - Date.parse(at)) * 1000);
    }
  }
}

/** Counts the text frames of one connection by their headers, and skips their content. */
function frameCounter(): (bytes: Buffer) => number {
  /** The rest of the last frame to skip, or the part of its header that has arrived. */
  let skip = 0;
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const view = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    rest = Buffer.alloc(0);
    let frames = 0;
    let at = skip;
    while (at < view.length) {
      const length = lengthAt(view, at);
      if (length === undefined) {
        rest = view.subarray(at);
        break;
      }
      if (view[at] === 0x81) frames++;
      at += length;
    }
    skip = Math.max(0, at - view.length);
    return frames;
  };
}

/** The length of the frame that starts here; undefined if its header is incomplete. */
function lengthAt(view: Buffer, at: number): number | undefined {
  const short = view[at + 1];
  if (short === undefined) return undefined;
  if (short < 126) return 2 + short;
  if (short === 126) return view.length < at + 4 ? undefined : 4 + view.readUInt16BE(at + 2);
  return view.length < at + 10 ? undefined : 10 + Number(view.readBigUInt64BE(at + 2));
}
