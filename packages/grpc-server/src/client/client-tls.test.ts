import { createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { selfSigned } from '../testkit/self-signed.ts';
import { testClient } from '../testkit/test-client.ts';
import { afterwards, testServer } from '../testkit/test-server.ts';

const tls = selfSigned();

test('calls work over TLS with a private authority, and messages of any size', async () => {
  const { port } = await testServer({ tls });
  const { call } = testClient({ address: `localhost:${port}`, tls: { ca: tls.cert } });
  const message = Buffer.alloc(1_000_000, 'secret ');
  const { code, answer } = await call('/t/Echo', message);
  expect([code, answer?.equals(message)]).toEqual([0, true]);
  expect(
    await testClient({ address: `127.0.0.1:${port}`, tls: { ca: tls.cert.toString() } }).call('/t/Echo'),
  ).toMatchObject({ code: 0 });
});

test('a server that cannot prove its name gets no call', async () => {
  const { port, events } = await testServer({ tls });
  const stranger = await testClient({ address: `localhost:${port}`, tls: {} }).call('/t/Hang');
  expect(stranger).toMatchObject({
    code: 14,
    message: expect.stringMatching(/^No connection established.*self-signed/),
  });
  const named = (serverName: string) =>
    testClient({ address: `127.0.0.1:${port}`, tls: { ca: tls.cert, serverName } }).call('/t/Echo');
  expect(await named('localhost')).toMatchObject({ code: 0 });
  expect(await named('other.example')).toMatchObject({ code: 14, message: expect.stringContaining('does not match') });
  expect(events).toEqual([]);
});

test('the server is told the name that it is called by, unless that is an address', async () => {
  const { cert, key } = tls;
  const asked: unknown[] = [];
  const server = createServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
    asked.push(socket.servername);
    socket.on('error', () => undefined).destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['localhost', '127.0.0.1']) {
    await testClient({ address: `${host}:${port}`, tls: { ca: cert } }).call('/t/Echo');
  }
  expect(asked).toEqual(['localhost', false]);
});

test('certificates that cannot be read are an error at once, without their content', () => {
  expect(() => testClient({ address: 'localhost:1', tls: { cert: 'no PEM', key: 'secret' } })).toThrow(/PEM/);
  expect(() => testClient({ address: 'localhost:1', tls: { cert: 'no PEM', key: 'secret' } })).not.toThrow(/secret/);
});

test('a server that speaks something else is none', async () => {
  const server = createServer({ ...tls, ALPNProtocols: ['http/1.1'] });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const outcome = await testClient({ address: `localhost:${port}`, tls: { ca: tls.cert } }).call('/t/Echo');
  expect(outcome).toMatchObject({ code: 14 });
});
