import type { AccountStorePlace } from '@reeve/core/testkit';
import { accountStoreConformance } from '@reeve/core/testkit';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { SqlAccountStore } from './account-store.ts';

const nothing = () => undefined;
const quiet = { onCommitted: nothing, onRegained: nothing, onFatal: nothing };
// As several gateways that hear each other, which the suite opens side by side.
const settings = { sync: 'process', version: '1', isShared: true, lostAfterMs: 10_000, ...quiet } as const;

/** A database that holds both the log and the accounts. */
async function databaseFor(): Promise<AccountStorePlace> {
  const { url, drop } = await createDatabase();
  return {
    open: async () => {
      const opened = new AsyncDisposableStack();
      const { store: log, database } = await openPostgres({ url: parsePostgresUrl(url), ...settings }, opened);
      const store = new SqlAccountStore(database);
      return {
        store,
        recordOwed: async (id) => {
          // A gateway knows the log before it writes to it.
          await log.load();
          await log.commit({ entries: [], changes: [{ kind: 'owed_entry_recorded', id }] });
        },
        close: () => opened.disposeAsync(),
      };
    },
    dispose: drop,
  };
}

accountStoreConformance('PostgreSQL', databaseFor);
