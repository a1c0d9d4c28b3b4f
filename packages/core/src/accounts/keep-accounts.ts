import type { Accounts } from './accounts.ts';
import { settleOwed } from './change-accounts.ts';

/** Ended sessions are remembered for so long that a stolen token which comes back late is still noticed. */
const rememberedMs = 24 * 3_600_000;

/** What is done about accounts now and then: entries still owed are recorded, and what is over is forgotten. */
export async function keepAccounts(accounts: Accounts): Promise<void> {
  await settleOwed(accounts);
  const now = accounts.access.clock.now();
  await accounts.store.transaction([], (rows) => rows.removeStale(now - rememberedMs, now));
}
