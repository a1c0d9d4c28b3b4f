import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { GatewayOptions } from './gateway.ts';
import { TestGateway } from './gateway.ts';
import { createDatabase } from './postgres.ts';

/** A store on which gateways can start repeatedly. */
export interface TestStore extends AsyncDisposable {
  /** A gateway on this store. On PostgreSQL several may run at once. */
  start(options?: GatewayOptions): Promise<TestGateway>;
  /** Changes the stored data while no gateway runs on it. */
  change(sql: string): Promise<void>;
}

export const sqliteStore = { name: 'SQLite', open: openSqlite } as const;
export const postgresStore = { name: 'PostgreSQL', open: openPostgres } as const;

const only = process.env['REEVE_TEST_STORE'];

/**
 * The durable stores. Tests try each promise on every one: `npm test` on SQLite, and `npm run test:long` on PostgreSQL, for
 * which the store itself, and several gateways, have tests in `npm test`.
 */
export const durableStores = [sqliteStore, postgresStore].filter(({ name }) => only === undefined || name === only);

async function openSqlite(): Promise<TestStore> {
  const gateways: TestGateway[] = [];
  return {
    start: async (options = {}) => {
      const folder = gateways.at(-1)?.folder;
      const gateway = await TestGateway.start(folder === undefined ? options : { ...options, folder });
      gateways.push(gateway);
      return gateway;
    },
    change: (sql) => {
      using db = new DatabaseSync(join(gateways.at(-1)?.folder ?? '', 'reeve.db'));
      db.exec(sql);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: async () => {
      // All have the same folder, which the first one to go removes. Only the newest may still write to it.
      for (const gateway of gateways.toReversed()) await gateway[Symbol.asyncDispose]();
    },
  };
}

async function openPostgres(): Promise<TestStore> {
  const database = await createDatabase();
  const gateways: TestGateway[] = [];
  return {
    start: async (options = {}) => {
      const gateway = await TestGateway.start({ ...options, database });
      gateways.push(gateway);
      return gateway;
    },
    change: async (sql) => {
      await database.query(sql);
    },
    [Symbol.asyncDispose]: async () => {
      for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}
