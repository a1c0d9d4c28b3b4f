import type { AccountsPlace, MadeOwner } from '@reeve/gateway/offline-accounts';
import { CliError } from '../cli-error.ts';

/**
 * Accounts are made without a gateway only by the gateway's own code, so that both agree on what an account is. It is
 * loaded only here, and only when such a command runs.
 */

export type { AccountsPlace };

export async function createOwnerOffline(
  place: AccountsPlace,
  email: string,
): Promise<MadeOwner & { readonly isNewStore: boolean }> {
  const { createOwnerIn } = await import('@reeve/gateway/offline-accounts');
  try {
    return await createOwnerIn(place, email);
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
