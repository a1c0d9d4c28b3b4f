import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { secondsSince } from './fleet.ts';
import { Histogram } from './histogram.ts';
import type { FollowedResult } from './load-protocol.ts';
import { bootstrapKey } from './load-protocol.ts';
import { pause } from './process-usage.ts';

const haveWithinSecs = 30;

/** WebSockets that follow all events and only count them: so many clients in one process must cost it next to nothing. */
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

  /** Waits until there are so many events. Where they do not come, what there is. */
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

  /** Each stream begins with a hello, which is no event. */
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

  /** One that is cut in two is left out. */
  #time(bytes: Buffer): void {
    const now = Date.now();
    for (const [, at = ''] of bytes.toString('latin1').matchAll(/"timestamp":"([^"]{24})"/g)) {
      this.#delays.record((now - Date.parse(at)) * 1000);
    }
  }
}

/** Counts the text frames of one connection by their heads alone; what is in them is passed over. */
function frameCounter(): (bytes: Buffer) => number {
  /** What is still to come of the last frame, or the part of its head that has come. */
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

/** The length of the frame that starts here; undefined where its head is not whole. */
function lengthAt(view: Buffer, at: number): number | undefined {
  const short = view[at + 1];
  if (short === undefined) return undefined;
  if (short < 126) return 2 + short;
  if (short === 126) return view.length < at + 4 ? undefined : 4 + view.readUInt16BE(at + 2);
  return view.length < at + 10 ? undefined : 10 + Number(view.readBigUInt64BE(at + 2));
}
