import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { Client, credentials } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { preface } from './http2/frame.ts';
import { emptySettings } from './testkit/raw-client.ts';
import { selfSigned } from './testkit/self-signed.ts';
import { afterwards, testServer } from './testkit/test-server.ts';

const tls = selfSigned();

function tlsClient(port: number, options: ConnectionOptions): TLSSocket {
  const socket = connect({ port, host: '127.0.0.1', ca: tls.cert, ...options });
  socket.on('error', () => undefined);
  afterwards(() => void socket.destroy());
  return socket;
}

function closed(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => socket.on('close', () => resolve()));
}

test('calls work as without', async () => {
  const { port } = await testServer({ tls });
  const client = new Client(`localhost:${port}`, credentials.createSsl(tls.cert));
  afterwards(() => client.close());
  const message = Buffer.alloc(1_000_000, 'secret ');
  const same = (bytes: Buffer) => bytes;
  const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
    client.makeUnaryRequest('/t/Echo', same, same, message, (error, value) =>
      error === null ? resolve(value) : reject(error),
    );
  });
  expect(answer?.equals(message)).toBe(true);
});

test('a drain does not wait for a handshake that has not ended', async () => {
  const { server, silentClient } = await testServer({ tls });
  const here = await silentClient();
  await server.drain(600_000);
  await here.closed();
});

test('a client that does not speak HTTP/2 is closed', async () => {
  const { port } = await testServer({ tls });
  await closed(tlsClient(port, { ALPNProtocols: ['http/1.1'] }));
  await closed(tlsClient(port, {}));
});

test('a client that begins a handshake again is closed', async () => {
  const { port } = await testServer({ tls });
  const socket = tlsClient(port, { ALPNProtocols: ['h2'], maxVersion: 'TLSv1.2' });
  await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  socket.write(Buffer.concat([preface, emptySettings]));
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  const end = closed(socket);
  socket.renegotiate({}, () => undefined);
  await end;
});
