import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { TestPostgres } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { connectFirst, disconnect } from './connection.ts';
import { PostgresDatabase } from './postgres-database.ts';

let server: TestPostgres;
let place: TestDatabase;
let db: PostgresDatabase;
beforeAll(async () => {
  server = await TestPostgres.start();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  place = await server.createDatabase();
  await place.query('CREATE TABLE notes (id BIGINT PRIMARY KEY, said TEXT)');
  const { client, options } = await connectFirst(parsePostgresUrl(place.url));
  await disconnect(client);
  db = new PostgresDatabase(options);
});
afterEach(async () => {
  await db.close();
  await place.drop();
});

const said = async () => (await db.all('SELECT said FROM notes ORDER BY id')).map((row) => row['said']);

test('portable SQL is run with its values, and counts what it changed', async () => {
  expect(await db.run('INSERT INTO notes VALUES (?, ?), (?, ?)', 1, 'one', 2 ** 53 - 1, null)).toBe(2);
  expect(await db.all('SELECT id, said FROM notes WHERE id > ? ORDER BY id', 0)).toEqual([
    { id: 1, said: 'one' },
    { id: 2 ** 53 - 1, said: null },
  ]);
  expect(await db.all('SELECT count(*) AS n, sum(id) AS total FROM notes WHERE id < 5')).toEqual([{ n: 1, total: 1 }]);
  expect(await db.run('DELETE FROM notes WHERE id = ?', 5)).toBe(0);
});

test('texts come back as they were, U+0000 among them, and are found by it', async () => {
  const odd = `a\0b\u0001 '"\\ 🦊`;
  await db.run('INSERT INTO notes VALUES (1, ?)', odd);
  expect(await db.all('SELECT said FROM notes WHERE said = ?', odd)).toEqual([{ said: odd }]);
});

test('a transaction has all of its changes, or none', async () => {
  const count = await db.transaction([], async (sql) => {
    await sql.run('INSERT INTO notes VALUES (1, ?)', 'kept');
    return (await sql.all('SELECT id FROM notes')).length;
  });
  expect(count).toBe(1);
  const failing = db.transaction([], async (sql) => {
    await sql.run('INSERT INTO notes VALUES (2, ?)', 'lost');
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await said()).toEqual(['kept']);
});

test('a statement that fails ends the transaction, also where nobody looks at the failure', async () => {
  const failing = db.transaction([], async (sql) => {
    await sql.run('INSERT INTO notes VALUES (1, ?)', 'one');
    await sql.run('INSERT INTO notes VALUES (1, ?)', 'again').catch(() => undefined);
  });
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  expect(await said()).toEqual([]);
});

test('a session is of no use once its transaction is over', async () => {
  const kept = await db.transaction([], async (sql) => sql);
  await expect(kept.run('INSERT INTO notes VALUES (1, ?)', 'late')).rejects.toThrow('the transaction is over');
  expect(await said()).toEqual([]);
});

test('transactions that name a common lock run one after the other, and others at once', async () => {
  const running = new Set<string>();
  const overlaps = new Set<string>();
  const work = (name: string, ...locks: string[]) =>
    db.transaction(locks, async (sql) => {
      for (const other of running) overlaps.add([name, other].toSorted().join(' '));
      running.add(name);
      await sql.all('SELECT pg_sleep(0.05)');
      running.delete(name);
    });
  await Promise.all([work('a', 'x', 'y'), work('b', 'y', 'x'), work('c', 'y', 'z'), work('d', 'w')]);
  expect([...overlaps].filter((pair) => !pair.includes('d'))).toEqual([]);
  expect(overlaps.size).toBeGreaterThan(0);
});

test('many transactions at once wait for a connection and do not wait for each other for ever', async () => {
  const many = Array.from({ length: 100 }, (_, index) =>
    db.transaction(index % 2 === 0 ? ['x', 'y'] : ['y', 'x'], (sql) =>
      sql.run('INSERT INTO notes VALUES (?, ?)', index, 'x'),
    ),
  );
  await Promise.all(many);
  expect(await said()).toHaveLength(100);
});

test('while the server is away all fails with store_unavailable, nothing crashes, and later it works again', async () => {
  await db.run('INSERT INTO notes VALUES (1, ?)', 'before');
  const interrupted = db.transaction([], async (sql) => {
    await sql.run('INSERT INTO notes VALUES (2, ?)', 'lost');
    await server.halt();
    await sleep(100);
    await sql.run('INSERT INTO notes VALUES (3, ?)', 'lost');
  });
  await expect(interrupted).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(db.all('SELECT 1')).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(db.transaction(['x'], (sql) => sql.run('SELECT 1'))).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  await server.resume();
  await expect.poll(said, { timeout: 10_000 }).toEqual(['before']);
});

test('a mistake in a statement is not taken for an outage', async () => {
  await expect(db.all('SELECT nonsense')).rejects.toMatchObject({ code: '42703' });
});

test('what is read in a snapshot does not change under the reader', async () => {
  await db.run('INSERT INTO notes VALUES (1, ?)', 'one');
  const seen = await db.snapshot(async (sql) => {
    const before = await sql.all('SELECT said FROM notes');
    await place.query(`UPDATE notes SET said = 'two'`);
    return [before, await sql.all('SELECT said FROM notes')];
  });
  expect(seen).toEqual([[{ said: 'one' }], [{ said: 'one' }]]);
});
