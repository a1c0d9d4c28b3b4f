import type { IncomingMessage } from 'node:http';
import { bareHost, hostOfAddress, hostOfAuthority, isLoopback } from '@reeve/contract/host-name';

const mostSeen = 100;

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
    if (host !== undefined && (isLoopback(bareHost(host)) || this.#names.has(host))) {
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
