import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRecord, Change, ChainHead, SealedEntry } from '@reeve/core';
import { emptyChain, HeadMoved } from '@reeve/core';
import type { OpenStore, StorePlace } from '@reeve/core/testkit';
import { sampleDraft, sealAll, storeConformance } from '@reeve/core/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import type { SentCommit } from './commit-feed.ts';
import type { OpenPostgres } from './open-postgres.ts';
import { openPostgres } from './open-postgres.ts';
import type { PostgresStore } from './postgres-store.ts';

interface Opened extends OpenPostgres, AsyncDisposable {
  /** What others would be told. */
  readonly told: SentCommit[];
  readonly fatal: () => string | undefined;
}

async function open(
  url: string,
  { sync = 'process', isShared = false }: { readonly sync?: 'process' | 'power'; readonly isShared?: boolean } = {},
): Promise<Opened> {
  const stack = new AsyncDisposableStack();
  const told: SentCommit[] = [];
  let fatal: string | undefined;
  const events = {
    onCommitted: (commit: SentCommit) => told.push(commit),
    onRegained: () => undefined,
    onFatal: (error: Error) => (fatal = error.message),
  };
  const settings = { sync, version: '1', isShared, lostAfterMs: 10_000 };
  const opened = await openPostgres({ url: parsePostgresUrl(url), ...settings, ...events }, stack);
  await opened.store.load();
  return { ...opened, told, fatal: () => fatal, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const shared = (url: string) => open(url, { isShared: true });

/** A database with the newest tables and no rows, to be copied. */
const migrated = (async () => {
  const database = await createDatabase();
  await using _ = await open(database.url);
  return database;
})();

async function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase((await migrated).name);
}

function place(): StorePlace {
  let database: TestDatabase | undefined;
  return {
    open: async (): Promise<OpenStore> => {
      database ??= await emptyDatabase();
      const opened = await open(database.url);
      return { store: opened.store, reader: opened.store, close: async () => opened[Symbol.asyncDispose]() };
    },
    dispose: async () => database?.drop(),
  };
}

afterAll(async () => (await migrated).drop());

storeConformance('PostgreSQL', place);

function one(head: ChainHead, reason = 'an entry'): [SealedEntry] {
  const [entry] = sealAll([sampleDraft({ reason })], head);
  if (entry === undefined) throw new Error('one entry was sealed');
  return [entry];
}

/** Does what the journal does: seals onto the known head, and again if the head has moved. */
async function append(store: PostgresStore, from: ChainHead, reasons: readonly string[]): Promise<ChainHead> {
  let head = from;
  for (;;) {
    const entries = sealAll(
      reasons.map((reason) => sampleDraft({ reason })),
      head,
    );
    try {
      await store.commit({ entries, changes: [] });
      return entries.at(-1) ?? head;
    } catch (error) {
      if (!(error instanceof HeadMoved)) throw error;
      head = error.commits.at(-1)?.head ?? head;
    }
  }
}

const agent: AgentRecord = {
  id: { orgId: 'acme', teamId: 'core', agentId: 'bot' },
  tokenHash: 'a'.repeat(64),
  name: 'bot',
  framework: '',
  version: '',
  parent: null,
  metadata: {},
  toolNames: [],
  registeredAt: 1,
  suspension: null,
  controlled: false,
  registeredWith: [],
};

/** Saves the agent, whatever another gateway has written meanwhile. Returns the head after it. */
async function saveAgent(store: PostgresStore, head: ChainHead): Promise<ChainHead> {
  try {
    await store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
    return head;
  } catch (error) {
    if (!(error instanceof HeadMoved)) throw error;
    return await saveAgent(store, error.commits.at(-1)?.head ?? head);
  }
}

describe('two gateways on one database', () => {
  test('the second is told where the chain stands, and goes on from there', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    await first.store.commit({ entries: one(emptyChain), changes: [] });
    const refused = second.store.commit({ entries: one(emptyChain), changes: [] });
    await expect(refused).rejects.toThrow(HeadMoved);
    const { head } = await first.store.load();
    await expect(refused).rejects.toMatchObject({ commits: [{ head }] });
    await second.store.commit({ entries: one(head), changes: [{ kind: 'agent_saved', agent }] });
    expect((await first.store.load()).head.seq).toBe(2);
    await database.drop();
  });

  test('whoever came too late is next: the head stays where it is until then', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    const mine = one(emptyChain);
    await first.store.commit({ entries: mine, changes: [] });
    await expect(second.store.commit({ entries: one(emptyChain), changes: [] })).rejects.toThrow(HeadMoved);
    const waiting = first.store.commit({ entries: one(mine[0]), changes: [] }).catch((error: unknown) => error);
    const outcome = await Promise.race([waiting, sleep(300, 'waits')]);
    expect(outcome).toBe('waits');
    await second.store.commit({ entries: one(mine[0]), changes: [] });
    expect(await waiting).toBeInstanceOf(HeadMoved);
    await database.drop();
  });

  test('a batch that waits for the head is not written if memory has followed others meanwhile', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    const mine = one(emptyChain);
    await first.store.commit({ entries: mine, changes: [] });
    await expect(second.store.commit({ entries: one(emptyChain), changes: [] })).rejects.toThrow(HeadMoved);
    const late = { entries: one(mine[0], 'late'), changes: [{ kind: 'agent_saved', agent } as const] };
    const waiting = first.store.commit(late).catch((error: unknown) => error);
    const next = one(mine[0], 'next');
    await second.store.commit({ entries: next, changes: [] });
    // The message comes before the answer of the database.
    for (const commit of second.told) first.feed.receive(commit);
    const followed = first.feed.ready().map(({ head }) => head.seq);
    const refused = await waiting;
    expect(refused).toBeInstanceOf(HeadMoved);
    const read = (refused as HeadMoved).commits.map(({ head }) => head.seq);
    expect([...followed, ...read]).toEqual([2]);
    expect([...(await first.store.load()).agents]).toEqual([]);
    await database.drop();
  });

  test('who was late before locks the head first, and then makes its batch once', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    expect(first.store.lock()).toBeUndefined();
    const mine = one(emptyChain);
    await first.store.commit({ entries: mine, changes: [] });
    await expect(second.store.commit({ entries: one(emptyChain), changes: [] })).rejects.toThrow(HeadMoved);
    expect(second.store.lock(), 'it is locked already').toBeUndefined();
    const next = one(mine[0]);
    await second.store.commit({ entries: next, changes: [] });
    const theirs = await append(first.store, mine[0], ['theirs']);
    const before = await second.store.lock();
    expect(before?.map(({ head }) => head)).toEqual([{ seq: 3, hash: theirs.hash }]);
    await second.store.commit({ entries: one(theirs), changes: [] });
    expect((await first.store.load()).head.seq).toBe(4);
    await database.drop();
  });

  test('a head that is locked for a batch that never comes is free again after a while', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    const mine = one(emptyChain);
    await first.store.commit({ entries: mine, changes: [] });
    await expect(second.store.commit({ entries: one(emptyChain), changes: [] })).rejects.toThrow(HeadMoved);
    await first.store.commit({ entries: one(mine[0]), changes: [] });
    expect((await first.store.load()).head.seq).toBe(2);
    const { head } = await first.store.load();
    await expect.poll(() => append(second.store, head, ['later']).then(({ seq }) => seq)).toBe(3);
    await database.drop();
  });

  test('nothing of a batch is written whose entries come after those of another', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    await first.store.commit({ entries: one(emptyChain), changes: [] });
    const batch = { entries: one(emptyChain), changes: [{ kind: 'agent_saved', agent } as const] };
    await expect(second.store.commit(batch)).rejects.toThrow(HeadMoved);
    expect([...(await first.store.load()).agents]).toEqual([]);
    expect(await first.store.after(0, 10)).toHaveLength(1);
    await database.drop();
  });

  test('both make progress under load, and the chain is whole', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    const rounds = 60;
    const write = async ({ store }: Opened, name: string) => {
      let head = emptyChain;
      for (let round = 0; round < rounds; round++) {
        head = await append(store, head, [`${name} ${round} a`, `${name} ${round} b`]);
        if (round % 10 === 0) head = await saveAgent(store, head);
      }
    };
    await Promise.all([write(first, 'first'), write(second, 'second')]);
    const log = await first.store.after(0, 1000);
    expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: 4 * rounds }, (_, index) => index + 1));
    let previous = emptyChain.hash;
    for (const { canonical, hash } of log) {
      expect(JSON.parse(canonical)).toMatchObject({ prev_hash: previous });
      previous = hash;
    }
    const mine = log.map((entry) => (JSON.parse(entry.canonical) as { reason: string }).reason);
    for (const name of ['first', 'second']) {
      const own = mine.filter((reason) => reason.startsWith(name));
      expect(own).toEqual(Array.from({ length: rounds }, (_, n) => [`${name} ${n} a`, `${name} ${n} b`]).flat());
    }
    await database.drop();
  });

  test('each reads what the other has told, in order, and each commit once', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    const told = (name: string) => {
      const event = { type: 'policy', at: 0, version: name, error: null, document: null } as const;
      return { events: [event], steps: [{ event }], touched: { agents: [name], orgs: [], everything: false } };
    };
    const mine = one(emptyChain);
    await first.store.commit({ entries: mine, changes: [], told: told('one') });
    await first.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }], told: told('two') });
    const commits = await second.feed.read();
    expect(commits.map(({ touched, head }) => [touched.agents, head.seq])).toEqual([
      [['one'], 1],
      [['two'], 1],
    ]);
    expect(await second.feed.read()).toEqual([]);
    expect(first.told.map(({ version, seq }) => [version, seq])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    await second.store.commit({ entries: one(mine[0]), changes: [], told: told('three') });
    expect((await first.store.load()).eventIdsReserved).toBe(3);
    await database.drop();
  });

  describe('while one of them is of 0.1.0, which reads facts with all names only', () => {
    /** What a gateway of 0.1.0 does to take a slot, whoever had it before. */
    const takeAsBefore = (database: TestDatabase, slot: number) =>
      database.query(
        `INSERT INTO gateways AS g (seat, id, version, hears_others) VALUES ($1, 'of 0.1.0', '0.1.0', true)
          ON CONFLICT (seat) DO UPDATE SET id = excluded.id, version = excluded.version,
            hears_others = excluded.hears_others, seen_at = clock_timestamp(), is_leaving = false`,
        [slot],
      );
    const kept = async (database: TestDatabase) =>
      (await database.query('SELECT told FROM commits ORDER BY version')).map(({ told }) => String(told).slice(0, 3));

    test.each([
      ['a slot that nobody had', []],
      ['the slot of one of this release that was killed', ["INSERT INTO gateways VALUES (9, 'killed', '1', true)"]],
    ])('and takes %s, all write such facts, and compact ones once it has left', async (_, before) => {
      const database = await emptyDatabase();
      await using first = await shared(database.url);
      await using reader = await shared(database.url);
      for (const sql of before) await database.query(sql);
      await database.query(`UPDATE gateways SET compact_reader = id`);
      await append(first.store, emptyChain, ['one']);
      await takeAsBefore(database, 9);
      await eventually(() => expect(first.membership.readCompactly).toBe(false));
      await append(first.store, (await first.store.load()).head, ['two']);
      await database.query(`DELETE FROM gateways WHERE id = 'of 0.1.0'`);
      await eventually(() => expect(first.membership.readCompactly).toBe(true));
      await append(first.store, (await first.store.load()).head, ['three']);
      expect(await kept(database)).toEqual(['[2,', '{"s', '[2,']);
      expect(first.told.map(({ facts }) => facts.slice(0, 3))).toEqual(['[2,', '{"s', '[2,']);
      const commits = await reader.feed.read();
      expect(commits.map(({ unread, touched }) => [unread, touched.everything])).toEqual([
        [[], false],
        [[], false],
        [[], false],
      ]);
      await database.drop();
    });
  });

  test('a gateway of this release leaves the slot of a lost one of 0.1.0, which may come back, for the hour that it is remembered', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await database.query(
      `INSERT INTO gateways (seat, id, version, hears_others) VALUES (2, 'of 0.1.0', '0.1.0', true)`,
    );
    await eventually(() => expect(first.membership.readCompactly).toBe(false));
    {
      await using second = await shared(database.url);
      expect(second.membership.slot).toBe(3);
      await eventually(() => expect(second.membership.members).toHaveLength(3));
      expect(second.membership.readCompactly).toBe(false);
    }
    await database.query(`UPDATE gateways SET seen_at = seen_at - interval '61 minutes' WHERE id = 'of 0.1.0'`);
    await eventually(() => expect(first.membership.readCompactly).toBe(true));
    await using third = await shared(database.url);
    expect(third.membership.slot).toBe(2);
    await database.drop();
  });

  test('what arrives early waits for what comes before it, and what is known already is dropped', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    await append(first.store, emptyChain, ['one']);
    await append(first.store, (await first.store.load()).head, ['two']);
    const [one, two] = first.told;
    if (one === undefined || two === undefined) throw new Error('two commits were told');
    second.feed.receive(two);
    expect(second.feed.ready()).toEqual([]);
    second.feed.receive(one);
    second.feed.receive(one);
    expect(second.feed.ready().map(({ head }) => head.seq)).toEqual([1, 2]);
    second.feed.receive(two);
    expect([second.feed.ready(), await second.feed.read()]).toEqual([[], []]);
    await database.drop();
  });

  test('a gateway that missed commits which are gone must not go on, nor one whose database was set back', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    await using third = await shared(database.url);
    await append(first.store, emptyChain, ['one']);
    await append(first.store, (await first.store.load()).head, ['two']);
    await database.query('DELETE FROM commits WHERE version = 1');
    await expect(second.store.commit({ entries: one(emptyChain), changes: [] })).rejects.toThrow('start it again');
    expect(second.fatal()).toContain('start it again');
    await expect(third.feed.read()).rejects.toThrow('start it again');
    await database.query('UPDATE chain SET version = 1');
    await expect(first.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] })).rejects.toThrow(
      'start it again',
    );
    await database.drop();
  });

  describe('on a branch of the log that was lost', () => {
    const save = { entries: [], changes: [{ kind: 'agent_saved', agent } as const] };
    const losses = [
      ['the database is behind', 'DELETE FROM commits WHERE version = 2; UPDATE chain SET version = 1'],
      ['another commit has its number and its entry', `UPDATE commits SET gateway = 'another/1' WHERE version = 2`],
      [
        'another commit has its number, and more have come since',
        `UPDATE commits SET gateway = 'another/1' WHERE version = 2; UPDATE chain SET version = 3;
          INSERT INTO commits SELECT 3, 'another/2', seq, hash, events, told FROM commits WHERE version = 2`,
      ],
      ['another entry has its number', `UPDATE commits SET hash = 'x' WHERE version = 2; UPDATE chain SET hash = 'x'`],
    ] as const;
    const ways = [
      ['reads', (opened: Opened) => opened.feed.read()],
      ['commits entries', (opened: Opened) => append(opened.store, emptyChain, ['more'])],
      ['commits rows', (opened: Opened) => opened.store.commit(save)],
      ['looks whether the store is back', (opened: Opened) => opened.store.probe()],
    ] as const;

    test.each(losses.flatMap(([loss, sql]) => ways.map(([how, act]) => [loss, how, sql, act] as const)))(
      '%s: a gateway that %s notices it, and does nothing more',
      async (_loss, _how, sql, act) => {
        const database = await emptyDatabase();
        await using first = await shared(database.url);
        await append(first.store, emptyChain, ['one']);
        await first.store.commit(save);
        await database.query(sql);
        const before = await database.query('SELECT * FROM commits ORDER BY version');
        await expect(act(first)).rejects.toThrow('the database does not go on from commit 2');
        expect(first.fatal()).toContain('start it again');
        for (const [, again] of ways) await expect(again(first)).rejects.toThrow('start it again');
        expect(await database.query('SELECT * FROM commits ORDER BY version')).toEqual(before);
        await database.drop();
      },
    );

    test('a message of a commit on another one of the same number is not followed', async () => {
      const database = await emptyDatabase();
      await using first = await shared(database.url);
      await using second = await shared(database.url);
      await append(first.store, emptyChain, ['one']);
      await append(first.store, (await first.store.load()).head, ['two']);
      const [one, two] = first.told;
      if (one === undefined || two === undefined) throw new Error('two commits were told');
      expect(second.feed.receive({ ...one, gateway: 'another/1' })).toBe(true);
      expect(second.feed.ready()).toHaveLength(1);
      expect(second.feed.receive(one)).toBe(false);
      expect(second.feed.receive(two)).toBe(true);
      expect(second.feed.ready()).toEqual([]);
      await expect(second.feed.read()).rejects.toThrow('it holds another commit of that number');
      await database.drop();
    });

    test('a message of an older release does not say what it was made on, and is read from the database', async () => {
      const database = await emptyDatabase();
      await using first = await shared(database.url);
      await using second = await shared(database.url);
      await append(first.store, emptyChain, ['one']);
      const { before: _, ...older } = first.told[0] ?? {};
      expect(second.feed.receive(older as SentCommit)).toBe(false);
      expect(second.feed.ready()).toEqual([]);
      expect(await second.feed.read()).toHaveLength(1);
      await database.drop();
    });
  });

  test.each([
    ['of this release', '/2', 'SELECT 1'],
    ['of a release that noted no commits of its own', '/0', 'DELETE FROM commits'],
  ])('what one gateway %s wrote alone is what several compare with later', async (_, name, leave) => {
    const database = await emptyDatabase();
    {
      await using alone = await open(database.url);
      await append(alone.store, emptyChain, ['one']);
      await alone.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
    }
    await database.query(leave);
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    expect(first.feed.standing).toEqual(second.feed.standing);
    expect(first.feed.standing).toMatchObject({ version: 2, seq: 1, name: expect.stringContaining(name) });
    await first.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
    for (const commit of first.told) expect(second.feed.receive(commit)).toBe(true);
    expect(second.feed.ready()).toHaveLength(1);
    expect(second.feed.standing).toEqual(first.feed.standing);
    await database.drop();
  });

  test('the newest events are there after a restart', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await append(first.store, emptyChain, ['one']);
    await append(first.store, (await first.store.load()).head, ['two']);
    await using second = await shared(database.url);
    expect((await second.store.recentCommits(1_000_000)).map(({ version }) => version)).toEqual([1, 2]);
    expect((await second.store.recentCommits(1)).map(({ version }) => version)).toEqual([]);
    await database.drop();
  });

  test('of two agents that got the same token at once the later one has it', async () => {
    const database = await emptyDatabase();
    await using first = await shared(database.url);
    await using second = await shared(database.url);
    const other = { ...agent, id: { ...agent.id, agentId: 'other' } };
    await first.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
    await second.feed.read();
    await second.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent: other }] });
    const agents = [...(await first.store.load()).agents];
    expect(agents.find(({ id }) => id.agentId === 'bot')?.tokenHash).toBeNull();
    expect(agents.find(({ id }) => id.agentId === 'other')?.tokenHash).toBe(agent.tokenHash);
    await database.drop();
  });

  test('a use of a key that is noted late does not undo its revocation', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    const key = {
      id: 'abcdefghijkl',
      hash: 'h',
      label: '',
      scopes: ['read' as const],
      orgId: null,
      teamId: null,
      createdAt: 1,
      expiresAt: null,
      lastUsedAt: 9,
      revokedAt: 8,
      madeBy: null,
      rotatedFrom: null,
    };
    await first.store.commit({ entries: [], changes: [{ kind: 'api_key_saved', key }] });
    await first.store.commit({ entries: [], changes: [{ kind: 'api_key_used', id: key.id, at: 7 }] });
    expect((await first.store.load()).apiKeys).toEqual([key]);
    await database.drop();
  });
});

test('a gateway alone must not go on if the database is not what it was, as after a restore', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const head = await append(opened.store, emptyChain, ['one', 'two', 'three']);
  await database.query('DELETE FROM audit WHERE seq > 1');
  await database.query('UPDATE chain SET version = 0, (seq, hash) = (SELECT seq, hash FROM audit)');
  await expect(opened.store.commit({ entries: one(head), changes: [] })).rejects.toThrow('it has lost commits');
  expect(opened.fatal()).toContain('start it again');
  expect(await opened.store.after(0, 10)).toHaveLength(1);
  await database.drop();
});

test('a column that a newer release adds does not trouble a gateway that runs', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  await opened.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
  const read = async () => [...(await opened.store.load()).agents];
  expect(await read()).toEqual([agent]);
  await database.query(`ALTER TABLE agents ADD COLUMN later BIGINT DEFAULT 7`);
  expect(await read()).toEqual([agent]);
  await opened.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
  expect(await database.query('SELECT later::int FROM agents')).toEqual([{ later: 7 }]);
  await database.drop();
});

test('a suspension from before widths were noted counts as the widest', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const { store } = opened;
  const suspension = { at: 5, reason: 'old', width: 'org' as const };
  const before: Change[] = [
    { kind: 'agent_saved', agent },
    { kind: 'agent_suspended', agent, suspension },
  ];
  await store.commit({ entries: [], changes: before });
  await database.query('UPDATE agents SET suspension_width = NULL');
  const after = async (change: Change) => {
    await store.commit({ entries: [], changes: [change] });
    return [...(await store.load()).agents][0]?.suspension;
  };
  const old = { ...suspension, width: 'unbound' };
  expect(await after({ kind: 'agent_resumed', id: agent.id, width: 'org' })).toEqual(old);
  const again = { ...suspension, reason: 'again' };
  expect(await after({ kind: 'agent_suspended', agent, suspension: again })).toEqual(old);
  expect(await after({ kind: 'agent_saved', agent })).toEqual(old);
  expect(await after({ kind: 'agent_resumed', id: agent.id, width: 'unbound' })).toBeNull();
  await database.drop();
});

test('where the database refuses one row, nothing of the batch is written, and the next one is', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const { store } = opened;
  await database.query(`ALTER TABLE signing_keys ADD CONSTRAINT none CHECK (kid <> 'refused')`);
  const key = { kid: 'refused', privateJwk: '', publicJwk: '', createdAt: 1 };
  const entries = one(emptyChain);
  const batch = {
    entries,
    changes: [
      { kind: 'agent_saved', agent },
      { kind: 'signing_key_saved', key },
      { kind: 'ops_replay_from', seq: 9 },
    ] as const,
  };
  await expect(store.commit(batch)).rejects.toThrow('violates check constraint "none"');
  expect(await store.load()).toMatchObject({ head: emptyChain, agents: [], signingKeys: [], opsReplayFrom: 0 });
  await store.commit({ entries, changes: [{ kind: 'agent_saved', agent }] });
  expect(await store.load()).toMatchObject({ head: { seq: 1 }, agents: [agent] });
  await database.drop();
});

test('the first and the last moment of a stretch of the log belong to it', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const drafts = Array.from({ length: 5000 }, (_, index) => sampleDraft({ at: 1000 + index }));
  await opened.store.commit({ entries: sealAll(drafts, emptyChain), changes: [] });
  const seqs = async (from: number, to: number) =>
    (await opened.store.oldest({ from, to, limit: 9000 })).entries.map((entry) => entry.seq);
  expect(await seqs(5999, 9999)).toEqual([5000]);
  expect(await seqs(5094, 5096)).toEqual([4095, 4096]);
  expect(await seqs(0, 1001)).toEqual([1]);
  expect(await seqs(0, 1000)).toEqual([]);
  expect(await seqs(6000, 9999)).toEqual([]);
  await database.drop();
});

test('a text with U+0000 is kept and found again', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const { store } = opened;
  const odd = { ...agent, name: 'a\0b\u0001c', suspension: { at: 1, reason: '\0', width: 'unbound' as const } };
  const entries = sealAll([sampleDraft({ opId: 't\0:s', reason: '\0' }), sampleDraft({ opId: 't:s' })], emptyChain);
  const { suspension } = odd;
  const changes = [
    { kind: 'agent_saved', agent: odd } as const,
    { kind: 'agent_suspended', agent: odd, suspension } as const,
  ];
  await store.commit({ entries, changes });
  expect([...(await store.load()).agents]).toEqual([odd]);
  expect((await store.latest({ opId: 't\0:s', limit: 10 })).entries.map((entry) => entry.seq)).toEqual([1]);
  expect((await store.latest({ q: '\0', limit: 10 })).entries.map((entry) => entry.seq)).toEqual([1]);
  await database.drop();
});

test('with "power" a commit waits for the disk of the server, though that is told not to', async () => {
  const database = await emptyDatabase();
  await database.query(`ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  for (const [sync, expected] of [
    ['process', 'off'],
    ['power', 'on'],
  ] as const) {
    await using opened = await open(database.url, { sync });
    await database.query(`CREATE OR REPLACE FUNCTION note_sync() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.value := current_setting('synchronous_commit'); RETURN NEW; END $$`);
    await database.query(`CREATE OR REPLACE TRIGGER note_sync BEFORE INSERT OR UPDATE ON meta
      FOR EACH ROW WHEN (NEW.name = 'probe') EXECUTE FUNCTION note_sync()`);
    await opened.store.probe();
    expect(await database.query(`SELECT value FROM meta WHERE name = 'probe'`)).toEqual([{ value: expected }]);
  }
  await database.drop();
});

test('a gateway alone writes nothing any more once another one has', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  await opened.store.commit({ entries: one(emptyChain), changes: [] });
  const { head } = await opened.store.load();
  await database.query('UPDATE chain SET version = version + 1');
  await expect(opened.store.commit({ entries: one(head), changes: [] })).rejects.toThrow('another gateway writes');
  await expect(opened.store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 1 }] })).rejects.toThrow(
    'another gateway writes',
  );
  expect(await opened.store.after(0, 10)).toHaveLength(1);
  await database.drop();
});

test('a page of what is rare is read by its index, and never by walking the log', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const drafts = Array.from({ length: 3000 }, (_, index) =>
    sampleDraft({ opId: `t${index}:s`, lineage: { ...sampleDraft().lineage, org_id: 'frequent', agent_id: 'bot' } }),
  );
  await opened.store.commit({ entries: sealAll(drafts, emptyChain), changes: [] });
  await database.query('ANALYZE audit');
  const plan = async (where: string) =>
    JSON.stringify(
      await database.query(
        `EXPLAIN SELECT seq FROM audit WHERE ${where} AND -seq BETWEEN -3000 AND 0 ORDER BY -seq LIMIT 51`,
      ),
    );
  expect(await plan(`org_id = 'frequent'`)).toContain('audit_by_org');
  expect(await plan(`agent_id = 'bot' AND agent_id <> ''`)).toContain('audit_by_agent');
  expect(await plan(`op_id = 't7:s'`)).toContain('audit_by_op');
  await database.drop();
});
