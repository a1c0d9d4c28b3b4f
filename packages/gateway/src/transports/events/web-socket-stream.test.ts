import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { EventLog } from '@reeve/core';
import { ManualClock, operator } from '@reeve/core/testkit';
import { defaultLimits, roomsOf } from '@reeve/grpc-server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { EventHub } from './event-hub.ts';
import { EventSockets } from './web-socket-stream.ts';

/** Real sockets, and a clock that the test moves, so that no test waits for half a minute. */
let clock: ManualClock;
let hub: EventHub;
let server: Server;
/** The server's side of the last connection. */
let served: Socket | undefined;

beforeEach(async () => {
  clock = new ManualClock();
  const log = new EventLog({ apply: () => undefined, committed: () => Promise.resolve() }, 0, true);
  hub = new EventHub({
    log,
    clock,
    unsent: roomsOf(defaultLimits).unsent,
    isStillValid: () => true,
    soon: setImmediate,
    later: setTimeout,
    onSent: () => undefined,
    onDropped: () => undefined,
    onEnded: () => undefined,
  });
  const sockets = new EventSockets(hub);
  const follower = { principal: operator, filter: {}, since: undefined };
  server = createServer();
  server.on('upgrade', (request, socket, head) => {
    served = socket as Socket;
    sockets.open({ request, socket, head, headers: {} }, follower);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
});

async function connect(autoPong: boolean): Promise<WebSocket> {
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}/`, { autoPong });
  await once(client, 'message');
  return client;
}

const beat = () => {
  clock.advance(30_000);
  hub.tick();
};

test('a client that answers pings stays, and one that does not is cut off by the next', async () => {
  const good = await connect(true);
  const deaf = await connect(false);
  const pinged = [once(good, 'ping'), once(deaf, 'ping')];
  beat();
  await Promise.all(pinged);
  // The server has answered a later ping of this client, so it has read the pong by then.
  good.ping();
  await once(good, 'pong');
  const closed = once(deaf, 'close');
  beat();
  expect((await closed)[0]).toBe(1006);
  expect(good.readyState).toBe(WebSocket.OPEN);
  expect(hub.count('websocket')).toBe(1);
  good.terminate();
});

test('a client that floods with pings and reads nothing gets no heap of answers', async () => {
  const flood = await connect(true);
  flood.pause();
  let written = 0;
  const payload = 'x'.repeat(125);
  while (written < 400_000) {
    for (let i = 0; i < 1000; i++, written++) flood.ping(payload);
    await new Promise(setImmediate);
  }
  expect(served?.writableLength).toBeLessThan(128 * 1024);
  expect(served?.bytesRead).toBeGreaterThan(1024 * 1024);
  flood.terminate();
});
