import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqlAccountStore } from './account-store.ts';
import { migrate } from './migrate.ts';
import { migrations } from './schema.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteStore } from './sqlite-store.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-migrate-'));
  path = join(folder, 'reeve.db');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function inspect<Result>(look: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(path);
  try {
    return look(db);
  } finally {
    db.close();
  }
}

function version(): unknown {
  return inspect((db) => db.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** The whole schema, as SQLite has it. */
function schemaAt(): unknown[] {
  return inspect((db) => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all());
}

const [entry] = sealAll([sampleDraft({ opId: 't:s', decision: 'allow' })], emptyChain);

/** The rows of a gateway of the first version. */
const firstData = `
  INSERT INTO audit (seq, at, event_type, org_id, team_id, agent_id, op_id, decision, claimed_org_id, hash, canonical) VALUES (1, 1700000000000, 'ActionAllowed', NULL, '', '', 't:s', 'allow', NULL,
    '${entry?.hash}', '${entry?.canonical}');
  INSERT INTO agents (org_id, team_id, agent_id, token_hash, name, framework, version, parent, metadata, tool_names,
    registered_at, suspended_at, suspension_reason)
    VALUES ('acme', 'search', 'bot', 'hash', 'Bot', 'langgraph', '1', NULL, '{"a":"b"}', '["search"]', 5, 6, 'why');
  INSERT INTO api_keys (id, hash, label, scopes, org_id, team_id, created_at, expires_at, last_used_at, revoked_at)
    VALUES ('abcdefghijkl', 'hash', 'ci', 'read write', 'acme', NULL, 1, 2, 3, 4);
  INSERT INTO signing_keys (kid, private_jwk, public_jwk, created_at) VALUES ('k1', '{}', '{}', 7);
  UPDATE meta SET value = '1' WHERE name = 'ops_replay_from';
`;

/** A database as a gateway of an earlier version left it. */
function databaseOf(earlier: number): void {
  inspect((db) => {
    db.exec('PRAGMA journal_mode = WAL');
    for (const sql of migrations.slice(0, earlier)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${earlier}`);
    if (earlier > 0) db.exec(firstData);
  });
}

test.each(migrations.map((_, earlier) => earlier))(
  'a database of version %i becomes one of the newest, with all that is in it',
  async (earlier) => {
    databaseOf(earlier);
    const store = new SqliteStore({ path, sync: 'process' });
    const snapshot = await store.load();
    if (earlier === 0) {
      expect(snapshot).toMatchObject({ head: emptyChain, apiKeys: [], opsReplayFrom: 0 });
      expect([...snapshot.agents]).toEqual([]);
    } else {
      expect(snapshot.head).toEqual({ seq: 1, hash: entry?.hash });
      expect([...snapshot.agents]).toMatchObject([
        {
          id: { orgId: 'acme', teamId: 'search', agentId: 'bot' },
          tokenHash: 'hash',
          metadata: { a: 'b' },
          toolNames: ['search'],
          suspension: { at: 6, reason: 'why' },
        },
      ]);
      expect(snapshot.apiKeys).toMatchObject([
        { id: 'abcdefghijkl', scopes: ['read', 'write'], revokedAt: 4, madeBy: null, rotatedFrom: null },
      ]);
      expect(snapshot.signingKeys).toMatchObject([{ kid: 'k1' }]);
      expect(snapshot.opsReplayFrom).toBe(1);
      expect(await store.after(0, 10)).toEqual([{ seq: 1, hash: entry?.hash, canonical: entry?.canonical }]);
    }
    const next = sealAll([sampleDraft()], snapshot.head);
    await store.commit({
      entries: next,
      changes: [...snapshot.agents].map((agent) => ({ kind: 'agent_saved', agent })),
    });
    expect([...(await store.load()).agents]).toEqual([...snapshot.agents]);

    const accounts = new SqlAccountStore(new SqliteDatabase({ path, sync: 'process' }));
    await accounts.transaction([], (rows) => rows.saveOutboxEntry({ id: 'o1', at: 1, draft: '{}' }));
    expect(await accounts.read((rows) => rows.outboxEntries(2, 10))).toHaveLength(1);
    await store.commit({ entries: [], changes: [{ kind: 'owed_entry_recorded', id: 'o1' }] });
    expect(await accounts.read((rows) => rows.outboxEntries(2, 10))).toEqual([]);
    await accounts.close();
    await store.close();
    expect(version()).toBe(migrations.length);
  },
);

test('whichever version it comes from, the schema ends up the same', () => {
  const schemas = migrations.map((_, earlier) => {
    rmSync(path, { force: true });
    databaseOf(earlier);
    inspect(migrate);
    return schemaAt();
  });
  for (const schema of schemas) expect(schema).toEqual(schemas[0]);
});

test('a database that is up to date is left alone', async () => {
  await new SqliteStore({ path, sync: 'process' }).close();
  const before = schemaAt();
  await new SqliteStore({ path, sync: 'process' }).close();
  expect(schemaAt()).toEqual(before);
});

test('a database of a newer release is refused, and nothing is done to it', () => {
  databaseOf(1);
  inspect((db) => db.exec(`PRAGMA user_version = ${migrations.length + 1}`));
  const before = schemaAt();
  expect(() => new SqliteStore({ path, sync: 'process' })).toThrow('it was made by a newer release');
  expect(schemaAt()).toEqual(before);
  expect(version()).toBe(migrations.length + 1);
});

test('a step that fails leaves the database as it was', () => {
  databaseOf(1);
  // Blocks a table that a later version creates.
  inspect((db) => db.exec('CREATE TABLE letters (something_else TEXT)'));
  const before = schemaAt();
  expect(() => new SqliteStore({ path, sync: 'process' })).toThrow('table letters already exists');
  expect(schemaAt()).toEqual(before);
  expect(version()).toBe(1);
});

interface Opener {
  /** Opens and closes the store at a path; returns what went wrong, or "opened". */
  open(at: string): Promise<string>;
  end(): void;
}

async function startOpener(): Promise<Opener> {
  const script = `
    import { createInterface } from 'node:readline';
    import { SqliteStore } from ${JSON.stringify(new URL('sqlite-store.ts', import.meta.url).href)};
    console.log('ready');
    for await (const path of createInterface(process.stdin)) {
      try {
        const store = new SqliteStore({ path, sync: 'process' });
        await store.load();
        await store.close();
        console.log('opened');
      } catch (error) {
        console.log(error.message);
      }
    }
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  await once(lines, 'line');
  return {
    open: async (at) => {
      const answer = once(lines, 'line');
      child.stdin.write(`${at}\n`);
      return String((await answer)[0]);
    },
    end: () => child.stdin.end(),
  };
}

test('several processes may open a database at once, a new one or an old one: one of them migrates it', async () => {
  const openers = await Promise.all(Array.from({ length: 4 }, startOpener));
  for (let round = 0; round < 60; round += 1) {
    path = join(folder, `${round}.db`);
    if (round % 3 === 0) databaseOf(1);
    const outcomes = await Promise.all(openers.map((opener) => opener.open(path)));
    expect(outcomes).toEqual(openers.map(() => 'opened'));
    expect(version()).toBe(migrations.length);
  }
  for (const opener of openers) opener.end();
});

test('a process waits for another one that is migrating', async () => {
  databaseOf(1);
  const opener = await startOpener();
  const busy = new DatabaseSync(path);
  busy.exec('BEGIN IMMEDIATE');
  const opening = opener.open(path);
  for (const sql of migrations.slice(1)) busy.exec(sql);
  busy.exec(`PRAGMA user_version = ${migrations.length}`);
  // Enough time to fail, if it did not wait.
  expect(await Promise.race([opening, setTimeout(300, 'waiting')])).toBe('waiting');
  busy.exec('COMMIT');
  busy.close();
  expect(await opening).toBe('opened');
  opener.end();
});
