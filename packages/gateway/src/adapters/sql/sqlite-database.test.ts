import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SqlSession } from './sql-database.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteStore } from './sqlite-store.ts';

let folder: string;
let path: string;
let store: SqliteStore;
let db: SqliteDatabase;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-database-'));
  path = join(folder, 'reeve.db');
  store = new SqliteStore({ path, sync: 'process' });
  db = new SqliteDatabase({ path, sync: 'process', busyForMs: 200 });
  await db.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)');
});

afterEach(async () => {
  await db.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(sql: SqlSession, body: string): Promise<number> {
  return sql.run('INSERT INTO notes (body) VALUES (?)', body);
}

async function notes(): Promise<unknown[]> {
  return (await db.all('SELECT body FROM notes ORDER BY id')).map((row) => row['body']);
}

test('a statement on its own is a transaction of its own, and says how many rows it changed', async () => {
  expect(await write(db, 'one')).toBe(1);
  expect(await write(db, 'two')).toBe(1);
  expect(await db.run('UPDATE notes SET body = ?', 'same')).toBe(2);
  expect(await db.run('DELETE FROM notes WHERE body = ?', 'other')).toBe(0);
  expect(await notes()).toEqual(['same', 'same']);
});

describe('beside the store that writes to the same file', () => {
  test('transactions and commits never meet, however many there are of both', async () => {
    let head = emptyChain;
    let commits = 0;
    const working = Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        db.transaction([], async (sql) => {
          await write(sql, `${index}`);
          await sql.all('SELECT count(*) FROM notes');
          await write(sql, `${index} again`);
          if (index % 3 === 0) await setImmediate().catch(() => undefined);
        }),
      ).map((transaction) => transaction.catch(() => undefined)),
    );
    const state = { done: false };
    void working.then(() => (state.done = true));
    while (!state.done) {
      const entries = sealAll([sampleDraft()], head);
      await store.commit({ entries, changes: [] });
      head = entries.at(-1) ?? head;
      commits += 1;
      await setImmediate();
    }
    expect(commits).toBeGreaterThan(1);
    expect(await notes()).toHaveLength(400);
    expect((await store.load()).head.seq).toBe(commits);
  });

  test('a commit at the end of the turn finds the file free, also where a transaction waits for something else', async () => {
    const waiting = db.transaction([], async (sql) => {
      await write(sql, 'never');
      await setTimeout(1);
      await write(sql, 'never ever');
    });
    const committed = setImmediate().then(() => store.commit({ entries: [], changes: [] }));
    await expect(waiting).rejects.toThrow('waited for something else than its rows');
    await committed;
    expect(await notes()).toEqual([]);
  });
});

describe('a transaction that waits for something else than its rows', () => {
  test('is taken back, and its statements are refused from then on', async () => {
    const late = Promise.withResolvers<unknown>();
    const waiting = db.transaction([], async (sql) => {
      await write(sql, 'never');
      await setTimeout(5);
      late.resolve(await write(sql, 'late').catch((error: unknown) => error));
      return 'done';
    });
    await expect(waiting).rejects.toThrow('waited for something else than its rows');
    await write(db, 'next');
    expect(await late.promise).toMatchObject({ message: expect.stringContaining('waited for something else') });
    expect(await notes()).toEqual(['next']);
  });

  test('is taken back, also where it has not written yet', async () => {
    const waiting = db.transaction([], async (sql) => {
      await setTimeout(1);
      await write(sql, 'never');
    });
    await expect(waiting).rejects.toThrow('waited for something else than its rows');
    expect(await notes()).toEqual([]);
  });

  test('does not take back another one when it comes to its end', async () => {
    const end = Promise.withResolvers<undefined>();
    const waiting = db.transaction([], () => end.promise);
    await expect(waiting).rejects.toThrow('waited for something else than its rows');
    const other = db.transaction([], async (sql) => {
      await write(sql, 'kept');
      end.resolve(undefined);
      for (let step = 0; step < 20; step += 1) await Promise.resolve();
      await write(sql, 'kept, too');
    });
    await other;
    expect(await notes()).toEqual(['kept', 'kept, too']);
  });

  test('does not wait forever for a transaction inside of itself', async () => {
    const inner = Promise.withResolvers<unknown>();
    const outer = db.transaction([], async (sql) => {
      await write(sql, 'outer');
      inner.resolve(await db.transaction([], (nested) => write(nested, 'inner')));
    });
    await expect(outer).rejects.toThrow('waited for something else than its rows');
    expect(await inner.promise).toBe(1);
    expect(await notes()).toEqual(['inner']);
  });
});

test('any number of steps is no waiting, as long as they are its own', async () => {
  await db.transaction([], async (sql) => {
    for (let step = 0; step < 500; step += 1) await write(sql, `${step}`);
    await Promise.all(Array.from({ length: 50 }, (_, index) => write(sql, `at once ${index}`)));
  });
  expect(await notes()).toHaveLength(550);
});

test('a transaction may be started at any place of the event loop', async () => {
  const outcomes: Promise<number>[] = [];
  const start = () => outcomes.push(db.transaction([], (sql) => write(sql, 'x')));
  start();
  queueMicrotask(start);
  process.nextTick(start);
  await setTimeout(1).then(start);
  await setImmediate().then(start);
  await new Promise((resolve) => {
    globalThis.setImmediate(() => {
      start();
      process.nextTick(() => {
        start();
        queueMicrotask(() => resolve(start()));
      });
    });
  });
  expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => 1));
});

test('a statement that fails ends its transaction, also where nobody looks at the failure', async () => {
  const careless = db.transaction([], async (sql) => {
    await write(sql, 'never');
    await sql.run('INSERT INTO unknown VALUES (1)').catch(() => undefined);
    await write(sql, 'never ever').catch(() => undefined);
    return 'done';
  });
  await expect(careless).rejects.toThrow('no such table');
  expect(await notes()).toEqual([]);
  await write(db, 'next');
  expect(await notes()).toEqual(['next']);
});

test('many transactions leave room for other work between them', async () => {
  const order: string[] = [];
  const all = Promise.all(
    Array.from({ length: 2000 }, (_, index) =>
      db.transaction([], async (sql) => {
        await write(sql, 'x'.repeat(2000));
        order.push(`${index}`);
      }),
    ),
  );
  await setImmediate();
  await setImmediate();
  order.push('other work');
  await all;
  expect(order.indexOf('other work')).toBeLessThan(2000);
  expect(order.filter((entry) => entry !== 'other work')).toEqual(
    Array.from({ length: 2000 }, (_, index) => `${index}`),
  );
});

/** Another process that runs the statements, reports that, and ends when it is told. */
async function otherProcess(sql: string): Promise<{ end(): Promise<void> }> {
  const script = `
    import { DatabaseSync } from 'node:sqlite';
    const db = new DatabaseSync(${JSON.stringify(path)});
    db.exec(${JSON.stringify(sql)});
    console.log('done');
    process.stdin.once('data', () => process.exit());
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    end: async () => {
      const exit = once(child, 'exit');
      child.stdin.write('end\n');
      await exit;
    },
  };
}

describe('while another process writes', () => {
  test('a transaction waits for it without holding up the event loop', async () => {
    const patient = new SqliteDatabase({ path, sync: 'process' });
    const other = await otherProcess('BEGIN IMMEDIATE');
    const waiting = write(patient, 'mine');
    const turns = await Promise.all([setTimeout(1), setTimeout(2), setTimeout(3)]);
    expect(turns).toHaveLength(3);
    expect(await patient.all('SELECT body FROM notes')).toEqual([]);
    await other.end();
    expect(await waiting).toBe(1);
    expect(await notes()).toEqual(['mine']);
    await patient.close();
  });

  test('a transaction gives up after a while, and the next one is not affected', async () => {
    const other = await otherProcess('BEGIN IMMEDIATE');
    await expect(write(db, 'mine')).rejects.toMatchObject({ name: 'ReeveError', code: 'store_unavailable' });
    await other.end();
    expect(await write(db, 'next')).toBe(1);
    expect(await notes()).toEqual(['next']);
  });
});

test('a file that is no database is refused when it is opened', () => {
  const other = join(folder, 'other.db');
  writeFileSync(other, 'this is no database, and was never meant to be one '.repeat(200));
  expect(() => new SqliteDatabase({ path: other, sync: 'process' })).toThrow('file is not a database');
});

test('a read sees what has been committed, and cannot write', async () => {
  await db.transaction([], async (sql) => {
    await write(sql, 'one');
    expect(await notes()).toEqual([]);
  });
  expect(await notes()).toEqual(['one']);
  await expect(db.all('DELETE FROM notes RETURNING id')).rejects.toThrow(/./);
  expect(await notes()).toEqual(['one']);
});

test('a full disk makes the store unavailable for as long as it lasts, and nothing is half written', async () => {
  const script = `
    import { execFileSync } from 'node:child_process';
    import { SqliteDatabase } from ${JSON.stringify(new URL('sqlite-database.ts', import.meta.url).href)};
    const db = new SqliteDatabase({ path: ${JSON.stringify(path)}, sync: 'process' });
    const limit = (bytes) => execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=' + bytes + ':unlimited']);
    const fill = () => db.transaction([], async (sql) => {
      await sql.run('INSERT INTO notes (body) VALUES (?)', 'small');
      await sql.run('INSERT INTO notes (body) VALUES (?)', 'x'.repeat(20_000_000));
    });
    limit(1_000_000);
    const failure = await fill().then(() => 'none', (error) => [error.code, error.message, typeof error.cause?.errcode]);
    const left = (await db.all('SELECT count(*) AS n FROM notes'))[0].n;
    limit('unlimited');
    await fill();
    const after = (await db.all('SELECT count(*) AS n FROM notes'))[0].n;
    await db.close();
    console.log(JSON.stringify({ failure, left, after }));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await once(child, 'close');
  expect(JSON.parse(output)).toEqual({
    failure: ['store_unavailable', 'the store of accounts cannot be read or written', 'number'],
    left: 0,
    after: 2,
  });
});

test('a database that may not grow any more is unavailable, and takes back what it had begun', async () => {
  await db.transaction([], async (sql) => {
    const [row] = await sql.all('PRAGMA page_count');
    await sql.all(`PRAGMA max_page_count = ${Number(row?.['page_count']) + 3}`);
  });
  const full = db.transaction([], async (sql) => {
    await write(sql, 'small');
    await write(sql, 'x'.repeat(1_000_000)).catch(() => undefined);
    await write(sql, 'small, too').catch(() => undefined);
  });
  await expect(full).rejects.toMatchObject({ code: 'store_unavailable', cause: { errcode: 13 } });
  expect(await notes()).toEqual([]);
  await write(db, 'small');
  expect(await notes()).toEqual(['small']);
});

test('a closed database is unavailable, and closing it twice does no harm', async () => {
  const begun = write(db, 'begun');
  const closing = db.close();
  await expect(write(db, 'late')).rejects.toMatchObject({ code: 'store_unavailable' });
  await closing;
  expect(await begun).toBe(1);
  await expect(db.all('SELECT 1')).rejects.toMatchObject({ code: 'store_unavailable' });
  await db.close();
});

test.each([
  ['process', 1],
  ['power', 2],
] as const)('commits are as durable as SVC_AUDIT_SYNC=%s says', async (sync, expected) => {
  const other = new SqliteDatabase({ path, sync });
  const [row] = await other.transaction([], (sql) => sql.all('PRAGMA synchronous'));
  expect(row?.['synchronous']).toBe(expected);
  await other.close();
});

test('leaves checkpoints of the write-ahead log to the thread that does them', async () => {
  const [row] = await db.transaction([], (sql) => sql.all('PRAGMA wal_autocheckpoint'));
  expect(row?.['wal_autocheckpoint']).toBe(0);
  const plain = new DatabaseSync(path);
  expect(plain.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  plain.close();
});
