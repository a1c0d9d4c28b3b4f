import type { AccountStorePlace } from '@reeve/core/testkit';
import { accountStoreConformance } from '@reeve/core/testkit';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { SqlAccountStore } from './account-store.ts';

const quiet = { onNotice: () => undefined, onRegained: () => undefined, onTaken: () => undefined };

/** A database that holds both the log and the accounts. */
async function databaseFor(): Promise<AccountStorePlace> {
  const { url, drop } = await createDatabase();
  return {
    open: async () => {
      const opened = new AsyncDisposableStack();
      const { store: log, database } = await openPostgres(parsePostgresUrl(url), 'process', quiet, opened);
      const store = new SqlAccountStore(database);
      return {
        store,
        recordOwed: async (id) => {
          await log.commit({ entries: [], changes: [{ kind: 'owed_entry_recorded', id }] });
        },
        close: () => opened.disposeAsync(),
      };
    },
    dispose: drop,
  };
}

accountStoreConformance('PostgreSQL', databaseFor);
