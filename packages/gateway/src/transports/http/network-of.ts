import { hostOfAddress } from '@reeve/contract/host-name';

/**
 * The owner of an address, for limits. An IPv4 address is one caller, even wrapped in IPv6. An IPv6 caller has at least
 * a network of 64 bits, with as many addresses as it likes.
 */
export function networkOf(address: string): string {
  const host = hostOfAddress(address);
  if (host === undefined || !host.startsWith('[')) return host ?? address;
  const [before = '', after = ''] = host.slice(1, -1).split('::');
  const head = groupsOf(before);
  const tail = groupsOf(after);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
