import type { IncomingMessage } from 'node:http';
import { hostOfAuthority } from '@reeve/contract/host-name';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AllowedHosts } from './allowed-hosts.ts';
import { HttpError } from './problem.ts';

const nothing = { publicUrl: undefined, listeningOn: '127.0.0.1', allowed: [] };

/** The answer to a request with these names; undefined if it is let in. */
function refusal(hosts: AllowedHosts, given: readonly string[], url = '/', localAddress = '127.0.0.1') {
  const request = {
    headers: { host: given[0] },
    rawHeaders: given.flatMap((host) => ['Host', host]),
    url,
    socket: { localAddress },
  };
  try {
    hosts.require(request as unknown as IncomingMessage);
    return undefined;
  } catch (error) {
    return error instanceof HttpError ? error.code : 'something else';
  }
}

test.each([
  'localhost',
  'LocalHost:8080',
  'localhost.',
  'localhost.:1',
  '127.0.0.1:8080',
  '127.9.8.7',
  '2130706433',
  '0x7f.1',
  '[::1]:8080',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]:80',
])('%s is a loopback name', (host) => {
  expect(refusal(new AllowedHosts(nothing), [host])).toBeUndefined();
});

test.each([
  'attacker.example',
  'attacker.example:8080',
  'localhost.attacker.example',
  'evil.localhost',
  'localhost@attacker.example',
  'attacker.example@localhost',
  'attacker.example/localhost',
  'attacker.example#localhost',
  'attacker.example\\@localhost',
  '127.0.0.1.attacker.example',
  '10.0.0.1',
  '0.0.0.0',
  '[::2]',
  '[::ffff:10.0.0.1]',
  '[::1',
  'localhost:99999',
  'localhost:a',
  'local host',
  ' ',
  '',
  '..',
  '*',
])('%j is not', (host) => {
  expect(refusal(new AllowedHosts(nothing), [host])).toBe('misdirected_request');
});

test('the public URL, the listening address and the allowed hosts count, whatever the port and the case', () => {
  const hosts = new AllowedHosts({
    publicUrl: 'https://Reeve.Example.com:8443/base',
    listeningOn: 'gateway.internal',
    allowed: ['münchen.example', '10.0.0.5:80', '[fd00::5]', '*.Apps.example'],
  });
  const expected: readonly (readonly [string, boolean])[] = [
    ['reeve.example.com', true],
    ['REEVE.example.com.:443', true],
    ['gateway.internal:8080', true],
    ['xn--mnchen-3ya.example', true],
    ['10.0.0.5:9999', true],
    ['[fd00:0::5]', true],
    ['a.apps.example', true],
    ['a.b.apps.example:1', true],
    ['apps.example', false],
    ['evilapps.example', false],
    ['reeve.example.com.evil.example', false],
    ['example.com', false],
    ['10.0.0.6', false],
  ];
  for (const [host, isAllowed] of expected) {
    expect(refusal(hosts, [host]), host).toBe(isAllowed ? undefined : 'misdirected_request');
  }
});

test('who listens on all addresses answers for the one that the connection came to, and for no other', () => {
  const hosts = new AllowedHosts({ ...nothing, listeningOn: '0.0.0.0' });
  expect(refusal(hosts, ['192.0.2.7:8080'], '/', '192.0.2.7')).toBeUndefined();
  expect(refusal(hosts, ['192.0.2.7:8080'], '/', '::ffff:192.0.2.7')).toBeUndefined();
  expect(refusal(hosts, ['[fe80::1]'], '/', 'fe80::1%eth0')).toBeUndefined();
  expect(refusal(hosts, ['0.0.0.0:8080'], '/', '192.0.2.7')).toBeUndefined();
  expect(refusal(hosts, ['192.0.2.8:8080'], '/', '192.0.2.7')).toBe('misdirected_request');
});

test('a target with a host of its own must be of this gateway, too', () => {
  const hosts = new AllowedHosts(nothing);
  expect(refusal(hosts, ['localhost'], 'http://localhost/x')).toBeUndefined();
  expect(refusal(hosts, ['localhost'], 'http://attacker.example/x')).toBe('misdirected_request');
  expect(refusal(hosts, ['attacker.example'], 'http://localhost/x')).toBe('misdirected_request');
});

test('two Hosts are refused, also where both are good', () => {
  expect(refusal(new AllowedHosts(nothing), ['localhost', 'localhost'])).toBe('bad_request');
  expect(refusal(new AllowedHosts(nothing), ['localhost', 'attacker.example'])).toBe('bad_request');
});

test('a star lets all in', () => {
  const hosts = new AllowedHosts({ ...nothing, allowed: ['*'] });
  for (const host of ['attacker.example', '', '@']) expect(refusal(hosts, [host])).toBeUndefined();
});

test('no text but a loopback name gets in where nothing else is allowed, and none makes it throw', () => {
  const hosts = new AllowedHosts(nothing);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.webAuthority(),
        fc.ipV6().map((ip) => `[${ip}]`),
        fc.ipV4Extended(),
      ),
      (text) => {
        const host = hostOfAuthority(text);
        const isLoopback = host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
        expect(refusal(hosts, [text])).toBe(isLoopback ? undefined : 'misdirected_request');
      },
    ),
  );
});
