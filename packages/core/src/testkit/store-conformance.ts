import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SavedRate } from '../budget/rates/rates-slice.ts';
import type { LabelOwner } from '../runs/label.ts';
import type { RunPlace } from '../runs/run.ts';
import type { LabelsGiven, SavedLabel, SavedRun } from '../runs/runs-slice.ts';
import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { Approval } from '../approvals/approval.ts';
import { isLive } from '../approvals/approval.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import { emptyChain } from '../audit/chain.ts';
import type { SavedBalance } from '../budget/balance.ts';
import type { TierOf } from '../budget/tier.ts';
import { tierKey } from '../budget/tier.ts';
import type { BulkControl } from '../control/bulk-control.ts';
import type { ControlSequence } from '../control/control-slice.ts';
import type { Receipt } from '../ops/receipt.ts';
import type { SavedOp } from '../ops/ops-slice.ts';
import type { Batch, Change, Snapshot, Store } from '../store.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import { agentAfter, agentOfChange, isAgentChange } from '../tenancy/tenancy-slice.ts';
import { agentKey } from '../kernel/ids.ts';
import {
  agentConformance,
  bareAgent,
  sampleAgent,
  sampleDelegation,
  sampleUse,
  suspended,
} from './store-agent-conformance.ts';
import { approvalConformance, sampleApproval, sampleGrant, settledApproval } from './store-approval-conformance.ts';
import {
  controlConformance,
  sampleBulk,
  sampleReceipt,
  sampleDeparture,
  sampleRunControl,
  sampleSuspension,
} from './store-control-conformance.ts';
import { policyConformance, sampleVersion, saved, setSaved, version } from './store-policy-conformance.ts';
import { factsConformance } from './store-facts-conformance.ts';
import { closedPeriodConformance } from './store-balance-conformance.ts';
import { peopleConformance } from './store-people-conformance.ts';
import { readingConformance } from './store-reading-conformance.ts';
import {
  sampleDraft,
  sealAll,
  someAgentChange,
  someAgentId,
  someApiKey,
  someApproval,
  someBulk,
  someGrant,
  someKid,
  someOp,
  someOpId,
  someReceipt,
  someSigningKey,
} from './store-samples.ts';
import type { OpenStore } from './store-samples.ts';

/** Where a store keeps its data during one test. */
export interface StorePlace {
  /** Opens the store. If it is durable, opening it again finds what was left. */
  open(): OpenStore | Promise<OpenStore>;
  dispose(): void | Promise<void>;
}

export interface StoreTraits {
  /** Why nothing outlives the store. A durable store leaves it out. */
  readonly forgetsBecause?: string;
  /** Why a batch cannot fail once its first row is written. Absent if it can. */
  readonly neverFailsLateBecause?: string;
}

/** Expects the store to refuse a batch, at once or later. */
async function failing(store: Store, batch: Batch, message: string | RegExp): Promise<void> {
  await expect(async () => await store.commit(batch)).rejects.toThrow(message);
}

/** What every store must do. Each adapter runs it beside its own tests. */
export function storeConformance(name: string, makePlace: () => StorePlace, traits: StoreTraits = {}): void {
  describe(`${name} as a store`, () => {
    let place: StorePlace;
    let opened: OpenStore;
    let store: Store;
    const open = async () => {
      opened = await place.open();
      ({ store } = opened);
    };
    beforeEach(async () => {
      place = makePlace();
      await open();
    });
    afterEach(async () => {
      await opened.close();
      await place.dispose();
    });
    const reopen = async () => {
      await opened.close();
      await open();
    };

    test('starts empty, with the chain at its beginning and the log to be replayed from there', async () => {
      expect(inOrder(await store.load())).toEqual(nothing);
      expect(await store.after(0, 10)).toEqual([]);
      expect(await opened.reader.latest({ limit: 10 })).toEqual({ entries: [], next: null });
      expect(await opened.reader.oldest({ limit: 10 })).toEqual({ entries: [], next: null });
    });

    describe.each(Object.entries(roundTrips))('brings back what was written by %s', (_, { write, expected }) => {
      test('in the same process', async () => {
        for (const changes of write) await store.commit({ entries: [], changes });
        expect(inOrder(await store.load())).toEqual(inOrder({ ...nothing, ...expected }));
      });
    });

    test('agrees with a plain model over random batches of every kind of change', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(someChange, { maxLength: 4 }), { maxLength: 12 }), async (batches) => {
          const fresh = makePlace();
          const tried = await fresh.open();
          const model = new Model();
          for (const changes of batches) {
            await tried.store.commit({ entries: [], changes });
            for (const change of changes) model.apply(change);
          }
          expect(inOrder(await tried.store.load())).toEqual(inOrder(model.snapshot()));
          await tried.close();
          await fresh.dispose();
        }),
        { numRuns: 40 },
      );
    });

    test('moves the head of the chain with the entries, and not without them', async () => {
      const entries = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
      await store.commit({ entries: entries.slice(0, 2), changes: [] });
      expect((await store.load()).head).toEqual(headOf(entries[1]));
      await store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 1 }] });
      expect((await store.load()).head).toEqual(headOf(entries[1]));
      await store.commit({ entries: entries.slice(2), changes: [] });
      expect((await store.load()).head).toEqual(headOf(entries[2]));
    });

    test('takes nothing of a batch that it cannot take whole', async () => {
      const [first, second, third] = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
      const before: Batch = { entries: defined([first]), changes: everyKindOfRow };
      await store.commit(before);
      const kept = inOrder(await store.load());

      // The last entry claims a place in the chain that is taken. Everything before it must fail with it.
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
      await failing(store, { entries: defined([second, third, first]), changes }, /./);

      expect(inOrder(await store.load())).toEqual(kept);
      expect(await store.after(0, 10)).toHaveLength(1);
    });

    if (traits.neverFailsLateBecause === undefined) {
      test('takes nothing of a batch of which the last row cannot be written', async () => {
        const [first, second] = sealAll([sampleDraft(), sampleDraft()], emptyChain);
        await store.commit({ entries: defined([first]), changes: everyKindOfRow });
        const kept = inOrder(await store.load());
        const changes: Change[] = [
          { kind: 'agent_removed', id: sampleAgent.id, isKept: false },
          { kind: 'op_removed', id: sampleOp.agent, opId: sampleOp.opId },
          { kind: 'ops_forgotten' },
          { kind: 'api_key_saved', key: { ...sampleKey, revokedAt: 99 } },
          unwritable,
        ];
        await failing(store, { entries: defined([second]), changes }, unwritableMessage);
        expect(inOrder(await store.load())).toEqual(kept);
        expect(await store.after(0, 10)).toHaveLength(1);
        await store.commit({ entries: defined([second]), changes: [] });
        expect((await store.load()).head).toEqual(headOf(second));
      });
    }

    test('goes on after a batch that failed', async () => {
      const [first, second] = sealAll([sampleDraft(), sampleDraft()], emptyChain);
      await store.commit({ entries: defined([first]), changes: [] });
      await failing(store, { entries: defined([first]), changes: [] }, /./);
      await store.commit({ entries: defined([second]), changes: [{ kind: 'agent_saved', agent: sampleAgent }] });
      const { head, agents } = await store.load();
      expect(head).toEqual(headOf(second));
      expect([...agents]).toEqual([{ ...sampleAgent, suspension: null }]);
    });

    test('can be probed without a trace', async () => {
      await store.commit({ entries: sealAll([sampleDraft()], emptyChain), changes: everyKindOfRow });
      const before = inOrder(await store.load());
      await store.probe();
      expect(inOrder(await store.load())).toEqual(before);
      expect(await store.after(0, 10)).toHaveLength(1);
    });

    if (traits.forgetsBecause === undefined) {
      test('keeps everything when it is closed and opened again', async () => {
        const entries = sealAll([sampleDraft(), sampleDraft({ opId: 't:s', decision: 'deny' })], emptyChain);
        await store.commit({ entries, changes: everyKindOfRow });
        await store.commit({ entries: [], changes: [{ kind: 'ops_replay_from', seq: 1 }] });
        await store.commit({ entries: [], changes: [{ kind: 'event_ids_reserved', through: 2_000_000 }] });
        const before = inOrder(await store.load());
        const log = await store.after(0, 10);
        await reopen();
        expect(inOrder(await store.load())).toEqual(before);
        expect(await store.after(0, 10)).toEqual(log);
        await reopen();
        expect(inOrder(await store.load())).toEqual(before);
      });

      test('remembers over a restart that operations are not to survive', async () => {
        await store.commit({ entries: [], changes: [{ kind: 'op_saved', op: sampleOp }, { kind: 'ops_forgotten' }] });
        await reopen();
        expect(inOrder(await store.load())).toMatchObject({ ops: [], opsReplayFrom: null });
      });
    } else {
      test(`starts empty again, because ${traits.forgetsBecause}`, async () => {
        await store.commit({ entries: sealAll([sampleDraft()], emptyChain), changes: everyKindOfRow });
        await reopen();
        expect(inOrder(await store.load())).toEqual(nothing);
      });
    }

    test('gives up the oldest entries, keeps the others, and goes on from the same head', async () => {
      const [one, two, three, four] = sealAll(
        Array.from({ length: 4 }, () => sampleDraft()),
        emptyChain,
      );
      await store.commit({ entries: defined([one, two, three]), changes: [] });
      await store.commit({ entries: [], changes: [{ kind: 'entries_removed', through: 2 }] });
      expect((await store.load()).head).toEqual(headOf(three));
      await store.commit({ entries: defined([four]), changes: [] });
      const left = (await store.after(0, 10)).map((entry) => entry.seq);
      expect(left).toEqual([3, 4]);
      expect((await store.after(3, 10)).map((entry) => entry.seq)).toEqual([4]);
      expect((await opened.reader.latest({ limit: 10 })).entries.map((entry) => entry.seq)).toEqual([4, 3]);
      expect((await opened.reader.oldest({ limit: 10 })).entries.map((entry) => entry.seq)).toEqual([3, 4]);
    });

    factsConformance(() => store);
    agentConformance(() => store);
    controlConformance(() => store, sampleOp);
    approvalConformance(() => store);
    closedPeriodConformance(() => store);
    policyConformance(() => store);
    readingConformance(() => opened);
    peopleConformance(() => opened);
  });
}

const nothing: Snapshot = {
  head: emptyChain,
  factsFrom: 0,
  unread: [],
  agents: [],
  agentUses: [],
  delegations: [],
  apiKeys: [],
  signingKeys: [],
  ops: [],
  opsReplayFrom: 0,
  receipts: [],
  bulkControls: [],
  controlSequences: [],
  runControls: [],
  departures: [],
  suspensions: [],
  approvals: [],
  grants: [],
  lastBackupAt: null,
  eventIdsReserved: 0,
  restoredAt: null,
  restoredFrom: null,
  policies: [],
  balances: [],
  balancesMark: null,
  rates: [],
  ratesMark: null,
  runs: [],
  runsMark: null,
  labels: [],
  forgottenRuns: [],
};

const rateOf = (digit: string) => `agent.60.${digit.repeat(24)}`;

function rateRow(digit: string, seq: number): SavedRate {
  const counts = { steps: [1_700_000_000, 2, 7, 1], told: { 80: 1_700_000_000_000 } };
  return { name: `agent:acme/search/bot#${rateOf(digit)}`, counts, seq };
}

/** Run ids come from callers: this one holds what a database would not take as it is. */
function runRow(runId: string, seq: number): SavedRun {
  const agentId = runId === '' ? 'bot' : '';
  return {
    place: { orgId: 'acme', teamId: 'search', runId, agentId },
    startedAt: 1_763_300_000_000,
    lastAt: 1_763_300_000_000 + seq,
    checks: 3,
    denied: 1,
    spentMicros: '9007199254740993',
    costMicros: '7',
    agents: [{ agentId: 'bot', checks: 2 }],
    seq,
  };
}

function placeOfRun(runId: string): RunPlace {
  return runRow(runId, 0).place;
}

function labelRow(of: LabelOwner, runId: string, name: string): SavedLabel {
  return { of, place: placeOfRun(runId), label: { name, since: 7, opId: 't1:s1', policyRule: 'p/mail "x"' } };
}

function given(of: LabelOwner, runId: string, ...names: readonly string[]): LabelsGiven {
  const labels = names.map((name) => labelRow(of, runId, name).label);
  return { kind: 'labels_given', of, place: placeOfRun(runId), by: sampleAgent.id, labels };
}

const hostileRunId = 'r "\u0000\ud800/#';

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
  madeBy: { kind: 'api_key', id: 'mnopqrstuvwx' },
  rotatedFrom: '234567234567',
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
  madeBy: { kind: 'account', id: 'acc_1' },
  rotatedFrom: null,
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
  delegators: ['boss', 'root'],
  via: { door: 'mcp', name: 'github' },
  reason: 'allowed by rule a/b',
  costMicros: Number.MAX_SAFE_INTEGER,
  reservedMicros: 0,
  usage: { inputTokens: 7, outputTokens: null, cachedInputTokens: 0 },
  policyRule: 'a/b',
  digest: 'd'.repeat(64),
  owedLabels: [{ name: 'mail.read', of: 'agent', policyRule: 'a/b' }],
  rewrite: { digest: 'e'.repeat(64), changes: '[[["limit"],10]]' },
  seq: 7,
  controlId: 'ctl_1',
  floor: true,
  resultDuty: { judged: true, unjudged: [{ name: 'pii', of: 'run', policyRule: 'a/b' }] },
};
const bareOp: SavedOp = {
  ...sampleOp,
  floor: false,
  agent: bareAgent.id,
  state: 'pending',
  actionType: null,
  costMicros: 0,
  digest: '',
  owedLabels: [],
  rewrite: null,
  controlId: null,
};

const everyKindOfRow: readonly Change[] = [
  ...suspended(sampleAgent),
  { kind: 'agent_saved', agent: bareAgent },
  { kind: 'api_key_saved', key: sampleKey },
  { kind: 'api_key_saved', key: unboundKey },
  { kind: 'signing_key_saved', key: sampleSigningKey },
  { kind: 'op_saved', op: sampleOp },
  { kind: 'op_saved', op: bareOp },
  { kind: 'receipt_saved', receipt: sampleReceipt },
  { kind: 'bulk_control_saved', bulk: sampleBulk },
  { kind: 'control_sequence_saved', sequence: { agent: sampleAgent.id, sequence: 12 } },
  { kind: 'run_control_saved', control: sampleRunControl },
  { kind: 'agent_used', use: sampleUse },
  { kind: 'approval_saved', approval: sampleApproval },
  { kind: 'grant_saved', grant: sampleGrant },
  ...saved(sampleVersion, version('gone', 3, null)),
  setSaved('v1', 'one', 'two'),
];

const unwritableMessage = 'this row cannot be written';

/** Throws when a store tries to write it. */
const unwritable: Change = {
  kind: 'agent_saved',
  get agent(): AgentRecord {
    throw new Error(unwritableMessage);
  },
};

function balance(of: TierOf): SavedBalance {
  return {
    of,
    spent: { day: 1_370_000, month: 9_007_199_254_740_993n },
    window: { day: '2026-11-15', month: '2026-11' },
    noticed: { day: 80, month: 0 },
    earlier: {
      day: [
        { id: '2026-11-13', spent: 1, noticed: 0 },
        { id: '2026-11-14', spent: 9_007_199_254_740_993n, noticed: 95 },
      ],
      month: [],
    },
    seq: 7,
  };
}

const nobody = { orgId: '', teamId: '', agentId: '' };
const globalBalance = balance({ ...nobody, tier: 'global' });
const orgBalance = balance({ ...nobody, tier: 'org', orgId: 'acme' });
const agentBalance = balance({ tier: 'agent', orgId: 'acme', teamId: '', agentId: 'bot' });

function balancesOf(saved: readonly SavedBalance[], over: readonly SavedBalance[], seq: number): Change {
  const asOf = { seq, timeZone: 'Europe/Berlin' };
  return { kind: 'balances_saved', saved, over: over.map(({ of }) => of), closed: [], closedBefore: null, asOf };
}

const unknownAgent = { orgId: 'acme', teamId: '', agentId: 'unknown' };

interface RoundTrip {
  /** Batches, one after the other. */
  readonly write: readonly (readonly Change[])[];
  readonly expected: Partial<Snapshot>;
}

/** One for each kind of change. A missing kind does not compile. */
const roundTrips: Readonly<Record<Change['kind'], RoundTrip>> = {
  agent_saved: {
    write: [
      [
        { kind: 'agent_saved', agent: bareAgent },
        { kind: 'agent_saved', agent: { ...sampleAgent, name: 'before', parent: null } },
      ],
      [{ kind: 'agent_saved', agent: sampleAgent }],
    ],
    expected: { agents: [{ ...sampleAgent, suspension: null }, bareAgent] },
  },
  // Other tests cover what these changes do to rows of other gateways.
  agent_controlled: {
    write: [
      [{ kind: 'agent_saved', agent: { ...sampleAgent, controlled: false } }],
      [
        { kind: 'agent_controlled', id: sampleAgent.id, tokenHash: 'f'.repeat(64) },
        { kind: 'agent_controlled', id: unknownAgent, tokenHash: 'f'.repeat(64) },
      ],
    ],
    expected: { agents: [{ ...sampleAgent, suspension: null }] },
  },
  agent_suspended: {
    write: [[{ kind: 'agent_saved', agent: bareAgent }], suspended(sampleAgent)],
    expected: { agents: [sampleAgent, bareAgent] },
  },
  agent_resumed: {
    write: [
      suspended(sampleAgent),
      [
        { kind: 'agent_resumed', id: sampleAgent.id, width: 'unbound' },
        { kind: 'agent_resumed', id: unknownAgent, width: 'unbound' },
      ],
    ],
    expected: { agents: [{ ...sampleAgent, suspension: null }] },
  },
  agent_removed: {
    write: [
      [
        { kind: 'agent_saved', agent: bareAgent },
        { kind: 'agent_saved', agent: sampleAgent },
      ],
      [
        { kind: 'agent_removed', id: sampleAgent.id, isKept: false },
        { kind: 'agent_removed', id: unknownAgent, isKept: false },
      ],
    ],
    expected: { agents: [bareAgent] },
  },
  delegation_saved: {
    write: [
      [{ kind: 'delegation_saved', delegation: { ...sampleDelegation, maxChecks: null, tools: [] } }],
      [{ kind: 'delegation_saved', delegation: sampleDelegation }],
    ],
    expected: { delegations: [sampleDelegation] },
  },
  delegation_used: {
    write: [
      [
        { kind: 'delegation_saved', delegation: sampleDelegation },
        { kind: 'delegation_used', delegation: { ...sampleDelegation, checks: 4 } },
      ],
      [{ kind: 'delegation_used', delegation: { ...sampleDelegation, checks: 5 } }],
    ],
    expected: { delegations: [{ ...sampleDelegation, checks: 5 }] },
  },
  delegation_ended: {
    write: [
      [{ kind: 'delegation_saved', delegation: sampleDelegation }],
      [{ kind: 'delegation_ended', delegation: { ...sampleDelegation, endedAt: 99 }, reason: 'revoked' }],
    ],
    expected: { delegations: [{ ...sampleDelegation, endedAt: 99 }] },
  },
  delegation_removed: {
    write: [
      [{ kind: 'delegation_saved', delegation: sampleDelegation }],
      [
        { kind: 'delegation_removed', id: sampleDelegation.id },
        { kind: 'delegation_removed', id: unknownAgent },
      ],
    ],
    expected: { delegations: [] },
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
  api_key_used: {
    write: [
      [
        { kind: 'api_key_saved', key: sampleKey },
        { kind: 'api_key_saved', key: unboundKey },
      ],
      [
        { kind: 'api_key_used', id: sampleKey.id, at: 77 },
        { kind: 'api_key_used', id: unboundKey.id, at: 5 },
        { kind: 'api_key_used', id: 'unknown', at: 9 },
      ],
      // Another gateway may note an earlier use later.
      [{ kind: 'api_key_used', id: sampleKey.id, at: 76 }],
    ],
    expected: {
      apiKeys: [
        { ...sampleKey, lastUsedAt: 77 },
        { ...unboundKey, lastUsedAt: 5 },
      ],
    },
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
  // Another test covers what this does to entries.
  entries_removed: {
    write: [suspended(sampleAgent), [{ kind: 'entries_removed', through: 5 }]],
    expected: { agents: [sampleAgent] },
  },
  rights_changed: {
    write: [suspended(sampleAgent), [{ kind: 'rights_changed', ids: ['acc_1'] }]],
    expected: { agents: [sampleAgent] },
  },
  // The tests of accounts cover what this does to owed entries.
  owed_entry_recorded: {
    write: [suspended(sampleAgent), [{ kind: 'owed_entry_recorded', id: 'unknown' }]],
    expected: { agents: [sampleAgent] },
  },
  approval_saved: {
    write: [
      [
        { kind: 'approval_saved', approval: { ...sampleApproval, verdicts: [], notices: [] } },
        { kind: 'approval_saved', approval: { ...sampleApproval, id: 'apr_2' } },
        { kind: 'approval_saved', approval: settledApproval('apr_3', { signalSequence: 7 }) },
      ],
      [
        { kind: 'approval_saved', approval: sampleApproval },
        { kind: 'approval_saved', approval: settledApproval('apr_2') },
      ],
    ],
    expected: { approvals: [sampleApproval, settledApproval('apr_3', { signalSequence: 7 })] },
  },
  grant_saved: {
    write: [
      [
        { kind: 'grant_saved', grant: { ...sampleGrant, uses: 0, lastUsedAt: null } },
        { kind: 'grant_saved', grant: { ...sampleGrant, id: 'grt_2' } },
      ],
      [
        { kind: 'grant_saved', grant: sampleGrant },
        { kind: 'grant_saved', grant: { ...sampleGrant, id: 'grt_2', revokedAt: 4000 } },
      ],
    ],
    expected: { grants: [sampleGrant] },
  },
  // Other tests cover what this does to settled approvals.
  approvals_removed: {
    write: [
      [
        { kind: 'approval_saved', approval: sampleApproval },
        { kind: 'grant_saved', grant: sampleGrant },
      ],
      [{ kind: 'approvals_removed', before: 4000, kept: 0, most: 100 }],
    ],
    expected: { approvals: [sampleApproval], grants: [sampleGrant] },
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
  receipt_saved: {
    write: [
      [
        { kind: 'receipt_saved', receipt: { ...sampleReceipt, status: 'requested', deliveredAt: null } },
        { kind: 'receipt_saved', receipt: { ...sampleReceipt, id: 'ctl_2', sequence: 2, waiting: false } },
        {
          kind: 'receipt_saved',
          receipt: { ...sampleReceipt, id: 'ctl_3', sequence: 3, waiting: false, blocks: true, status: 'failed' },
        },
      ],
      [{ kind: 'receipt_saved', receipt: sampleReceipt }],
    ],
    expected: {
      receipts: [
        sampleReceipt,
        { ...sampleReceipt, id: 'ctl_3', sequence: 3, waiting: false, blocks: true, status: 'failed' },
      ],
    },
  },
  bulk_control_saved: {
    write: [
      [{ kind: 'bulk_control_saved', bulk: { ...sampleBulk, done: false, changed: 0, skipped: 3 } }],
      [{ kind: 'bulk_control_saved', bulk: sampleBulk }],
    ],
    expected: { bulkControls: [sampleBulk] },
  },
  agent_used: {
    write: [
      [{ kind: 'agent_used', use: { ...sampleUse, usage: { doors: {}, families: {} } } }],
      [
        { kind: 'agent_used', use: sampleUse },
        { kind: 'agent_used', use: { ...sampleUse, id: bareAgent.id } },
      ],
    ],
    expected: { agentUses: [{ ...sampleUse, id: bareAgent.id }, sampleUse] },
  },
  agent_uses_removed: {
    write: [[{ kind: 'agent_used', use: sampleUse }], [{ kind: 'agent_uses_removed', id: sampleUse.id }]],
    expected: { agentUses: [] },
  },
  run_control_saved: {
    write: [[{ kind: 'run_control_saved', control: sampleRunControl }]],
    expected: { runControls: [sampleRunControl] },
  },
  run_control_used: {
    write: [
      [{ kind: 'run_control_saved', control: sampleRunControl }],
      [{ kind: 'run_control_used', control: { ...sampleRunControl, refusedAt: 7 } }],
    ],
    expected: { runControls: [{ ...sampleRunControl, refusedAt: 7 }] },
  },
  run_control_removed: {
    write: [
      [{ kind: 'run_control_saved', control: sampleRunControl }],
      [{ kind: 'run_control_removed', control: sampleRunControl }],
    ],
    expected: { runControls: [] },
  },
  departure_saved: {
    write: [
      [{ kind: 'departure_saved', departure: sampleDeparture }],
      [{ kind: 'departure_saved', departure: { ...sampleDeparture, at: 5 } }],
    ],
    expected: { departures: [{ ...sampleDeparture, at: 5 }] },
  },
  departure_removed: {
    write: [
      [{ kind: 'departure_saved', departure: sampleDeparture }],
      [{ kind: 'departure_removed', departure: sampleDeparture }],
    ],
    expected: { departures: [] },
  },
  suspension_saved: {
    write: [[{ kind: 'suspension_saved', suspension: sampleSuspension }]],
    expected: { suspensions: [sampleSuspension] },
  },
  suspension_removed: {
    write: [
      [{ kind: 'suspension_saved', suspension: sampleSuspension }],
      [{ kind: 'suspension_removed', suspension: sampleSuspension }],
    ],
    expected: { suspensions: [] },
  },
  control_sequence_saved: {
    write: [
      [
        { kind: 'control_sequence_saved', sequence: { agent: sampleAgent.id, sequence: 1 } },
        { kind: 'control_sequence_saved', sequence: { agent: bareAgent.id, sequence: 7 } },
      ],
      // The sequence outlives the registration.
      [
        { kind: 'control_sequence_saved', sequence: { agent: sampleAgent.id, sequence: Number.MAX_SAFE_INTEGER } },
        { kind: 'agent_removed', id: sampleAgent.id, isKept: false },
      ],
    ],
    expected: {
      controlSequences: [
        { agent: sampleAgent.id, sequence: Number.MAX_SAFE_INTEGER },
        { agent: bareAgent.id, sequence: 7 },
      ],
    },
  },
  // Another test covers what this does to settled receipts.
  receipts_removed: {
    write: [
      [{ kind: 'receipt_saved', receipt: sampleReceipt }],
      [{ kind: 'receipts_removed', before: Number.MAX_SAFE_INTEGER, most: 10 }],
    ],
    expected: { receipts: [sampleReceipt] },
  },
  balances_saved: {
    write: [
      [balancesOf([globalBalance, { ...orgBalance, spent: { day: 1, month: 2 } }], [], 3)],
      [balancesOf([orgBalance, agentBalance], [globalBalance], 9)],
    ],
    expected: { balances: [agentBalance, orgBalance], balancesMark: { seq: 9, timeZone: 'Europe/Berlin' } },
  },
  // The log has it.
  rates_counted: {
    write: [[{ kind: 'rates_counted', agent: sampleAgent.id, at: 1, counted: [rateOf('a')] }]],
    expected: {},
  },
  rates_saved: {
    write: [
      [{ kind: 'rates_saved', saved: [rateRow('a', 1), rateRow('b', 1)], asOf: null }],
      [{ kind: 'rates_saved', saved: [rateRow('a', 2), { ...rateRow('b', 2), counts: null }], asOf: 2 }],
    ],
    expected: { rates: [rateRow('a', 2)], ratesMark: 2 },
  },
  runs_saved: {
    write: [
      [{ kind: 'runs_saved', saved: [runRow('', 1)], asOf: null }],
      [{ kind: 'runs_saved', saved: [runRow('', 2), runRow(hostileRunId, 2)], asOf: 2 }],
    ],
    expected: { runs: [runRow('', 2), runRow(hostileRunId, 2)], runsMark: 2 },
  },
  runs_forgotten: {
    write: [
      [{ kind: 'runs_saved', saved: [runRow('', 1), runRow(hostileRunId, 1)], asOf: 1 }],
      [{ kind: 'runs_forgotten', runs: [runRow(hostileRunId, 1).place, { ...runRow('', 1).place, agentId: 'other' }] }],
    ],
    expected: { runs: [runRow('', 1)], runsMark: 1 },
  },
  labels_given: {
    write: [
      [given('agent', '', 'a'), given('run', hostileRunId, 'a', 'b')],
      [given('run', 'other', 'a'), given('run', '', 'a')],
      [{ kind: 'runs_forgotten', runs: [placeOfRun(''), placeOfRun('other')], at: 5 }],
    ],
    expected: {
      labels: [labelRow('agent', '', 'a'), labelRow('run', hostileRunId, 'a'), labelRow('run', hostileRunId, 'b')],
      forgottenRuns: [
        { place: placeOfRun(''), at: 5 },
        { place: placeOfRun('other'), at: 5 },
      ],
    },
  },
  labels_cleared: {
    write: [
      [given('agent', '', 'a'), given('run', hostileRunId, 'a', 'b')],
      [{ kind: 'labels_cleared', of: 'run', place: placeOfRun(hostileRunId), names: ['b'] }],
      [{ kind: 'labels_cleared', of: 'run', place: placeOfRun(''), names: ['a'] }],
    ],
    expected: { labels: [labelRow('agent', '', 'a'), labelRow('run', hostileRunId, 'a')] },
  },
  policy_saved: {
    write: [saved(version('a', 1), version('b', 1)), saved(version('a', 2), version('b', 2, null), sampleVersion)],
    expected: { policies: [version('a', 2), version('b', 2, null), sampleVersion] },
  },
  // Other tests cover how a set is found.
  policy_set_saved: { write: [[setSaved('v1', 'one')], [setSaved('v2')]], expected: {} },
  event_ids_reserved: {
    write: [
      [{ kind: 'event_ids_reserved', through: 1_000_000 }],
      [{ kind: 'event_ids_reserved', through: Number.MAX_SAFE_INTEGER }],
    ],
    expected: { eventIdsReserved: Number.MAX_SAFE_INTEGER },
  },
  ops_replay_from: {
    write: [[{ kind: 'ops_replay_from', seq: 3 }], [{ kind: 'ops_replay_from', seq: 123_456_789 }]],
    expected: { opsReplayFrom: 123_456_789 },
  },
  op_asked: {
    // The log has it; no row does.
    write: [[{ kind: 'op_asked', op: { ...sampleOp, control: null, stale: false } }]],
    expected: {},
  },
  op_result_judged: {
    // The row of the operation says so once it is written.
    write: [[{ kind: 'op_result_judged', id: sampleAgent.id, opId: sampleOp.opId }]],
    expected: {},
  },
  ops_forgotten: {
    write: [
      [...suspended(sampleAgent), { kind: 'op_saved', op: sampleOp }, { kind: 'ops_replay_from', seq: 3 }],
      [{ kind: 'ops_forgotten' }],
    ],
    expected: { agents: [sampleAgent], opsReplayFrom: null },
  },
  backup_taken: {
    write: [[{ kind: 'backup_taken', at: 3 }], [{ kind: 'backup_taken', at: 1_763_300_000_000 }]],
    expected: { lastBackupAt: 1_763_300_000_000 },
  },
  // What brings a restore about writes the marks into the file or the database.
  restore_recorded: { write: [[{ kind: 'restore_recorded' }]], expected: {} },
};

const someChange: fc.Arbitrary<Change> = fc.oneof(
  // Frequent, so that one agent gets several changes.
  { arbitrary: someAgentChange, weight: 5 },
  someApiKey.map((key): Change => ({ kind: 'api_key_saved', key })),
  fc.tuple(someApiKey, fc.maxSafeNat()).map(([{ id }, at]): Change => ({ kind: 'api_key_used', id, at })),
  someSigningKey.map((key): Change => ({ kind: 'signing_key_saved', key })),
  someKid.map((kid): Change => ({ kind: 'signing_key_removed', kid })),
  someOp.map((op): Change => ({ kind: 'op_saved', op })),
  fc.tuple(someAgentId, someOpId).map(([id, opId]): Change => ({ kind: 'op_removed', id, opId })),
  fc.nat().map((seq): Change => ({ kind: 'ops_replay_from', seq })),
  fc.maxSafeNat().map((through): Change => ({ kind: 'event_ids_reserved', through })),
  someReceipt.map((receipt): Change => ({ kind: 'receipt_saved', receipt })),
  someBulk.map((bulk): Change => ({ kind: 'bulk_control_saved', bulk })),
  fc
    .tuple(someAgentId, fc.integer({ min: 1, max: 1000 }))
    .map(([agent, sequence]): Change => ({ kind: 'control_sequence_saved', sequence: { agent, sequence } })),
  someApproval.map((approval): Change => ({ kind: 'approval_saved', approval })),
  someGrant.map((grant): Change => ({ kind: 'grant_saved', grant })),
  fc.constant<Change>({ kind: 'ops_forgotten' }),
  fc.constant<Change>({ kind: 'owed_entry_recorded', id: 'unknown' }),
);

/** What a store must remember, in the plainest form. */
class Model {
  readonly #agents = new Map<string, AgentRecord>();
  readonly #apiKeys = new Map<string, ApiKeyRecord>();
  readonly #signingKeys = new Map<string, SigningKeyRecord>();
  readonly #ops = new Map<string, SavedOp>();
  readonly #receipts = new Map<string, Receipt>();
  readonly #bulks = new Map<string, BulkControl>();
  readonly #sequences = new Map<string, ControlSequence>();
  readonly #approvals = new Map<string, Approval>();
  readonly #grants = new Map<string, StandingGrant>();
  #opsReplayFrom: number | null = 0;
  #eventIdsReserved = 0;

  apply(change: Change): void {
    if (isAgentChange(change)) {
      const key = agentKey(agentOfChange(change));
      const agent = agentAfter(this.#agents.get(key), change);
      this.#agents.delete(key);
      if (agent !== undefined) this.#agents.set(key, agent);
    } else if (change.kind === 'api_key_saved') this.#apiKeys.set(change.key.id, change.key);
    else if (change.kind === 'api_key_used') {
      const key = this.#apiKeys.get(change.id);
      if (key) this.#apiKeys.set(key.id, { ...key, lastUsedAt: Math.max(change.at, key.lastUsedAt ?? 0) });
    } else if (change.kind === 'signing_key_saved') this.#signingKeys.set(change.key.kid, change.key);
    else if (change.kind === 'signing_key_removed') this.#signingKeys.delete(change.kid);
    else if (change.kind === 'op_saved') this.#ops.set(opKey(change.op), change.op);
    else if (change.kind === 'op_removed') this.#ops.delete(opKey({ agent: change.id, opId: change.opId }));
    else if (change.kind === 'receipt_saved') this.#receipts.set(change.receipt.id, change.receipt);
    else if (change.kind === 'bulk_control_saved') this.#bulks.set(change.bulk.id, change.bulk);
    else if (change.kind === 'approval_saved') this.#approvals.set(change.approval.id, change.approval);
    else if (change.kind === 'grant_saved') this.#grants.set(change.grant.id, change.grant);
    else if (change.kind === 'control_sequence_saved') {
      this.#sequences.set(agentKey(change.sequence.agent), change.sequence);
    } else if (change.kind === 'ops_replay_from') this.#opsReplayFrom = change.seq;
    else if (change.kind === 'event_ids_reserved') this.#eventIdsReserved = change.through;
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
      receipts: [...this.#receipts.values()].filter(({ waiting, blocks }) => waiting || blocks),
      bulkControls: [...this.#bulks.values()].filter(({ done, idempotency }) => done && idempotency !== null),
      controlSequences: [...this.#sequences.values()],
      approvals: [...this.#approvals.values()].filter(isLive),
      grants: [...this.#grants.values()].filter(({ revokedAt }) => revokedAt === null),
      eventIdsReserved: this.#eventIdsReserved,
      balances: [],
      balancesMark: null,
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
    agents: [...snapshot.agents].toSorted(by((agent) => agentKey(agent.id))),
    agentUses: snapshot.agentUses.toSorted(by(({ id }) => agentKey(id))),
    apiKeys: snapshot.apiKeys.toSorted(by((key) => key.id)),
    signingKeys: snapshot.signingKeys.toSorted(by((key) => key.kid)),
    ops: [...snapshot.ops].toSorted(by(opKey)),
    receipts: snapshot.receipts.toSorted(by(({ id }) => id)),
    bulkControls: snapshot.bulkControls.toSorted(by(({ id }) => id)),
    controlSequences: snapshot.controlSequences.toSorted(by(({ agent }) => agentKey(agent))),
    balances: snapshot.balances.toSorted(by(({ of }) => tierKey(of))),
    policies: snapshot.policies.toSorted(by(({ name }) => name)),
    approvals: snapshot.approvals.toSorted(by(({ id }) => id)),
    grants: snapshot.grants.toSorted(by(({ id }) => id)),
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
