import type { Client } from 'pg';
import { migrationLock } from './locks.ts';
import { postgresMigrations } from './postgres-schema.ts';

/**
 * Migrates a database to the newest version, and refuses one that a newer Reeve has made. If several gateways start at
 * once, one migrates while the others wait.
 */
export async function migratePostgres(client: Client, migrations = postgresMigrations): Promise<void> {
  if ((await versionOf(client, migrations.length)) === migrations.length) return;
  // The others, or an index over a large log, may take long.
  await client.query('SET statement_timeout = 0');
  await client.query('SELECT pg_advisory_lock($1, $2)', migrationLock);
  try {
    const version = await versionOf(client, migrations.length);
    for (const [index, sql] of migrations.entries()) {
      if (index >= version) await migrateTo(client, index + 1, sql);
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock($1, $2)', migrationLock);
    await client.query('RESET statement_timeout');
  }
}

async function migrateTo(client: Client, version: number, sql: string): Promise<void> {
  await client.query('BEGIN');
  try {
    if (version === 1) {
      await client.query(
        'CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())',
      );
    }
    await client.query(sql);
    await client.query('INSERT INTO schema_versions (version) VALUES ($1)', [version]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function versionOf(client: Client, known: number): Promise<number> {
  const { rows } = await client.query<{ made: boolean }>(`SELECT to_regclass('schema_versions') IS NOT NULL AS made`);
  if (rows[0]?.made !== true) return 0;
  const newest = await client.query<{ version: number | null }>('SELECT max(version) AS version FROM schema_versions');
  const version = newest.rows[0]?.version ?? 0;
  if (version > known) {
    throw new Error(
      `the store has version ${version} and this Reeve knows up to ${known}: it was made by a newer release; start that one, or restore a backup from before the upgrade`,
    );
  }
  return version;
}
