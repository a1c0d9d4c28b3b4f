import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Line } from './line.ts';

test('what a server has sent before its end arrives, also after the connection has closed', async () => {
  await using server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.resume().on('end', () => socket.end(Buffer.alloc(50_000, 1)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  await once(socket, 'connect');
  const line = new Line();
  line.attach(socket);
  line.end('a question');
  line.read(0);
  await once(socket, 'close');
  let length = 0;
  for await (const chunk of line) length += (chunk as Buffer).length;
  expect(length).toBe(50_000);
});
