import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { connectFirst, disconnect } from '../postgres/connection.ts';
import { migratePostgres } from '../postgres/migrate-postgres.ts';
import { PostgresDatabase } from '../postgres/postgres-database.ts';
import type { SqlDatabase } from './sql-database.ts';
import { SqlForwardPositions } from './sql-forward-positions.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteStore } from './sqlite-store.ts';

async function expectPositions(database: SqlDatabase): Promise<void> {
  const positions = new SqlForwardPositions(database);
  const [first, second] = [
    { seq: 3, hash: 'c' },
    { seq: 9_007_199_254_740_991, hash: 'f' },
  ];
  expect(await positions.open('a', first)).toEqual(first);
  expect(await positions.open('b', { seq: 0, hash: '' })).toEqual({ seq: 0, hash: '' });
  expect(await positions.open('a', second)).toEqual(first);
  expect(await positions.move('a', { seq: 2, hash: 'b' }, second)).toBe(false);
  expect(await positions.read('a')).toEqual(first);
  expect(await positions.move('a', first, second)).toBe(true);
  expect(await positions.read('a')).toEqual(second);
  expect(await positions.read('b')).toEqual({ seq: 0, hash: '' });
}

test('a position in SQLite is kept for each target, and moves only from where it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-positions-'));
  const options = { path: join(folder, 'reeve.db'), sync: 'process' } as const;
  const store = new SqliteStore(options);
  const database = new SqliteDatabase(options);
  await expectPositions(database);
  await database.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test('and so it is in PostgreSQL', async () => {
  const { url } = await createDatabase();
  const { client, options } = await connectFirst(parsePostgresUrl(url));
  await migratePostgres(client);
  await disconnect(client);
  const database = new PostgresDatabase(options);
  await expectPositions(database);
  await database.close();
});
