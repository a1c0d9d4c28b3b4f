import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readAuthority, readHost } from './destination.ts';
import { whyNotPublic } from './public-address.ts';

const refused: readonly (readonly [address: string, why: string])[] = [
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['0.0.0.0', 'of this network'],
  ['0.1.2.3', 'of this network'],
  ['10.1.2.3', 'a private address'],
  ['172.16.0.1', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.168.0.1', 'a private address'],
  ['100.64.0.1', 'a shared address'],
  ['100.127.255.255', 'a shared address'],
  ['169.254.1.1', 'a link-local address'],
  ['169.254.169.254', 'a metadata service'],
  ['168.63.129.16', 'a metadata service'],
  ['100.100.100.200', 'a metadata service'],
  ['fd00:ec2::254', 'a metadata service'],
  ['224.0.0.1', 'a multicast address'],
  ['239.255.255.255', 'a multicast address'],
  ['255.255.255.255', 'a reserved address'],
  ['198.18.0.1', 'a reserved address'],
  ['192.0.0.8', 'a reserved address'],
  ['::1', 'a loopback address'],
  ['::', 'of this network'],
  ['fc00::1', 'a private address'],
  ['fdff::1', 'a private address'],
  ['fe80::1', 'a link-local address'],
  ['fe80::1%eth0', 'a link-local address'],
  ['fec0::1', 'a private address'],
  ['ff02::1', 'a multicast address'],
  ['2001:db8::1', 'a reserved address'],
  ['2001::7f00:1', 'a reserved address'],
  ['64:ff9b::7f00:1', 'a loopback address'],
  ['64:ff9b::10.0.0.5', 'a private address'],
  ['64:ff9b::a9fe:a9fe', 'a metadata service'],
  ['64:ff9b:1::808:808', 'not a public address'],
  ['2002:7f00:1::', 'a loopback address'],
  ['2002:c0a8:1::1', 'a private address'],
  ['::7f00:1', 'not a public address'],
  ['::ffff:7f00:1', 'a loopback address'],
  ['::ffff:10.0.0.1', 'a private address'],
  ['5f00::1', 'not a public address'],
];

describe('an address', () => {
  test.each(refused)('%s is %s', (address, why) => {
    expect(whyNotPublic(address)).toBe(why);
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700::1111',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('%s is public', (address) => {
    expect(whyNotPublic(address)).toBeUndefined();
  });

  test('of this machine is none of the public ones', () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address } of own) expect(whyNotPublic(address), address).toBeDefined();
  });
});

describe('a host', () => {
  test.each([
    ['127.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['[::ffff:127.0.0.1]', '127.0.0.1'],
    ['::FFFF:7F00:1', '127.0.0.1'],
    ['[0:0:0:0:0:0:0:1]', '::1'],
    ['EXAMPLE.com.', 'example.com'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ])('%s is %s', (text, host) => {
    expect(readHost(text)).toBe(host);
  });

  test.each([
    '',
    '.',
    'a b',
    'a/b',
    'a@b',
    'a%2eb',
    'a\\b',
    '[fe80::1%25eth0]',
    '[::1',
    '256.1.1.1',
    '1.2.3.4.5',
    'bücher.example',
    'a'.repeat(254),
    'a\0b',
    '*',
  ])('%j is none', (text) => {
    expect(readHost(text)).toBeUndefined();
  });

  test('with a port', () => {
    expect(readAuthority('[::1]:443')).toEqual({ host: '::1', port: 443 });
    expect(readAuthority('example.com', 80)).toEqual({ host: 'example.com', port: 80 });
    for (const text of [
      'example.com',
      'example.com:0',
      'example.com:65536',
      'a:b:1',
      '::1:443',
      'a:1:2',
      ':80',
      'a:+1',
      'a: 1',
      'user@a:1',
    ]) {
      expect(readAuthority(text), text).toBeUndefined();
    }
  });
});
