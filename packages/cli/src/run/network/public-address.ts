import { BlockList, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { bareHost, hostOfAddress } from '@reeve/contract/host-name';

type Subnets = readonly (readonly [network: string, prefix: number])[];

/** What is not the public internet. What is not listed of IPv4 is public; of IPv6, only what is global unicast is. */
const special: readonly (readonly [what: string, subnets: Subnets])[] = [
  [
    'a metadata service',
    [
      ['169.254.169.254', 32],
      ['169.254.170.2', 32],
      ['100.100.100.200', 32],
      ['168.63.129.16', 32],
      ['192.0.0.192', 32],
      ['fd00:ec2::254', 128],
    ],
  ],
  [
    'a loopback address',
    [
      ['127.0.0.0', 8],
      ['::1', 128],
    ],
  ],
  [
    'of this network',
    [
      ['0.0.0.0', 8],
      ['::', 128],
    ],
  ],
  [
    'a private address',
    [
      ['10.0.0.0', 8],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['fc00::', 7],
      ['fec0::', 10],
    ],
  ],
  ['a shared address', [['100.64.0.0', 10]]],
  [
    'a link-local address',
    [
      ['169.254.0.0', 16],
      ['fe80::', 10],
    ],
  ],
  [
    'a multicast address',
    [
      ['224.0.0.0', 4],
      ['ff00::', 8],
    ],
  ],
  [
    'a reserved address',
    [
      ['192.0.0.0', 24],
      ['192.0.2.0', 24],
      ['192.88.99.0', 24],
      ['198.18.0.0', 15],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      ['240.0.0.0', 4],
      ['2001::', 23],
      ['2001:db8::', 32],
      ['3fff::', 20],
    ],
  ],
];

const lists = special.map(([what, subnets]) => ({ what, list: listOf(subnets) }));
const global = listOf([['2000::', 3]]);
const nat64 = listOf([['64:ff9b::', 96]]);
const sixToFour = listOf([['2002::', 16]]);

function listOf(subnets: Subnets): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, isIPv4(network) ? 'ipv4' : 'ipv6');
  return list;
}

/**
 * Why an address is not of the public internet; undefined if it is. Such an address leads to this machine or to what
 * trusts it. An address of IPv6 that carries one of IPv4 is what that one is.
 */
export function whyNotPublic(address: string): string | undefined {
  if (isIPv4(address)) return whyListed(address, 'ipv4') ?? (isOwn(address) ? 'an address of this machine' : undefined);
  if (address.includes('%')) return 'a link-local address';
  const listed = whyListed(address, 'ipv6');
  if (listed !== undefined) return listed;
  const groups = groupsOf(address);
  if (nat64.check(address, 'ipv6')) return whyNotPublic(ipv4Of(groups[6], groups[7]));
  if (sixToFour.check(address, 'ipv6')) return whyNotPublic(ipv4Of(groups[1], groups[2]));
  if (!global.check(address, 'ipv6')) return 'not a public address';
  return isOwn(address) ? 'an address of this machine' : undefined;
}

function whyListed(address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  return lists.find(({ list }) => list.check(address, family))?.what;
}

/** A service that listens on all addresses of this machine may think that only its network reaches it. */
function isOwn(address: string): boolean {
  const own = new BlockList();
  for (const each of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    own.addAddress(each.address.split('%')[0] ?? '', each.family === 'IPv4' ? 'ipv4' : 'ipv6');
  }
  return own.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** The eight groups of an address of IPv6. */
function groupsOf(address: string): readonly number[] {
  // The form of the URL standard has no dots.
  const written = bareHost(hostOfAddress(address) ?? '');
  const [head = '', tail] = written.split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [read(head), read(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after];
}

function ipv4Of(upper = 0, lower = 0): string {
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}
