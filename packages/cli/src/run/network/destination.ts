import { isIP } from 'node:net';
import { bareHost, hostOfAuthority } from '@reeve/contract/host-name';

/** Where a program wants to connect to. The host is in the one form of all its spellings. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'https' | 'http' | 'tcp';
}

const name = /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?$/;
const address = /^[0-9A-Fa-f:.]{2,45}$/;

/** The host as a name or an address without brackets; undefined if it is neither. Other scripts come as ASCII (`xn--`). */
export function readHost(text: string): string | undefined {
  const bare = /^\[.*\]$/.test(text) ? bareHost(text) : text;
  if (bare.includes(':')) return address.test(bare) ? canonical(`[${bare}]`) : undefined;
  return name.test(text) ? canonical(text) : undefined;
}

function canonical(text: string): string | undefined {
  const host = hostOfAuthority(text);
  return host === undefined || host === '' ? undefined : bareHost(host);
}

/** `host:port`, or with `defaultPort` also `host` alone. */
export function readAuthority(
  text: string,
  defaultPort?: number,
): { readonly host: string; readonly port: number } | undefined {
  const [, written = '', digits] = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = readHost(written);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** What the bytes of a tunnel are supposed to be. */
export function protocolOf(port: number): Destination['protocol'] {
  return port === 443 ? 'https' : port === 80 ? 'http' : 'tcp';
}

/** An authority as a `Host` header has it. */
export function authorityOf({ host, port }: Pick<Destination, 'host' | 'port'>): string {
  const written = isIP(host) === 6 ? `[${host}]` : host;
  return port === 80 ? written : `${written}:${port}`;
}
