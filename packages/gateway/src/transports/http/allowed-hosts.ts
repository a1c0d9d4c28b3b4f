import type { IncomingMessage } from 'node:http';
import { bareHost, hostOfAddress, hostOfAuthority, isLoopback } from '@reeve/contract/host-name';
import { HttpError } from './problem.ts';

export interface HostSettings {
  /** The configured address at which people reach the gateway, if any. */
  readonly publicUrl: string | undefined;
  /** The address that the gateway listens on. */
  readonly listeningOn: string;
  /** Further names; `*.example.com` is all below it, and `*` is any. */
  readonly allowed: readonly string[];
}

/**
 * The hosts that the gateway answers for. It prevents DNS rebinding: a stranger's page can point its own name at this
 * machine, and the browser then takes the gateway for a part of the stranger's site. The name in the request reveals
 * that.
 */
export class AllowedHosts {
  readonly #names = new Set<string>();
  readonly #parents: readonly string[];
  readonly #any: boolean;

  constructor({ publicUrl, listeningOn, allowed }: HostSettings) {
    const named = allowed.filter((name) => !name.startsWith('*'));
    const authorities = [publicUrl === undefined ? '' : new URL(publicUrl).host, ...named];
    for (const host of [...authorities.map(hostOfAuthority), hostOfAddress(listeningOn)]) {
      if (host !== undefined) this.#names.add(host);
    }
    this.#parents = allowed.filter((name) => name.startsWith('*.')).map((name) => `.${hostOfAuthority(name.slice(2))}`);
    this.#any = allowed.includes('*');
  }

  /** Throws if a request is meant for another host. */
  require({ headers, rawHeaders, url = '', socket }: IncomingMessage): void {
    if (this.#any) return;
    const given = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
    if (given.length > 1) throw new HttpError('bad_request', 'the request has more than one Host');
    this.#requireHost(headers.host ?? '', socket.localAddress);
    // A whole address in the first line counts as well.
    const target = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
    if (target !== undefined) this.#requireHost(target, socket.localAddress);
  }

  #requireHost(authority: string, localAddress: string | undefined): void {
    const host = hostOfAuthority(authority);
    if (host !== undefined && this.#isAllowed(host, localAddress)) return;
    const shown = JSON.stringify(authority.slice(0, 255));
    throw new HttpError(
      'misdirected_request',
      `this gateway does not answer for the host ${shown}; if it should, name it in SVC_ALLOWED_HOSTS or SVC_PUBLIC_URL`,
    );
  }

  #isAllowed(host: string, localAddress: string | undefined): boolean {
    if (isLoopback(bareHost(host)) || this.#names.has(host)) return true;
    // A gateway that listens on all addresses answers for the one that the connection came to.
    if (localAddress !== undefined && hostOfAddress(localAddress) === host) return true;
    return this.#parents.some((parent) => host.length > parent.length && host.endsWith(parent));
  }
}
