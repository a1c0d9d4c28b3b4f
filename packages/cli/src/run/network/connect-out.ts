import { lookup } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { connect, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostOfAddress, bareHost } from '@reeve/contract/host-name';
import { whyNotPublic } from './public-address.ts';

const resolveMs = 15_000;
const connectMs = 20_000;
const mostAddresses = 4;

/** The server cannot be reached. */
export class UnreachableError extends Error {}

/** What a name means, asked once. */
export interface Resolved {
  /** All public, or one that is not. */
  readonly addresses: readonly string[];
  /** Why it is not public. A rule must name it then. */
  readonly notPublic: string | undefined;
}

/** The addresses of a host. If a name has some that are public, the others do not count. */
export async function resolveHost(host: string, signal: AbortSignal): Promise<Resolved> {
  const found = isIP(host) === 0 ? await addressesOf(host, signal) : [host];
  const judged = found.map((address) => ({ address, why: whyNotPublic(address) }));
  const open = judged.filter(({ why }) => why === undefined).map(({ address }) => address);
  if (open.length > 0) return { addresses: open.slice(0, mostAddresses), notPublic: undefined };
  const [first] = judged;
  if (first === undefined) throw new UnreachableError(`${host} has no address`);
  return { addresses: [first.address], notPublic: first.why };
}

async function addressesOf(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const late = sleep(resolveMs, undefined, { signal, ref: false }).then(() => {
    throw new UnreachableError(`the name ${host} could not be resolved in time`);
  });
  try {
    const found = await Promise.race([lookup(host, { all: true }), late]);
    // An address of IPv4 that is written as one of IPv6 is the same one.
    return found.map(({ address }) => bareHost(hostOfAddress(address) ?? address));
  } catch (error) {
    if (error instanceof UnreachableError || signal.aborted) throw error;
    throw new UnreachableError(`the name ${host} cannot be resolved`, { cause: error });
  } finally {
    late.catch(() => {});
  }
}

/** Connects to the first of these addresses that answers, and to nothing else. */
export async function connectOut(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  let last: unknown;
  for (const address of addresses) {
    try {
      return await connected(address, port, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      last = error;
    }
  }
  const code = (last as NodeJS.ErrnoException | undefined)?.code ?? 'it does not answer';
  throw new UnreachableError(`no connection to ${addresses.join(', ')} port ${port}: ${code}`, { cause: last });
}

function connected(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host: address, port, family: isIP(address), allowHalfOpen: true, noDelay: true });
  const giveUp = (reason: unknown) => {
    socket.destroy();
    reject(reason);
  };
  const abort = () => giveUp(signal.reason);
  const timer = setTimeout(() => giveUp(new UnreachableError('it does not answer in time')), connectMs);
  const over = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  socket.once('error', reject).once('connect', () => {
    socket.off('error', reject);
    resolve(socket);
  });
  return promise.finally(over);
}
