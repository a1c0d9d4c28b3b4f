import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareHost, hostOfAddress } from '@reeve/contract/host-name';
import { UnreachableError } from './connect-out.ts';
import { whyNotPublic } from './public-address.ts';

const resolveMs = 15_000;
const mostAddresses = 4;

/** What a name means, asked once. */
export interface Resolved {
  /** All public, or one that is not. */
  readonly addresses: readonly string[];
  /** Why it is not public. A rule must name it then. */
  readonly notPublic: string | undefined;
}

interface Sought {
  readonly found: Promise<readonly LookupAddress[]>;
  readonly begin: () => void;
  askers: number;
}

/**
 * Resolves the names that a program asks for, one after the other, and each once for all who wait for it. A lookup that has begun
 * cannot be called off, and this process makes two at a time. So a program, whatever it asks for, never takes both: the other is
 * for the name of the gateway.
 */
export class HostNames {
  /** The name that is being looked up, and those that wait, in their order. */
  readonly #sought = new Map<string, Sought>();
  #current: string | undefined;

  /** The addresses of a host. If a name has some that are public, the others do not count. */
  async resolve(host: string, signal: AbortSignal): Promise<Resolved> {
    const found = isIP(host) === 0 ? await this.#addressesOf(host, signal) : [host];
    const judged = found.map((address) => ({ address, why: whyNotPublic(address) }));
    const open = judged.filter(({ why }) => why === undefined).map(({ address }) => address);
    if (open.length > 0) return { addresses: open.slice(0, mostAddresses), notPublic: undefined };
    const [first] = judged;
    if (first === undefined) throw new UnreachableError(`${host} has no address`);
    return { addresses: [first.address], notPublic: first.why };
  }

  async #addressesOf(host: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    const over = new AbortController();
    const late = sleep(resolveMs, undefined, { signal: AbortSignal.any([signal, over.signal]), ref: false }).then(
      () => {
        throw new UnreachableError(`the name ${host} could not be resolved in time`);
      },
    );
    try {
      const found = await Promise.race([this.#shared(host, over.signal), late]);
      // An address of IPv4 that is written as one of IPv6 is the same one.
      return found.map(({ address }) => bareHost(hostOfAddress(address) ?? address));
    } catch (error) {
      if (error instanceof UnreachableError || signal.aborted) throw error;
      throw new UnreachableError(`the name ${host} cannot be resolved`, { cause: error });
    } finally {
      over.abort();
      late.catch(() => {});
    }
  }

  /** What nobody waits for any more when its turn comes is not looked up. */
  #shared(host: string, over: AbortSignal): Promise<readonly LookupAddress[]> {
    const sought = this.#sought.get(host) ?? this.#seek(host);
    sought.askers++;
    const leave = () => {
      sought.askers--;
      const isForNobody = sought.askers === 0 && this.#current !== host;
      if (isForNobody && this.#sought.get(host) === sought) this.#sought.delete(host);
    };
    over.addEventListener('abort', leave, { once: true });
    this.#next();
    return sought.found;
  }

  #seek(host: string): Sought {
    const { promise: found, resolve } = Promise.withResolvers<readonly LookupAddress[]>();
    const begin = () => {
      const looking = lookup(host, { all: true });
      resolve(looking);
      const over = () => {
        this.#sought.delete(host);
        this.#current = undefined;
        this.#next();
      };
      looking.then(over, over);
    };
    const sought = { found, begin, askers: 0 };
    this.#sought.set(host, sought);
    return sought;
  }

  #next(): void {
    const [next] = this.#sought;
    if (this.#current !== undefined || next === undefined) return;
    const [host, { begin }] = next;
    this.#current = host;
    begin();
  }
}
