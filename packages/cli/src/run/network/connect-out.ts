import type { Socket } from 'node:net';
import { connect, isIP } from 'node:net';
import { bareHost, hostOfAddress } from '@reeve/contract/host-name';
import type { Line } from './line.ts';
import { highWaterMark } from './line.ts';

const connectMs = 20_000;

/** The server cannot be reached. */
export class UnreachableError extends Error {}

/** Connects a line to the first of these addresses that answers, and to nothing else. While it is held, it waits before each. */
export async function connectOut(
  line: Line,
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown;
  for (const address of addresses) {
    try {
      await line.released(signal);
      return await connected(line, address, port, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      last = error;
    }
  }
  const code = (last as NodeJS.ErrnoException | undefined)?.code ?? 'it does not answer';
  throw new UnreachableError(`no connection to ${addresses.join(', ')} port ${port}: ${code}`, { cause: last });
}

function connected({ onread }: Line, address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const how = { family: isIP(address), allowHalfOpen: true, noDelay: true, highWaterMark, onread };
  const socket = connect({ host: address, port, ...how }).pause();
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

/**
 * The address, if the connection has come back to this machine. Only the kernel knows all that are its own: those of an interface
 * that is down, and of a local route, are in no list of interfaces.
 */
export function ownAddress({ localAddress, remoteAddress }: Socket): string | undefined {
  if (remoteAddress === undefined || localAddress !== remoteAddress) return undefined;
  return bareHost(hostOfAddress(remoteAddress) ?? remoteAddress);
}
