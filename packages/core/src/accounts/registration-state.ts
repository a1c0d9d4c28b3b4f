import type { Accounts } from './accounts.ts';

/** Who may register: the first person of a new gateway, anybody, or nobody without an invite. */
export type RegistrationState = 'first' | 'open' | 'closed';

/** What a registration would meet. It tells no more than trying one does. */
export async function registrationState({ settings, store }: Accounts): Promise<RegistrationState> {
  const count = await store.read((rows) => rows.countAccounts());
  if (count === 0) return 'first';
  return settings.openRegistration ? 'open' : 'closed';
}
