import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { SyslogSink } from './syslog-sink.ts';

const canonical = JSON.stringify({
  actor: { id: 'bot', kind: 'agent' },
  at: '2026-11-16T10:00:00.000Z',
  event_type: 'ActionAllowed',
  lineage: { agent_id: 'bot', org_id: null, team_id: '' },
  seq: 1,
});
const entries = [{ seq: 1, hash: 'a'.repeat(64), canonical }];
const { signal } = new AbortController();

let server: Server;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  if (server.listening) {
    server.close();
    await once(server, 'close');
  }
});

async function sinkTo(take: (socket: Socket) => void, closeMs = 5000): Promise<SyslogSink> {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    take(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return new SyslogSink({ host: '127.0.0.1', port, isTls: false, ca: undefined }, 'h', closeMs);
}

test('a receiver that reads to the end and closes has confirmed', async () => {
  let text = '';
  const sink = await sinkTo((socket) => {
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('end', () => socket.end());
  });
  await sink.send(entries, signal);
  await sink.confirm(signal);
  expect(text).toContain('ActionAllowed [reeve@32473 seq="1"');
  await sink.confirm(signal);
});

test('a receiver that breaks off, or ends before we do, has not', async () => {
  const sink = await sinkTo((socket) => {
    socket.once('data', () => socket.resetAndDestroy());
  });
  await sink.send(entries, signal);
  await expect(sink.confirm(signal)).rejects.toThrow();
  await sink.reset();
  const early = await sinkTo((socket) => socket.end());
  await expect(
    (async () => {
      for (let i = 0; i < 100; i++) await early.send(entries, signal);
      await early.confirm(signal);
    })(),
  ).rejects.toThrow();
});

test('one that leaves its side open has, if it takes another connection', async () => {
  const sink = await sinkTo((socket) => socket.resume(), 50);
  await sink.send(entries, signal);
  await sink.confirm(signal);
  await sink.send(entries, signal);
  const closed = once(server, 'close');
  server.close();
  await expect(sink.confirm(signal)).rejects.toThrow('ECONNREFUSED');
  for (const socket of sockets) socket.destroy();
  await closed;
});

test('one that takes nothing is given up when the time is over', async () => {
  const sink = await sinkTo((socket) => socket.pause());
  const large = [{ ...entries[0], seq: 1, hash: 'a', canonical: canonical.replace('bot', 'x'.repeat(8_000_000)) }];
  await expect(sink.send(large, AbortSignal.timeout(300))).rejects.toThrow('timeout');
  await sink.reset();
});
