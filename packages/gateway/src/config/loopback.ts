import { BlockList, isIP, isIPv6 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Whether a name or address always means this machine. Names below `localhost` do not: not every resolver keeps them
 * local.
 */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return /^localhost\.?$/i.test(host);
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}
