import { isIP } from 'node:net';

/**
 * The host of an authority such as a `Host` header, without its port, as the URL standard writes it; undefined if there
 * is none. It is in lower case, with international names as ASCII, canonical addresses, IPv4 unwrapped from IPv6, and
 * no final dot: `LOCALHOST.:80` and `localhost` are the same.
 */
export function hostOfAuthority(authority: string): string | undefined {
  if (authority === '' || /[\s/?#@\\]/.test(authority)) return undefined;
  const url = URL.parse(`http://${authority}`);
  return url === null ? undefined : withoutMapping(url.hostname.replace(/(?<=.)\.$/, ''));
}

/** The address of a socket, in the form of `hostOfAuthority`. */
export function hostOfAddress(address: string): string | undefined {
  const [bare = ''] = address.split('%');
  return hostOfAuthority(isIP(bare) === 6 ? `[${bare}]` : bare);
}

/** `[::ffff:7f00:1]` is an IPv4 address within IPv6. */
function withoutMapping(host: string): string {
  const match = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host);
  if (match === null) return host;
  const bits = (Number.parseInt(match[1] ?? '', 16) << 16) | Number.parseInt(match[2] ?? '', 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}
