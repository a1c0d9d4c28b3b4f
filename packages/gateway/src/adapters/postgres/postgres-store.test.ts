import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRecord, Change, ChainHead, Receipt, SealedEntry } from '@reeve/core';
import { emptyChain, HeadMoved } from '@reeve/core';
import type { OpenStore, StorePlace } from '@reeve/core/testkit';
import { sampleDraft, sealAll, storeConformance } from '@reeve/core/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import type { Notice } from './notices.ts';
import type { OpenPostgres } from './open-postgres.ts';
import { openPostgres } from './open-postgres.ts';
import type { PostgresStore } from './postgres-store.ts';

interface Opened extends OpenPostgres, AsyncDisposable {
  readonly notices: Notice[];
}

async function open(url: string, sync: 'process' | 'power' = 'process'): Promise<Opened> {
  const stack = new AsyncDisposableStack();
  const notices: Notice[] = [];
  const events = {
    onNotice: (notice: Notice) => notices.push(notice),
    onRegained: () => undefined,
    onTaken: () => undefined,
  };
  const opened = await openPostgres(parsePostgresUrl(url), sync, events, stack);
  return { ...opened, notices, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A database with the newest tables and no rows, to be copied. */
const migrated = (async () => {
  const database = await createDatabase();
  await using _ = await open(database.url);
  await database.query('TRUNCATE seats');
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
      ({ head } = error);
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

describe('two gateways on one database', () => {
  test('the second is told where the chain stands, and goes on from there', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
    await first.store.commit({ entries: one(emptyChain), changes: [] });
    const refused = second.store.commit({ entries: one(emptyChain), changes: [] });
    await expect(refused).rejects.toThrow(HeadMoved);
    const { head } = await first.store.load();
    await expect(refused).rejects.toMatchObject({ head });
    await second.store.commit({ entries: one(head), changes: [{ kind: 'agent_saved', agent }] });
    expect((await first.store.load()).head.seq).toBe(2);
    await database.drop();
  });

  test('whoever came too late is next: the head stays where it is until then', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
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

  test('a head that is locked for a batch that never comes is free again after a while', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
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
    await using first = await open(database.url);
    await using second = await open(database.url);
    await first.store.commit({ entries: one(emptyChain), changes: [] });
    const batch = { entries: one(emptyChain), changes: [{ kind: 'agent_saved', agent } as const] };
    await expect(second.store.commit(batch)).rejects.toThrow(HeadMoved);
    expect((await first.store.load()).agents).toEqual([]);
    expect(await first.store.after(0, 10)).toHaveLength(1);
    await database.drop();
  });

  test('both make progress under load, and the chain is whole', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
    const rounds = 60;
    const write = async ({ store }: Opened, name: string) => {
      let head = emptyChain;
      for (let round = 0; round < rounds; round++) {
        head = await append(store, head, [`${name} ${round} a`, `${name} ${round} b`]);
        if (round % 10 === 0) await store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
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

  test('each has its own operations, marks, event ids and controls, and a later one in the same slot has them again', async () => {
    const database = await emptyDatabase();
    const first = await open(database.url);
    const second = await open(database.url);
    expect([first.slot.number, second.slot.number]).toEqual([1, 2]);
    const op = { opId: 't:s', agent: agent.id, state: 'running', seq: 1, record: '' } as never;
    const receipt = { id: 'ctl_1', bulkId: null, agent: agent.id, sequence: 1, opId: 't:s', waiting: true } as Receipt;
    const saved: Receipt = { ...receipt, requestedAt: 1, status: 'requested' };
    await first.store.commit({
      entries: one(emptyChain, 'of the first'),
      changes: [
        { kind: 'op_saved', op },
        { kind: 'ops_replay_from', seq: 1 },
        { kind: 'event_ids_reserved', through: 1000 },
        { kind: 'receipt_saved', receipt: saved },
        { kind: 'control_sequence_saved', sequence: { agent: agent.id, sequence: 1 } },
      ],
    });
    await second.store.commit({
      entries: [],
      changes: [{ kind: 'receipt_saved', receipt: { ...saved, id: 'ctl_2' } }],
    });
    expect(await second.store.load()).toMatchObject({ ops: [], opsReplayFrom: 0, eventIdsReserved: 0 });
    expect((await second.store.load()).receipts.map(({ id }) => id)).toEqual(['ctl_2']);
    expect((await second.store.load()).controlSequences).toEqual([]);
    expect((await second.store.receiptOf(agent.id, 1))?.id).toBe('ctl_2');
    expect((await second.store.receipt('ctl_1'))?.id).toBe('ctl_1');
    expect(await second.store.replay(0, 10)).toEqual([]);
    expect(await second.store.after(0, 10)).toHaveLength(1);
    await first[Symbol.asyncDispose]();
    await using third = await open(database.url);
    expect(third.slot.number).toBe(1);
    expect(await third.store.load()).toMatchObject({
      opsReplayFrom: 1,
      eventIdsReserved: 1000,
      ops: [{ opId: 't:s' }],
    });
    expect((await third.store.load()).receipts.map(({ id }) => id)).toEqual(['ctl_1']);
    expect(await third.store.replay(0, 10)).toHaveLength(1);
    await second[Symbol.asyncDispose]();
    await database.drop();
  });

  test('a new slot has nothing to replay of what was before it', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await append(first.store, emptyChain, ['one', 'two', 'three']);
    await using second = await open(database.url);
    expect((await second.store.load()).opsReplayFrom).toBe(3);
    await database.drop();
  });

  test('that an agent has left is replayed by all of them', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
    const left = sealAll([sampleDraft({ eventType: 'AgentDeregistered' }), sampleDraft()], emptyChain);
    await first.store.commit({ entries: left, changes: [] });
    expect((await second.store.replay(0, 10)).map((entry) => entry.seq)).toEqual([1]);
    await database.drop();
  });

  test('the log is kept for whoever needs it most, and cut by the first of them only', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await append(
      first.store,
      emptyChain,
      Array.from({ length: 9 }, (_, index) => `${index}`),
    );
    const second = await open(database.url);
    await second.store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 4 }] });
    await first.store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 7 }] });
    expect(await first.store.neededFrom(8)).toBe(4);
    expect(await first.store.neededFrom(3)).toBe(3);
    expect(await second.store.neededFrom(8)).toBe(0);
    await second[Symbol.asyncDispose]();
    expect(await first.store.neededFrom(8)).toBe(8);
    await database.drop();
  });

  test('each is told which agents and keys the other has changed, by key alone, once that is durable', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
    const signingKey = { kid: 'k1', privateJwk: 'private secret', publicJwk: 'p', createdAt: 1 };
    await first.store.commit({
      entries: [],
      changes: [
        { kind: 'agent_saved', agent },
        { kind: 'signing_key_saved', key: signingKey },
        { kind: 'ops_replay_from', seq: 0 },
      ],
    });
    await expect.poll(() => second.notices).toHaveLength(2);
    expect(second.notices).toEqual([
      { from: 1, kind: 'agent', keys: [['acme', 'core', 'bot']] },
      { from: 1, kind: 'signing_key', keys: [['k1']] },
    ]);
    expect(first.notices).toEqual([]);
    expect(await second.store.agents([agent.id])).toEqual([agent]);
    expect(await second.store.signingKeys(['k1', 'unknown'])).toEqual([signingKey]);
    await database.drop();
  });

  test('of two agents that got the same token at once the later one has it, and every gateway is told', async () => {
    const database = await emptyDatabase();
    await using first = await open(database.url);
    await using second = await open(database.url);
    const other = { ...agent, id: { ...agent.id, agentId: 'other' } };
    await first.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
    await second.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent: other }] });
    const { agents } = await first.store.load();
    expect(agents.find(({ id }) => id.agentId === 'bot')?.tokenHash).toBeNull();
    expect(agents.find(({ id }) => id.agentId === 'other')?.tokenHash).toBe(agent.tokenHash);
    await expect.poll(() => second.notices.map(({ keys }) => keys)).toContainEqual([['acme', 'core', 'bot']]);
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

test('a log that is not what it was, as after a restore, is written on from where it is now', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  const head = await append(opened.store, emptyChain, ['one', 'two', 'three']);
  await database.query('DELETE FROM audit WHERE seq > 1');
  await database.query('UPDATE chain SET (seq, hash) = (SELECT seq, hash FROM audit)');
  await expect(opened.store.commit({ entries: one(head), changes: [] })).rejects.toThrow(HeadMoved);
  expect((await append(opened.store, head, ['four'])).seq).toBe(2);
  await database.drop();
});

test('a column that a newer release adds does not trouble a gateway that runs', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  await opened.store.commit({ entries: [], changes: [{ kind: 'agent_saved', agent }] });
  const read = async () => [(await opened.store.load()).agents, await opened.store.agents([agent.id])];
  expect(await read()).toEqual([[agent], [agent]]);
  await database.query(`ALTER TABLE agents ADD COLUMN later BIGINT DEFAULT 7`);
  expect(await read()).toEqual([[agent], [agent]]);
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
    return (await store.load()).agents[0]?.suspension;
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
  expect((await store.load()).agents).toEqual([odd]);
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
    await using opened = await open(database.url, sync);
    await database.query(`CREATE OR REPLACE FUNCTION note_sync() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.value := current_setting('synchronous_commit'); RETURN NEW; END $$`);
    await database.query(`CREATE OR REPLACE TRIGGER note_sync BEFORE INSERT OR UPDATE ON meta
      FOR EACH ROW WHEN (NEW.name = 'probe') EXECUTE FUNCTION note_sync()`);
    await opened.store.probe();
    expect(await database.query(`SELECT value FROM meta WHERE name = 'probe'`)).toEqual([{ value: expected }]);
  }
  await database.drop();
});

test('a gateway whose slot has been given to another writes nothing any more', async () => {
  const database = await emptyDatabase();
  await using opened = await open(database.url);
  await opened.store.commit({ entries: one(emptyChain), changes: [] });
  const { head } = await opened.store.load();
  await database.query(`UPDATE seats SET holder = 'another'`);
  const entries = one(head);
  await expect(opened.store.commit({ entries, changes: [] })).rejects.toThrow(
    /another gateway has taken|cannot be reached/,
  );
  await expect(opened.store.commit({ entries, changes: [{ kind: 'ops_replay_from', seq: 1 }] })).rejects.toThrow(
    /another gateway has taken|cannot be reached/,
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
