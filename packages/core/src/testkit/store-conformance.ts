import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import { emptyChain } from '../audit/chain.ts';
import type { Batch, Change, SavedOp } from '../journal/change.ts';
import type { AuditReader, Snapshot, Store } from '../journal/store.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import { agentKey } from '../tenancy/agent-id.ts';
import { readingConformance } from './store-reading-conformance.ts';
import {
  sampleDraft,
  sealAll,
  someAgent,
  someAgentId,
  someApiKey,
  someKid,
  someOp,
  someOpId,
  someSigningKey,
} from './store-samples.ts';

/** A store and the reader of its log, which may be another thing. */
export interface OpenStore {
  readonly store: Store;
  readonly reader: AuditReader;
  close(): Promise<void>;
}

/** Where a store keeps its things, during one test. */
export interface StorePlace {
  /** Opens the store. Where it is durable, opening it again finds what was left. */
  open(): OpenStore;
  dispose(): void;
}

export interface StoreTraits {
  /** Why nothing outlives the store, where that is so; a durable store leaves it out. */
  readonly forgetsBecause?: string;
  /** Why a batch cannot fail once its first row has been written, where that is so. */
  readonly neverFailsLateBecause?: string;
}

/** What every store has to do. Each adapter runs it beside its own tests. */
export function storeConformance(name: string, makePlace: () => StorePlace, traits: StoreTraits = {}): void {
  describe(`${name} as a store`, () => {
    let place: StorePlace;
    let opened: OpenStore;
    let store: Store;
    const open = () => {
      opened = place.open();
      ({ store } = opened);
    };
    beforeEach(() => {
      place = makePlace();
      open();
    });
    afterEach(async () => {
      await opened.close();
      place.dispose();
    });
    const reopen = async () => {
      await opened.close();
      open();
    };

    test('starts empty, with the chain at its beginning and the log to be replayed from there', async () => {
      expect(await store.load()).toEqual(nothing);
      expect(await store.after(0, 10)).toEqual([]);
      expect(await opened.reader.latest({ limit: 10 })).toEqual({ entries: [], next: null });
      expect(await opened.reader.oldest({ limit: 10 })).toEqual({ entries: [], next: null });
    });

    describe.each(Object.entries(roundTrips))('brings back what was written by %s', (_, { write, expected }) => {
      test('in the same process', async () => {
        for (const changes of write) store.commit({ entries: [], changes });
        expect(inOrder(await store.load())).toEqual(inOrder({ ...nothing, ...expected }));
      });
    });

    test('agrees with a plain model over random batches of every kind of change', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(someChange, { maxLength: 4 }), { maxLength: 12 }), async (batches) => {
          const fresh = makePlace();
          const tried = fresh.open();
          const model = new Model();
          for (const changes of batches) {
            tried.store.commit({ entries: [], changes });
            for (const change of changes) model.apply(change);
          }
          expect(inOrder(await tried.store.load())).toEqual(inOrder(model.snapshot()));
          await tried.close();
          fresh.dispose();
        }),
        { numRuns: 40 },
      );
    });

    test('moves the head of the chain with the entries, and not without them', async () => {
      const entries = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
      store.commit({ entries: entries.slice(0, 2), changes: [] });
      expect((await store.load()).head).toEqual(headOf(entries[1]));
      store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 1 }] });
      expect((await store.load()).head).toEqual(headOf(entries[1]));
      store.commit({ entries: entries.slice(2), changes: [] });
      expect((await store.load()).head).toEqual(headOf(entries[2]));
    });

    test('takes nothing of a batch that it cannot take whole', async () => {
      const [first, second, third] = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
      const before: Batch = { entries: defined([first]), changes: everyKindOfRow };
      store.commit(before);
      const kept = inOrder(await store.load());

      // The last entry takes a place in the chain that is taken: what stands before it must go with it.
      const changes: Change[] = [
        { kind: 'agent_saved', agent: { ...sampleAgent, name: 'renamed' } },
        {
          kind: 'agent_saved',
          agent: { ...sampleAgent, id: { ...sampleAgent.id, agentId: 'another' }, tokenHash: null },
        },
        { kind: 'api_key_saved', key: { ...sampleKey, revokedAt: 99 } },
        { kind: 'op_removed', id: sampleOp.agent, opId: sampleOp.opId },
        { kind: 'ops_replay_from', seq: 77 },
      ];
      expect(() => store.commit({ entries: defined([second, third, first]), changes })).toThrow(/./);

      expect(inOrder(await store.load())).toEqual(kept);
      expect(await store.after(0, 10)).toHaveLength(1);
    });

    if (traits.neverFailsLateBecause === undefined) {
      test('takes nothing of a batch of which the last row cannot be written', async () => {
        const [first, second] = sealAll([sampleDraft(), sampleDraft()], emptyChain);
        store.commit({ entries: defined([first]), changes: everyKindOfRow });
        const kept = inOrder(await store.load());
        const changes: Change[] = [
          { kind: 'agent_removed', id: sampleAgent.id },
          { kind: 'op_removed', id: sampleOp.agent, opId: sampleOp.opId },
          { kind: 'ops_forgotten' },
          { kind: 'api_key_saved', key: { ...sampleKey, revokedAt: 99 } },
          unwritable,
        ];
        expect(() => store.commit({ entries: defined([second]), changes })).toThrow(unwritableMessage);
        expect(inOrder(await store.load())).toEqual(kept);
        expect(await store.after(0, 10)).toHaveLength(1);
        store.commit({ entries: defined([second]), changes: [] });
        expect((await store.load()).head).toEqual(headOf(second));
      });
    }

    test('goes on after a batch that failed', async () => {
      const [first, second] = sealAll([sampleDraft(), sampleDraft()], emptyChain);
      store.commit({ entries: defined([first]), changes: [] });
      expect(() => store.commit({ entries: defined([first]), changes: [] })).toThrow(/./);
      store.commit({ entries: defined([second]), changes: [{ kind: 'agent_saved', agent: sampleAgent }] });
      const { head, agents } = await store.load();
      expect(head).toEqual(headOf(second));
      expect(agents).toEqual([sampleAgent]);
    });

    test('can be probed without a trace', async () => {
      store.commit({ entries: sealAll([sampleDraft()], emptyChain), changes: everyKindOfRow });
      const before = inOrder(await store.load());
      store.probe();
      expect(inOrder(await store.load())).toEqual(before);
      expect(await store.after(0, 10)).toHaveLength(1);
    });

    if (traits.forgetsBecause === undefined) {
      test('keeps everything when it is closed and opened again', async () => {
        const entries = sealAll([sampleDraft(), sampleDraft({ opId: 't:s', decision: 'deny' })], emptyChain);
        store.commit({ entries, changes: everyKindOfRow });
        store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 1 }] });
        const before = inOrder(await store.load());
        const log = await store.after(0, 10);
        await reopen();
        expect(inOrder(await store.load())).toEqual(before);
        expect(await store.after(0, 10)).toEqual(log);
        await reopen();
        expect(inOrder(await store.load())).toEqual(before);
      });

      test('remembers over a restart that operations are not to survive', async () => {
        store.commit({ entries: [], changes: [{ kind: 'op_saved', op: sampleOp }, { kind: 'ops_forgotten' }] });
        await reopen();
        expect(await store.load()).toMatchObject({ ops: [], opsReplayFrom: null });
      });
    } else {
      test(`starts empty again, because ${traits.forgetsBecause}`, async () => {
        store.commit({ entries: sealAll([sampleDraft()], emptyChain), changes: everyKindOfRow });
        await reopen();
        expect(await store.load()).toEqual(nothing);
      });
    }

    test('gives up the oldest entries, keeps the others, and goes on from the same head', async () => {
      const [one, two, three, four] = sealAll(
        Array.from({ length: 4 }, () => sampleDraft()),
        emptyChain,
      );
      store.commit({ entries: defined([one, two, three]), changes: [] });
      store.commit({ entries: [], changes: [{ kind: 'entries_removed', through: 2 }] });
      expect((await store.load()).head).toEqual(headOf(three));
      store.commit({ entries: defined([four]), changes: [] });
      const left = (await store.after(0, 10)).map((entry) => entry.seq);
      expect(left).toEqual([3, 4]);
      expect((await store.after(3, 10)).map((entry) => entry.seq)).toEqual([4]);
      expect((await opened.reader.latest({ limit: 10 })).entries.map((entry) => entry.seq)).toEqual([4, 3]);
      expect((await opened.reader.oldest({ limit: 10 })).entries.map((entry) => entry.seq)).toEqual([3, 4]);
    });

    readingConformance(() => opened);
  });
}

const nothing: Snapshot = {
  head: emptyChain,
  agents: [],
  apiKeys: [],
  signingKeys: [],
  ops: [],
  opsReplayFrom: 0,
};

const sampleAgent: AgentRecord = {
  id: { orgId: 'acme', teamId: 'search', agentId: 'bot' },
  tokenHash: 'f'.repeat(64),
  name: 'Søren\'s "bot" 🦊',
  framework: 'langgraph',
  version: '1.2.3',
  parent: { orgId: 'acme', teamId: '', agentId: 'boss' },
  metadata: { region: 'eu', '1': 'one', __proto__x: 'odd' },
  toolNames: ['search', 'fetch, then read'],
  registeredAt: 1_700_000_000_123,
  suspension: { at: 1_700_000_001_000, reason: 'line\nbreak' },
};
const bareAgent: AgentRecord = {
  id: { orgId: '', teamId: '', agentId: 'bot' },
  tokenHash: null,
  name: '',
  framework: '',
  version: '',
  parent: null,
  metadata: {},
  toolNames: [],
  registeredAt: 0,
  suspension: null,
};
const sampleKey: ApiKeyRecord = {
  id: 'abcdefghijkl',
  hash: 'a'.repeat(64),
  label: 'ci "deploy"',
  scopes: ['read', 'write'],
  orgId: 'acme',
  teamId: 'search',
  createdAt: 1,
  expiresAt: 2,
  lastUsedAt: 4,
  revokedAt: 3,
};
const unboundKey: ApiKeyRecord = {
  ...sampleKey,
  id: 'mnopqrstuvwx',
  scopes: ['admin'],
  orgId: null,
  teamId: null,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
};
const sampleSigningKey: SigningKeyRecord = {
  kid: 'k1',
  privateJwk: '{"kty":"OKP","d":"x"}',
  publicJwk: '{"kty":"OKP"}',
  createdAt: 5,
};
const sampleOp: SavedOp = {
  opId: 't1:s1',
  agent: sampleAgent.id,
  state: 'paused',
  registeredAt: 10,
  updatedAt: 20,
  actionType: 'process_exec',
  resource: 'rm -rf "/"',
  summary: 'tidy ünder',
  runId: 'run-1',
  reason: 'allowed by rule a/b',
  costMicros: Number.MAX_SAFE_INTEGER,
  policyRule: 'a/b',
  digest: 'd'.repeat(64),
  seq: 7,
};
const bareOp: SavedOp = {
  ...sampleOp,
  agent: bareAgent.id,
  state: 'pending',
  actionType: null,
  costMicros: 0,
  digest: '',
};

const everyKindOfRow: readonly Change[] = [
  { kind: 'agent_saved', agent: sampleAgent },
  { kind: 'agent_saved', agent: bareAgent },
  { kind: 'api_key_saved', key: sampleKey },
  { kind: 'api_key_saved', key: unboundKey },
  { kind: 'signing_key_saved', key: sampleSigningKey },
  { kind: 'op_saved', op: sampleOp },
  { kind: 'op_saved', op: bareOp },
];

const unwritableMessage = 'this row cannot be written';

/** Fails whoever tries to write it. */
const unwritable: Change = {
  kind: 'agent_saved',
  get agent(): AgentRecord {
    throw new Error(unwritableMessage);
  },
};

interface RoundTrip {
  /** Batches, one after the other. */
  readonly write: readonly (readonly Change[])[];
  readonly expected: Partial<Snapshot>;
}

/** One for each kind of change: a kind that is missing here does not compile. */
const roundTrips: Readonly<Record<Change['kind'], RoundTrip>> = {
  agent_saved: {
    write: [
      [
        { kind: 'agent_saved', agent: bareAgent },
        { kind: 'agent_saved', agent: { ...sampleAgent, name: 'before', suspension: null, parent: null } },
      ],
      [{ kind: 'agent_saved', agent: sampleAgent }],
    ],
    expected: { agents: [sampleAgent, bareAgent] },
  },
  agent_removed: {
    write: [
      [
        { kind: 'agent_saved', agent: bareAgent },
        { kind: 'agent_saved', agent: sampleAgent },
      ],
      [
        { kind: 'agent_removed', id: sampleAgent.id },
        { kind: 'agent_removed', id: { orgId: 'acme', teamId: '', agentId: 'unknown' } },
      ],
    ],
    expected: { agents: [bareAgent] },
  },
  api_key_saved: {
    write: [
      [
        { kind: 'api_key_saved', key: unboundKey },
        { kind: 'api_key_saved', key: { ...sampleKey, revokedAt: null } },
      ],
      [{ kind: 'api_key_saved', key: sampleKey }],
    ],
    expected: { apiKeys: [sampleKey, unboundKey] },
  },
  signing_key_saved: {
    write: [
      [
        { kind: 'signing_key_saved', key: { ...sampleSigningKey, kid: 'k2' } },
        { kind: 'signing_key_saved', key: { ...sampleSigningKey, publicJwk: '{}' } },
      ],
      [{ kind: 'signing_key_saved', key: sampleSigningKey }],
    ],
    expected: { signingKeys: [sampleSigningKey, { ...sampleSigningKey, kid: 'k2' }] },
  },
  signing_key_removed: {
    write: [
      [
        { kind: 'signing_key_saved', key: sampleSigningKey },
        { kind: 'signing_key_saved', key: { ...sampleSigningKey, kid: 'k2' } },
      ],
      [
        { kind: 'signing_key_removed', kid: 'k1' },
        { kind: 'signing_key_removed', kid: 'unknown' },
      ],
    ],
    expected: { signingKeys: [{ ...sampleSigningKey, kid: 'k2' }] },
  },
  // What it does to entries has a test of its own.
  entries_removed: {
    write: [[{ kind: 'agent_saved', agent: sampleAgent }], [{ kind: 'entries_removed', through: 5 }]],
    expected: { agents: [sampleAgent] },
  },
  op_saved: {
    write: [
      [
        { kind: 'op_saved', op: bareOp },
        { kind: 'op_saved', op: { ...sampleOp, state: 'running', seq: 3 } },
      ],
      [{ kind: 'op_saved', op: sampleOp }],
    ],
    expected: { ops: [sampleOp, bareOp] },
  },
  op_removed: {
    write: [
      [
        { kind: 'op_saved', op: sampleOp },
        { kind: 'op_saved', op: bareOp },
      ],
      [
        { kind: 'op_removed', id: sampleOp.agent, opId: sampleOp.opId },
        { kind: 'op_removed', id: bareOp.agent, opId: 'un:known' },
      ],
    ],
    expected: { ops: [bareOp] },
  },
  ops_replay_from: {
    write: [[{ kind: 'ops_replay_from', seq: 3 }], [{ kind: 'ops_replay_from', seq: 123_456_789 }]],
    expected: { opsReplayFrom: 123_456_789 },
  },
  ops_forgotten: {
    write: [
      [
        { kind: 'agent_saved', agent: sampleAgent },
        { kind: 'op_saved', op: sampleOp },
        { kind: 'ops_replay_from', seq: 3 },
      ],
      [{ kind: 'ops_forgotten' }],
    ],
    expected: { agents: [sampleAgent], opsReplayFrom: null },
  },
};

const someChange: fc.Arbitrary<Change> = fc.oneof(
  someAgent.map((agent): Change => ({ kind: 'agent_saved', agent })),
  someAgentId.map((id): Change => ({ kind: 'agent_removed', id })),
  someApiKey.map((key): Change => ({ kind: 'api_key_saved', key })),
  someSigningKey.map((key): Change => ({ kind: 'signing_key_saved', key })),
  someKid.map((kid): Change => ({ kind: 'signing_key_removed', kid })),
  someOp.map((op): Change => ({ kind: 'op_saved', op })),
  fc.tuple(someAgentId, someOpId).map(([id, opId]): Change => ({ kind: 'op_removed', id, opId })),
  fc.nat().map((seq): Change => ({ kind: 'ops_replay_from', seq })),
  fc.constant<Change>({ kind: 'ops_forgotten' }),
);

/** What a store has to remember, said as plainly as possible. */
class Model {
  readonly #agents = new Map<string, AgentRecord>();
  readonly #apiKeys = new Map<string, ApiKeyRecord>();
  readonly #signingKeys = new Map<string, SigningKeyRecord>();
  readonly #ops = new Map<string, SavedOp>();
  #opsReplayFrom: number | null = 0;

  apply(change: Change): void {
    if (change.kind === 'agent_saved') this.#agents.set(agentKey(change.agent.id), change.agent);
    else if (change.kind === 'agent_removed') this.#agents.delete(agentKey(change.id));
    else if (change.kind === 'api_key_saved') this.#apiKeys.set(change.key.id, change.key);
    else if (change.kind === 'signing_key_saved') this.#signingKeys.set(change.key.kid, change.key);
    else if (change.kind === 'signing_key_removed') this.#signingKeys.delete(change.kid);
    else if (change.kind === 'op_saved') this.#ops.set(opKey(change.op), change.op);
    else if (change.kind === 'op_removed') this.#ops.delete(opKey({ agent: change.id, opId: change.opId }));
    else if (change.kind === 'ops_replay_from') this.#opsReplayFrom = change.seq;
    else if (change.kind === 'ops_forgotten') {
      this.#ops.clear();
      this.#opsReplayFrom = null;
    }
  }

  snapshot(): Snapshot {
    return {
      ...nothing,
      agents: [...this.#agents.values()],
      apiKeys: [...this.#apiKeys.values()],
      signingKeys: [...this.#signingKeys.values()],
      ops: [...this.#ops.values()],
      opsReplayFrom: this.#opsReplayFrom,
    };
  }
}

function opKey({ agent, opId }: Pick<SavedOp, 'agent' | 'opId'>): string {
  return `${agentKey(agent)}/${opId}`;
}

/** A snapshot's rows have no order of their own. */
function inOrder(snapshot: Snapshot): Snapshot {
  return {
    ...snapshot,
    agents: snapshot.agents.toSorted(by((agent) => agentKey(agent.id))),
    apiKeys: snapshot.apiKeys.toSorted(by((key) => key.id)),
    signingKeys: snapshot.signingKeys.toSorted(by((key) => key.kid)),
    ops: snapshot.ops.toSorted(by(opKey)),
  };
}

function by<Row>(key: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => (key(a) < key(b) ? -1 : 1);
}

function headOf(entry: { seq: number; hash: string } | undefined): { seq: number; hash: string } | undefined {
  return entry === undefined ? undefined : { seq: entry.seq, hash: entry.hash };
}

function defined<Item>(items: readonly (Item | undefined)[]): Item[] {
  return items.filter((item) => item !== undefined);
}
