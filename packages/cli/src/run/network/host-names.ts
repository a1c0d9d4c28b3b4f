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

/**
 * Resolves the names that a program asks for, one after the other. A lookup that has begun cannot be called off, and this process
 * makes two at a time. So a program, whatever it asks for, never takes both: the other is for the name of the gateway.
 */
export class HostNames {
  #isBusy = false;
  readonly #waiting = new Set<() => void>();

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
      const found = await Promise.race([this.#inTurn(host, over.signal), late]);
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
  async #inTurn(host: string, over: AbortSignal): Promise<readonly LookupAddress[]> {
    if (this.#isBusy) await this.#turn(over);
    this.#isBusy = true;
    return lookup(host, { all: true }).finally(() => this.#next());
  }

  #turn(over: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.delete(begin);
      reject(over.reason);
    };
    const begin = () => {
      over.removeEventListener('abort', leave);
      resolve();
    };
    this.#waiting.add(begin);
    over.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Whoever is next has the place at once, so that nobody comes in between. */
  #next(): void {
    const [begin] = this.#waiting;
    this.#isBusy = begin !== undefined;
    if (begin === undefined) return;
    this.#waiting.delete(begin);
    begin();
  }
}
