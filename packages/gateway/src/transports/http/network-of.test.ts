import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from './network-of.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff::', '2001:db8:0:0::/64'],
  ['2001:db8::2:0:0:1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['what is no address', 'what is no address'],
])('%s is of %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('of IPv6 the first half counts, and nothing else', () => {
  const group = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16));
  const half = fc.tuple(group, group, group, group).map((groups) => groups.join(':'));
  fc.assert(
    fc.property(half, half, half, (network, one, other) => {
      expect(networkOf(`${network}:${one}`)).toBe(`${network}::/64`);
      expect(networkOf(`${network}:${other}`)).toBe(networkOf(`${network}:${one}`));
    }),
  );
});
