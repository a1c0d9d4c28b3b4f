import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * Which hosts the proxy answers for and which pages may call it. A stranger's page can point its own name at this
 * machine (DNS rebinding); the name in the request reveals that.
 */
export class AllowedCallers {
  readonly #host: string;
  readonly #origins: ReadonlySet<string>;

  constructor(listeningHost: string, origins: readonly string[]) {
    this.#host = listeningHost.toLowerCase();
    this.#origins = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  }

  isHost({ headers, rawHeaders, socket }: IncomingMessage): boolean {
    const given = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
    const host = hostName(headers.host ?? '');
    if (given.length !== 1 || host === undefined) return false;
    // One that listens on all addresses answers for the one that the connection came to.
    return isLoopback(host) || host === this.#host || host === unmapped(socket.localAddress ?? '');
  }

  /** Programs send no origin. A page does, and must be of this host or be named. */
  isOrigin({ headers }: IncomingMessage): boolean {
    const origin = headers.origin?.toLowerCase();
    return origin === undefined || origin === `http://${headers.host?.toLowerCase()}` || this.#origins.has(origin);
  }
}

function hostName(authority: string): string | undefined {
  try {
    const { hostname, pathname, username } = new URL(`http://${authority}`);
    return pathname === '/' && username === '' ? hostname.replaceAll(/^\[|\]$/g, '') : undefined;
  } catch {
    return undefined;
  }
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function unmapped(address: string): string {
  return address.replace(/^::ffff:/, '');
}
