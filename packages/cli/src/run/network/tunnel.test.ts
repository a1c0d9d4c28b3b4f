import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectOut } from './connect-out.ts';
import { highWaterMark, Line } from './line.ts';
import { joinTunnel } from './tunnel.ts';

const length = 24_000_000;

/** Bytes of which no two pieces are alike, so that one that is written over is noticed. */
const bytes = Buffer.from(Uint32Array.from({ length: length / 4 }, (_, at) => Math.imul(at, 2_654_435_761)).buffer);
const sum = (of: Buffer) => createHash('sha256').update(of).digest('hex');

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A program and a server, joined by a line. */
async function joined() {
  const line = new Line();
  line.on('error', () => {});
  const server = createServer({ allowHalfOpen: true });
  const front = createServer({ allowHalfOpen: true, highWaterMark });
  const [port, frontPort] = [await listening(server), await listening(front)];
  const [accepted, near] = [once(server, 'connection'), once(front, 'connection')];
  const program = connect({ port: frontPort, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  const [client] = (await near) as [Socket];
  client.on('error', () => {});
  line.attach(await connectOut(line, ['127.0.0.1'], port, new AbortController().signal));
  const [far] = (await accepted) as [Socket];
  far.on('error', () => {});
  const over = joinTunnel(client, line);
  const close = () => {
    for (const socket of [program, client, far]) socket.destroy();
    for (const each of [server, front]) each.close();
  };
  return { line, program, client, far, over, [Symbol.dispose]: close };
}

/** Reads to the end. A slow reader does something else after each piece, so that it never gets all at once. */
async function readSlowly(socket: Socket, onPiece: (total: number) => void = () => {}): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let total = 0;
  for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    pieces.push(piece);
    total += piece.length;
    for (let nth = 0; nth < 3; nth++) await turn();
    onPiece(total);
  }
  return Buffer.concat(pieces);
}

test('a slow program and a slow server get what was sent, both at the same time, and each end of it', async () => {
  using tunnel = await joined();
  const { line, program, far, over } = tunnel;
  program.end(bytes);
  far.end(bytes);
  const [down, up] = await Promise.all([readSlowly(program), readSlowly(far)]);
  expect([sum(down), sum(up)]).toEqual([sum(bytes), sum(bytes)]);
  await over;
  expect([line.sent, line.received]).toEqual([length, length]);
});

test('nothing is lost, doubled or written over if the line is held again and again', async () => {
  using tunnel = await joined();
  const { line, program, far } = tunnel;
  program.end(bytes);
  far.end(bytes);
  const holdAt = (part: number) => {
    let next = part;
    return (total: number) => {
      if (total < next) return;
      next = total + part;
      line.hold('control');
      setImmediate(() => setImmediate(() => line.release('control')));
    };
  };
  const [down, up] = await Promise.all([readSlowly(program, holdAt(900_000)), readSlowly(far, holdAt(700_000))]);
  expect([sum(down), sum(up)]).toEqual([sum(bytes), sum(bytes)]);
});

test('the end of what was sent while the line was held comes after it', async () => {
  using tunnel = await joined();
  const { line, program, far } = tunnel;
  line.hold('control');
  program.end('last words');
  for (let nth = 0; nth < 2000; nth++) await turn();
  expect(line.sent).toBe(0);
  line.release('control');
  expect(String(await readSlowly(far))).toBe('last words');
});

test('of what a program does not read, no more is taken than fits into buffers', async () => {
  using tunnel = await joined();
  const { line, program, far } = tunnel;
  program.pause();
  const endless = () => {
    while (!far.destroyed && far.write(bytes.subarray(0, 1_000_000)));
  };
  far.on('drain', endless);
  endless();
  let seen = -1;
  for (let same = 0; same < 200; same = line.received === seen ? same + 1 : 0) {
    seen = line.received;
    await turn();
  }
  const before = process.memoryUsage().arrayBuffers;
  for (let nth = 0; nth < 2000; nth++) await turn();
  expect(line.received).toBe(seen);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * highWaterMark);
});

test.each(['program', 'server'] as const)('a %s that is gone cuts the other, at whatever moment', async (who) => {
  using tunnel = await joined();
  const { line, program, far, over } = tunnel;
  program.write(bytes);
  far.write(bytes);
  const [gone, left] = who === 'program' ? [program, far] : [far, program];
  let got = 0;
  left.on('data', (piece: Buffer) => {
    got += piece.length;
    if (got > 1_000_000) gone.resetAndDestroy();
  });
  await new Promise((resolve) => left.once('close', resolve));
  await over;
  expect(line.destroyed).toBe(true);
});

test('a plain request reads slowly from the same buffer, and gets what was sent', async () => {
  const line = new Line();
  await using server = createServer({ allowHalfOpen: true }, (socket) => socket.resume().end(bytes));
  const port = await listening(server);
  line.attach(await connectOut(line, ['127.0.0.1'], port, new AbortController().signal));
  line.end();
  const pieces: Buffer[] = [];
  for await (const piece of line as AsyncIterable<Buffer>) {
    pieces.push(piece);
    await turn();
  }
  expect(sum(Buffer.concat(pieces))).toBe(sum(bytes));
});
