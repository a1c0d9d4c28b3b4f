import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bareHost, hostOfAddress, hostOfAuthority, isLocalAddress, isLoopback } from './host-name.ts';

test.each([
  ['LOCALHOST.:80', 'localhost'],
  ['Reeve.Example.com:8443', 'reeve.example.com'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['2130706433', '127.0.0.1'],
  ['0x7f.1:1', '127.0.0.1'],
  ['[0:0:0:0:0:0:0:1]:8080', '[::1]'],
  ['[::ffff:127.0.0.1]:80', '127.0.0.1'],
  ['[::ffff:a9fe:a9fe]', '169.254.169.254'],
  ['localhost.attacker.example', 'localhost.attacker.example'],
])('the host of the authority %j is %j', (authority, host) => {
  expect(hostOfAuthority(authority)).toBe(host);
});

test.each([
  '',
  ' ',
  'local host',
  'localhost@attacker.example',
  'attacker.example@localhost',
  'attacker.example/localhost',
  'attacker.example?localhost',
  'attacker.example#localhost',
  'attacker.example\\@localhost',
  '[::1',
  '::1',
  'localhost:99999',
  'localhost:a',
  '999.0.0.1',
])('%j is the authority of no host', (authority) => {
  expect(hostOfAuthority(authority)).toBeUndefined();
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', '[fe80::1]'],
  ['gateway.internal', 'gateway.internal'],
  ['192.0.2.7:5000', '192.0.2.7'],
  ['', undefined],
  ['::1]:80', undefined],
])('a socket at %j has the host %j', (address, host) => {
  expect(hostOfAddress(address)).toBe(host);
});

test.each(['localhost', 'LocalHost.', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  '%s always means this machine',
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each([
  '',
  'evil.localhost',
  'localhost.attacker.example',
  'localhost..',
  'localhost:80',
  '127.attacker.example',
  '127.0.0.1.attacker.example',
  '127.1',
  '127.0.0.01',
  '127.0.0.256',
  '127.0.0.1.',
  '2130706433',
  '0x7f.1',
  '10.0.0.1',
  '0.0.0.0',
  '::',
  '::2',
  '::ffff:10.0.0.1',
  '[::1]',
  '::1%lo',
])('%j may mean another one', (host) => {
  expect(isLoopback(host)).toBe(false);
});

test.each([
  'localhost:50051',
  '127.0.0.1:1',
  '127.3.2.1:65535',
  '[::1]:50051',
  'LOCALHOST.:1',
  'unix:/run/reeve.sock',
  '[::1]',
])('a server at %j is on this machine', (address) => {
  expect(isLocalAddress(address)).toBe(true);
});

test.each([
  '',
  ':50051',
  '127.999.0.1:50051',
  '[127.0.0.1]:1',
  '::1',
  'reeve.example:50051',
  'localhost.example:1',
  '[::2]:1',
  '0.0.0.0:1',
])('a server at %j may be elsewhere', (address) => {
  expect(isLocalAddress(address)).toBe(false);
});

test('no text makes this throw', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.webAuthority(),
    fc.ipV4Extended(),
    fc.ipV6().map((ip) => `[${ip}]`),
  );
  fc.assert(
    fc.property(texts, (text) => {
      for (const read of [hostOfAuthority, hostOfAddress, isLocalAddress, isLoopback])
        expect(() => read(text)).not.toThrow();
    }),
  );
});

test.each([
  ['[::1]', '::1'],
  ['[fe80::1]', 'fe80::1'],
  ['::1', '::1'],
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['', ''],
])('a socket reaches %j as %j', (host, bare) => {
  expect(bareHost(host)).toBe(bare);
});
