import type { AccountsPlace, MadeOwner } from '@reeve/gateway/offline-accounts';
import type { BootstrapKey } from '@reeve/gateway/offline-keys';
import { CliError } from '../cli-error.ts';

/**
 * Accounts and keys are made without a gateway only by the gateway's own code, so that both agree on what they are. It
 * is loaded only here, and only when such a command runs.
 */

export type { AccountsPlace };

export async function createOwnerOffline(
  place: AccountsPlace,
  email: string,
): Promise<MadeOwner & { readonly isNewStore: boolean }> {
  const { createOwnerIn } = await import('@reeve/gateway/offline-accounts');
  return await explained(createOwnerIn(place, email));
}

export async function bootstrapKeyOffline(dataDir: string): Promise<BootstrapKey> {
  const { bootstrapKeyIn } = await import('@reeve/gateway/offline-keys');
  return await explained(bootstrapKeyIn(dataDir));
}

async function explained<Made>(making: Promise<Made>): Promise<Made> {
  try {
    return await making;
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
