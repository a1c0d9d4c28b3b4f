import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

const mostSeen = 100;
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Why a request is not answered. */
export class WrongHost extends Error {
  /** Bad Request, or Misdirected Request. */
  readonly status: 400 | 421;

  constructor(status: 400 | 421, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Refuses requests that are meant for another host. A stranger's page can point its own name at this machine; the name
 * in the request reveals that.
 */
export class HostCheck {
  readonly #names: ReadonlySet<string>;
  readonly #any: boolean;
  /** Authorities that were found to be good, because clients send the same one again and again. */
  readonly #seen = new Set<string>();

  /** `allowed` are further names; `*` is any. */
  constructor(listeningOn: string, allowed: readonly string[]) {
    const hosts = [hostOfAddress(listeningOn), ...allowed.map(hostOfAuthority)];
    this.#names = new Set(hosts.filter((host) => host !== undefined));
    this.#any = allowed.includes('*');
  }

  /** Throws `WrongHost`. */
  require({ headers, rawHeaders, url = '', socket }: IncomingMessage): void {
    if (this.#any) return;
    const given = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
    if (given.length > 1) throw new WrongHost(400, 'the request has more than one Host');
    this.#requireHost(headers.host ?? '', socket.localAddress ?? '');
    // A whole address in the first line counts as well.
    const target = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
    if (target !== undefined) this.#requireHost(target, socket.localAddress ?? '');
  }

  #requireHost(authority: string, localAddress: string): void {
    if (this.#seen.has(authority)) return;
    const host = hostOfAuthority(authority);
    if (host !== undefined && (isLoopback(host) || this.#names.has(host))) {
      if (this.#seen.size < mostSeen) this.#seen.add(authority);
      return;
    }
    // Who listens on all addresses answers for the one that the connection came to.
    if (host !== undefined && hostOfAddress(localAddress) === host) return;
    const shown = JSON.stringify(authority.slice(0, 255));
    throw new WrongHost(
      421,
      `this proxy does not answer for the host ${shown}; if it should, name it with --allow-host`,
    );
  }
}

/** Whether a host always means this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 0) return /^localhost\.?$/i.test(bare);
  return loopback.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4');
}

/** The host of an authority without its port, as the URL standard writes it. */
function hostOfAuthority(authority: string): string | undefined {
  if (authority === '' || /[\s/?#@\\]/.test(authority)) return undefined;
  const url = URL.parse(`http://${authority}`);
  return url === null ? undefined : withoutMapping(url.hostname.replace(/(?<=.)\.$/, ''));
}

function hostOfAddress(address: string): string | undefined {
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
