import { messageOf } from '@reeve/core';
import type { Config } from '../config/settings.ts';
import { StartError } from '../start-error.ts';

type Address = Config['httpAddr'];

/** Listens, or says in one line why that is not possible. */
export async function listening<Bound>(
  what: string,
  address: Address,
  option: string,
  listen: (address: Address) => Promise<Bound>,
): Promise<Bound> {
  try {
    return await listen(address);
  } catch (error) {
    throw new StartError(
      `cannot listen for ${what} on ${placeText(address)}: ${messageOf(error)}; choose another with ${option}`,
    );
  }
}

/** An address as it is written. */
export function placeText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
