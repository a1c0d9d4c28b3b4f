import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect, constants } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ReeveEngineServer } from './reeve-engine-server.ts';
import type { RpcServer } from './rpc.ts';

const mebibyte = 1024 * 1024;
const token = Buffer.from('valid');

interface World {
  readonly server: RpcServer;
  readonly port: number;
  readonly received: number[];
}

let opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.reverse()) await close();
  opened = [];
});

/** A server whose calls take any message, and recognise a credential by its first bytes. */
async function world(finishWithinMs: number): Promise<World> {
  const received: number[] = [];
  const take = (bytes: Uint8Array, shown: () => void) => {
    received.push(bytes.length);
    if (Buffer.from(bytes).subarray(0, token.length).equals(token)) shown();
  };
  const server = new ReeveEngineServer({
    tls: undefined,
    finishWithinMs,
    statusOf: () => ({ code: 13, message: 'internal' }),
    routes: {
      unary: new Map([
        [
          '/t/Unary',
          (bytes, call) => {
            take(bytes, () => call.credentialShown('org:acme'));
            return () => Buffer.alloc(0);
          },
        ],
      ]),
      stream: new Map([
        [
          '/t/Stream',
          (stream, call) => ({
            message: (bytes) => {
              take(bytes, () => call.credentialShown('org:acme'));
              stream.send(() => Buffer.alloc(1024));
            },
            ended: () => stream.end(),
            closed: () => undefined,
          }),
        ],
      ]),
    },
  });
  const port = await server.listen('127.0.0.1', 0);
  opened.push(() => server.drain(0));
  return { server, port, received };
}

function connectTo({ port }: World): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  opened.push(() => session.destroy());
  return session;
}

interface Sent {
  readonly stream: ClientHttp2Stream;
  /** The code with which the other side ended the stream. */
  readonly closed: Promise<number | undefined>;
  /** Bytes that the other side has taken. */
  taken: number;
}

/** Opens a call and writes `bytes` of a message of that length, as fast as it is taken. */
function send(
  session: ClientHttp2Session,
  path: string,
  length: number,
  bytes: number,
  start = Buffer.alloc(0),
  ends = false,
): Sent {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const closed = new Promise<number | undefined>((resolve) => stream.once('close', () => resolve(stream.rstCode)));
  const sent: Sent = { stream, closed, taken: 0 };
  stream.on('error', () => undefined);
  stream.resume();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(length, 1);
  const rest = Buffer.concat([prefix, start, Buffer.alloc(Math.max(0, bytes - start.length))]);
  const write = (at: number) => {
    if (at >= rest.length && ends) stream.end();
    if (at >= rest.length || stream.destroyed) return;
    const piece = rest.subarray(at, at + 16_384);
    stream.write(piece, (error) => {
      if (error !== null && error !== undefined) return;
      sent.taken += piece.length;
      write(at + piece.length);
    });
  };
  write(0);
  return sent;
}

/** Waits until nothing more is taken; returns how much was taken from the calls that are still open. */
async function settled(all: readonly Sent[]): Promise<number> {
  const sum = () => all.filter(({ stream }) => !stream.closed).reduce((total, { taken }) => total + taken, 0);
  for (let before = -1; sum() !== before; ) {
    before = sum();
    await pause(300);
  }
  return sum();
}

describe('a connection without a credential', () => {
  test.each(['/t/Unary', '/t/Stream'])('can leave no more than 16 MiB unfinished at %s', async (path) => {
    const here = await world(60_000);
    const session = connectTo(here);
    const all = Array.from({ length: 100 }, () => send(session, path, 4 * mebibyte - 5, 4 * mebibyte - 10));
    expect(await settled(all)).toBeLessThanOrEqual(16 * mebibyte);
    expect(here.received).toEqual([]);
  });

  test('cannot leave whole messages of calls that it does not end, either', async () => {
    const here = await world(60_000);
    const session = connectTo(here);
    const all = Array.from({ length: 100 }, () => send(session, '/t/Unary', mebibyte, mebibyte));
    expect(await settled(all)).toBeLessThanOrEqual(16 * mebibyte);
  });

  test('cannot leave many small ones that came at once, either', async () => {
    const here = await world(60_000);
    const session = connectTo(here);
    const all = Array.from({ length: 3000 }, () => send(session, '/t/Unary', 10_000, 10_000));
    await vi.waitFor(() => expect(all.filter(({ stream }) => stream.closed).length).toBeGreaterThan(1300), 30_000);
    expect(await settled(all)).toBeLessThanOrEqual(16 * mebibyte);
  });

  test('finishes many large messages one after the other, however many it starts', async () => {
    const here = await world(60_000);
    const session = connectTo(here);
    const length = 4 * mebibyte - 5;
    const all = Array.from({ length: 12 }, () => send(session, '/t/Unary', length, length, undefined, true));
    await Promise.all(all.map(({ closed }) => closed));
    expect(here.received).toEqual(Array.from({ length: 12 }, () => length));
  });

  test('has large messages wait until it has shown one', async () => {
    const here = await world(60_000);
    const session = connectTo(here);
    const length = 4 * mebibyte - 5;
    const waiting = Array.from({ length: 20 }, () => send(session, '/t/Stream', length, length - 5));
    expect(await settled(waiting)).toBeLessThanOrEqual(16 * mebibyte);
    const shown = send(session, '/t/Unary', token.length, token.length, token);
    shown.stream.end();
    await shown.closed;
    expect(await settled(waiting)).toBe(20 * length);
  });

  test('is ended where it lets answers pile up', async () => {
    const here = await world(500);
    const session = connectTo(here);
    const ended = new Promise<void>((resolve) => session.once('close', resolve));
    const stream = session.request({ ':method': 'POST', ':path': '/t/Stream', 'content-type': 'application/grpc' });
    stream.on('error', () => undefined);
    // Frames end where messages end. A message cut in two would end its stream before the connection ends.
    const message = Buffer.alloc(5 + 11);
    message.writeUInt32BE(11, 1);
    for (let i = 0; i < 2000; i++) stream.write(message);
    await ended;
    expect(here.received.length).toBeLessThan(2000);
  });
});

describe('a message that is not finished in time', () => {
  test.each([
    ['a unary call', '/t/Unary', 100],
    ['a unary call that sends nothing', '/t/Unary', -5],
    ['a stream', '/t/Stream', 100],
  ])('of %s ends it, whoever sends it', async (_what, path, bytes) => {
    const here = await world(400);
    const session = connectTo(here);
    const shown = send(session, '/t/Unary', token.length, token.length, token);
    shown.stream.end();
    await shown.closed;
    const sent = bytes < 0 ? quiet(session, path) : send(session, path, 1000, bytes);
    expect(await sent.closed).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  test('leaves a stream alone that sends nothing for long, and then a message', async () => {
    const here = await world(300);
    const session = connectTo(here);
    const sent = quiet(session, '/t/Stream');
    await pause(1000);
    const message = Buffer.alloc(5 + 16);
    message.writeUInt32BE(16, 1);
    sent.stream.end(message);
    await sent.closed;
    expect(here.received).toEqual([16]);
  });
});

function quiet(session: ClientHttp2Session, path: string): Pick<Sent, 'stream' | 'closed'> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => undefined);
  stream.resume();
  return { stream, closed: new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode))) };
}
