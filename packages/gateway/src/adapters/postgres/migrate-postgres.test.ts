import { describe, expect, test } from 'vitest';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { connectFirst, disconnect } from './connection.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { openPostgres } from './open-postgres.ts';
import { postgresMigrations } from './postgres-schema.ts';

const nothing = () => undefined;

function openAlone(url: string, opened: AsyncDisposableStack) {
  const settings = { sync: 'process', version: '1', isShared: false, lostAfterMs: 10_000 } as const;
  const events = { onCommitted: nothing, onRegained: nothing, onFatal: nothing };
  return openPostgres({ url: parsePostgresUrl(url), ...settings, ...events }, opened);
}

async function migrate(database: TestDatabase, migrations = postgresMigrations): Promise<void> {
  const { client } = await connectFirst(parsePostgresUrl(database.url));
  try {
    await migratePostgres(client, migrations);
  } finally {
    await disconnect(client);
  }
}

/** Every table with its columns and indexes. */
async function shape(database: TestDatabase): Promise<unknown> {
  const columns = await database.query(
    `SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name
      FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
  );
  const indexes = await database.query(`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`);
  return { columns, indexes };
}

describe.each(postgresMigrations.map((_, index) => index))('a database of version %i', (version) => {
  test('is brought to the newest version, with what was in it, and is the same as a new one', async () => {
    const old = await createDatabase();
    const fresh = await createDatabase();
    await migrate(old, postgresMigrations.slice(0, version));
    if (version > 0) {
      await old.query(`INSERT INTO agents
        (org_id, team_id, agent_id, token_hash, name, framework, version, metadata, tool_names, registered_at)
        VALUES ('acme', '', 'bot', 'h', 'Bot', '', '', '{}', '[]', 5)`);
      await old.query(`INSERT INTO ops (org_id, team_id, agent_id, op_id, seq, record)
        VALUES ('acme', '', 'bot', 't:s', 1, '{"state":"running"}')`);
    }
    await migrate(old);
    await migrate(fresh);
    expect(await shape(old)).toEqual(await shape(fresh));
    const opened = new AsyncDisposableStack();
    const { store } = await openAlone(old.url, opened);
    const { agents, ops } = await store.load();
    expect([...agents].map(({ name }) => name)).toEqual(version > 0 ? ['Bot'] : []);
    expect([...ops].map(({ opId }) => opId)).toEqual(version > 0 ? ['t:s'] : []);
    await opened.disposeAsync();
    await old.drop();
    await fresh.drop();
  });
});

describe('a database that several gateways with seats have shared', () => {
  const beforeSeatsEnded = postgresMigrations.slice(0, 10);

  async function shared(): Promise<TestDatabase> {
    const database = await createDatabase();
    await migrate(database, beforeSeatsEnded);
    await database.query(`INSERT INTO seats (seat, holder, seen_at, ops_replay_from, event_ids_reserved)
      VALUES (1, 'a', now(), 7, 1000), (2, 'b', now(), 5, 3000)`);
    await database.query(`INSERT INTO ops (org_id, team_id, agent_id, op_id, seq, record, seat) VALUES
      ('acme', '', 'bot', 't:s', 1, '{"state":"running"}', 1), ('acme', '', 'bot', 't:s', 4, '{"state":"paused"}', 2)`);
    await database.query(`INSERT INTO control_sequences (org_id, team_id, agent_id, sequence, seat)
      VALUES ('acme', '', 'bot', 9, 1), ('acme', '', 'bot', 3, 2)`);
    return database;
  }

  test('has the newest of what they had, and replays from where either would', async () => {
    const database = await shared();
    await migrate(database);
    const opened = new AsyncDisposableStack();
    const { store } = await openAlone(database.url, opened);
    const snapshot = await store.load();
    expect(snapshot).toMatchObject({ opsReplayFrom: 5, eventIdsReserved: 3000, ops: [{ state: 'paused', seq: 4 }] });
    expect(snapshot.controlSequences.map(({ sequence }) => sequence)).toEqual([9]);
    await opened.disposeAsync();
    await database.drop();
  });

  test('adds up balances of several seats from the log, and is refused if the log is no longer whole', async () => {
    const database = await shared();
    await database.query(`INSERT INTO books (name, record, seat) VALUES ('x', '{}', 1), ('x', '{}', 2)`);
    await database.query(`INSERT INTO audit (seq, at, event_type, team_id, agent_id, hash, canonical)
      VALUES (5, 1, 'x', '', '', 'h', '{}')`);
    await expect(migrate(database)).rejects.toThrow('cannot be added up');
    await database.query('UPDATE audit SET seq = 1');
    await migrate(database);
    expect(await database.query('SELECT count(*)::int AS n FROM books')).toEqual([{ n: 0 }]);
    await database.drop();
  });
});

test('each version is on record, and to migrate again changes nothing', async () => {
  const database = await createDatabase();
  await migrate(database);
  const versions = () => database.query('SELECT version, applied_at FROM schema_versions ORDER BY version');
  const before = await versions();
  expect(before.map((row) => Number(row['version']))).toEqual(postgresMigrations.map((_, index) => index + 1));
  await migrate(database);
  expect(await versions()).toEqual(before);
  await database.drop();
});

test('where several start at once, one migrates and the others wait', async () => {
  const database = await createDatabase();
  await Promise.all(Array.from({ length: 5 }, () => migrate(database)));
  expect(await database.query('SELECT count(*)::int AS n FROM schema_versions')).toEqual([
    { n: postgresMigrations.length },
  ]);
  await database.drop();
});

test('a database that a newer release has made is refused', async () => {
  const database = await createDatabase();
  await migrate(database, [...postgresMigrations, 'CREATE TABLE from_the_future (x BIGINT)']);
  await expect(migrate(database)).rejects.toThrow('it was made by a newer release');
  await database.drop();
});

test('a version that fails half-way leaves nothing of itself behind', async () => {
  const database = await createDatabase();
  await migrate(database);
  const before = await shape(database);
  await expect(
    migrate(database, [...postgresMigrations, 'CREATE TABLE half (x BIGINT); SELECT nonsense']),
  ).rejects.toThrow('nonsense');
  expect(await shape(database)).toEqual(before);
  await database.drop();
});

test('whoever may not make tables can run on those that are there', async () => {
  const database = await createDatabase();
  await migrate(database);
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await database.query(`CREATE ROLE ${database.name}_clerk LOGIN PASSWORD 'clerk'`);
  const granted = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${database.name}_clerk`;
  await database.query(granted);
  const url = new URL(database.url);
  url.username = `${database.name}_clerk`;
  url.password = 'clerk';
  const opened = new AsyncDisposableStack();
  const { store } = await openAlone(url.href, opened);
  await store.probe();
  await opened.disposeAsync();
  await database.drop();
});
