import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GatewayRelay } from './gateway-relay.ts';
import { Lines } from './lines.ts';

/** A gateway that keeps what it is sent, and the relay to it. */
async function relayed(lines: Lines) {
  const heard: string[] = [];
  const gateway = createServer((socket) => {
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard.push(text);
      socket.write(`got ${text}`);
    });
  });
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
  const { port } = gateway.address() as AddressInfo;
  const relay = new GatewayRelay({ addresses: [`127.0.0.1:${port}`], tls: undefined }, lines);
  const front = createServer({ allowHalfOpen: true }, relay.accept);
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const client = connect((front.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
  const close = () => {
    client.destroy();
    relay.close();
    front.close();
    gateway.close();
  };
  return { heard, client, close };
}

/** Long enough for bytes to cross loopback twice, many times over. */
async function turns(): Promise<void> {
  for (let nth = 0; nth < 2000; nth++) await turn();
}

async function answer(client: Socket): Promise<string> {
  const [chunk] = (await once(client, 'data')) as [Buffer];
  return String(chunk);
}

test('what a program has written before it was paused leaves when it goes on, and not before', async () => {
  const lines = new Lines();
  const { heard, client, close } = await relayed(lines);
  client.write('one');
  expect(await answer(client)).toBe('got one');
  lines.hold('control');
  client.write('two');
  await turns();
  expect(heard).toEqual(['one']);
  lines.release('control');
  expect(await answer(client)).toBe('got two');
  close();
});

test('whoever comes while the program is paused is connected when it goes on', async () => {
  const lines = new Lines();
  lines.hold('gateway');
  const { heard, client, close } = await relayed(lines);
  client.write('one');
  await turns();
  expect(heard).toEqual([]);
  lines.release('gateway');
  expect(await answer(client)).toBe('got one');
  close();
});
