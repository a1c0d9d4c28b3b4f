import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { widths } from '../access/authority.ts';
import type { ApiKeyRecord } from '../access/api-key.ts';
import { scopes } from '../access/principal.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { Approval } from '../approvals/approval.ts';
import { approvalStates } from '../approvals/approval.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import type { ChainHead } from '../audit/chain.ts';
import { sealer } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { EntryDraft, SealedEntry } from '../audit/entry.ts';
import type { BulkControl } from '../control/bulk-control.ts';
import type { Receipt } from '../ops/receipt.ts';
import { receiptStatuses } from '../ops/receipt.ts';
import { actionTypes } from '../action/action.ts';
import { doors } from '../action/via.ts';
import type { AgentChange } from '../tenancy/tenancy-slice.ts';
import type { SavedOp } from '../ops/ops-slice.ts';
import { opStates } from '../ops/lifecycle.ts';
import type { AgentRecord, Suspension } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentKey } from '../kernel/ids.ts';
import type { Store } from '../store.ts';
import type { AuditReader } from '../audit/audit-reader.ts';
import type { PeopleReader } from '../audit/people.ts';

/** A store and the reader of its log, which may be separate. */
export interface OpenStore {
  readonly store: Store;
  readonly reader: AuditReader & PeopleReader;
  close(): Promise<void>;
}

/** Records that a store must return unchanged: every text, every number, and every null in its turn. */

const epoch = fc.integer({ min: 0, max: 4_102_444_800_000 });
const micros = fc.oneof(fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER));
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', "it's", '"quoted"', 'a\nb\tc', 'tab\\slash', 'naïve 🦊', '\u0001', 'NULL', '%_'),
);
const hexHash = fc.stringMatching(/^[0-9a-f]{64}$/);
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

/** Few enough that random batches hit the same ones again. */
export const someAgentId: fc.Arbitrary<AgentId> = fc.record({
  orgId: fc.constantFrom('', 'acme', 'umbrella'),
  teamId: fc.constantFrom('', 'search'),
  agentId: fc.constantFrom('bot', 'acme', 'a.b-c_d'),
});

const someSuspension: fc.Arbitrary<Suspension> = fc.record({
  at: epoch,
  reason: text,
  width: fc.constantFrom(...widths),
});

const someAgent: fc.Arbitrary<AgentRecord> = fc
  .record({
    id: someAgentId,
    hasToken: fc.boolean(),
    name: text,
    framework: text,
    version: text,
    parent: orNull(someAgentId),
    metadata: fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 6 }), text, { maxKeys: 3, noNullPrototype: true }),
    toolNames: fc.array(text, { maxLength: 3 }),
    registeredAt: epoch,
    suspension: orNull(someSuspension),
    controlled: fc.boolean(),
    registeredWith: fc.uniqueArray(fc.constantFrom('abcdefghijkl', 'acc_1')),
  })
  .map(({ hasToken, ...agent }) => {
    // A token belongs to one agent, so no two of these share one.
    const { orgId, teamId, agentId } = agent.id;
    const tokenHash = hasToken ? hash('sha256', `${orgId}/${teamId}/${agentId}`, 'hex') : null;
    return { ...agent, tokenHash };
  });

export const someAgentChange: fc.Arbitrary<AgentChange> = fc.oneof(
  someAgent.map((agent): AgentChange => ({ kind: 'agent_saved', agent })),
  fc
    .tuple(someAgent, someSuspension)
    .map(([agent, suspension]): AgentChange => ({ kind: 'agent_suspended', agent, suspension })),
  fc
    .tuple(someAgentId, fc.constantFrom(...widths))
    .map(([id, width]): AgentChange => ({ kind: 'agent_resumed', id, width })),
  someAgent.map(({ id, tokenHash }): AgentChange => ({ kind: 'agent_controlled', id, tokenHash: tokenHash ?? '' })),
  fc.tuple(someAgentId, fc.boolean()).map(([id, isKept]): AgentChange => ({ kind: 'agent_removed', id, isKept })),
);

export const someApiKey: fc.Arbitrary<ApiKeyRecord> = fc.record({
  id: fc.constantFrom('abcdefghijkl', 'mnopqrstuvwx', '234567234567'),
  hash: hexHash,
  label: text,
  scopes: fc.uniqueArray(fc.constantFrom(...scopes)),
  orgId: orNull(fc.constantFrom('acme', 'umbrella')),
  teamId: orNull(fc.constant('search')),
  createdAt: epoch,
  expiresAt: orNull(epoch),
  lastUsedAt: orNull(epoch),
  revokedAt: orNull(epoch),
  madeBy: orNull(
    fc.constantFrom({ kind: 'account', id: 'acc_1' } as const, { kind: 'api_key', id: 'mnopqrstuvwx' } as const),
  ),
  rotatedFrom: orNull(fc.constant('234567234567')),
});

export const someKid = fc.constantFrom('k1', 'k2');

export const someSigningKey: fc.Arbitrary<SigningKeyRecord> = fc.record({
  kid: someKid,
  privateJwk: text,
  publicJwk: text,
  createdAt: epoch,
});

export const someOpId = fc.constantFrom('t1:s1', 't1:s2', 'T_-9:S');

export const someOp: fc.Arbitrary<SavedOp> = fc.record({
  opId: someOpId,
  agent: someAgentId,
  state: fc.constantFrom(...opStates),
  registeredAt: epoch,
  updatedAt: epoch,
  actionType: orNull(fc.constantFrom(...actionTypes)),
  resource: text,
  summary: text,
  runId: text,
  delegators: fc.array(fc.constantFrom('boss', 'root'), { maxLength: 2 }),
  via: orNull(fc.record({ door: fc.constantFrom(...doors), name: text })),
  reason: text,
  costMicros: micros,
  reservedMicros: micros,
  usage: orNull(
    fc.record(
      { inputTokens: orNull(micros), outputTokens: orNull(micros), cachedInputTokens: orNull(micros) },
      { noNullPrototype: true },
    ),
  ),
  policyRule: text,
  digest: fc.oneof(hexHash, fc.constant('')),
  owedLabels: fc.array(
    fc.record({ name: text, of: fc.constantFrom('run', 'agent'), policyRule: text }, { noNullPrototype: true }),
    {
      maxLength: 2,
    },
  ),
  rewrite: orNull(fc.record({ digest: hexHash, changes: orNull(text) })),
  seq: fc.integer({ min: 1, max: 1_000_000 }),
  controlId: orNull(fc.constant('ctl_1')),
  floor: fc.boolean(),
  resultDuty: orNull(
    fc.record(
      {
        judged: fc.boolean(),
        unjudged: fc.array(
          fc.record({ name: text, of: fc.constantFrom('run', 'agent'), policyRule: text }, { noNullPrototype: true }),
          { maxLength: 2 },
        ),
      },
      { noNullPrototype: true },
    ),
  ),
});

const someActor = fc.record({ id: text, kind: fc.constantFrom('api_key', 'account'), label: text });
const someAction = fc.constantFrom('pause', 'resume', 'terminate');

/** An id belongs to one message of one agent, so it derives from both. */
export const someReceipt: fc.Arbitrary<Receipt> = fc
  .record({
    bulkId: orNull(fc.constantFrom('ctl_b', 'ctl_c')),
    agent: someAgentId,
    opId: someOpId,
    action: someAction,
    actor: someActor,
    reason: text,
    cause: fc.constantFrom('operator', 'suspension'),
    width: fc.constantFrom(...widths),
    owed: fc.boolean(),
    sequence: fc.integer({ min: 1, max: 3 }),
    requestedAt: epoch,
    deliveredAt: orNull(epoch),
    ackedAt: orNull(epoch),
    effectiveAt: orNull(epoch),
    status: fc.constantFrom(...receiptStatuses),
    detail: text,
    waiting: fc.boolean(),
    blocks: fc.boolean(),
    floor: fc.boolean(),
    processes: orNull(fc.nat()),
  })
  .map((receipt) => ({ ...receipt, id: `ctl_${agentKey(receipt.agent)}_${receipt.sequence}` }));

export const someBulk: fc.Arbitrary<BulkControl> = fc.record({
  id: fc.constantFrom('ctl_b', 'ctl_c'),
  action: someAction,
  scope: fc.oneof(fc.constant({ all: true }), fc.record({ orgId: text, runId: text })),
  reason: text,
  actor: someActor,
  orgId: orNull(text),
  teamId: orNull(text),
  requestedAt: epoch,
  matched: fc.nat(),
  changed: fc.nat(),
  skipped: fc.nat(),
  done: fc.boolean(),
  idempotency: orNull(fc.record({ key: hexHash, digest: hexHash })),
});

const someVerdict = fc.record({
  verdict: fc.constantFrom('approve', 'reject'),
  actor: someActor,
  people: fc.array(text, { minLength: 1, maxLength: 2 }),
  isSelfApproved: fc.boolean(),
  reason: text,
  at: epoch,
  grant: orNull(
    fc.oneof(
      fc.constant({ reach: 'run' } as const),
      epoch.map((until) => ({ reach: 'until', until }) as const),
    ),
  ),
});

export const someApproval: fc.Arbitrary<Approval> = fc.record({
  id: fc.constantFrom('apr_1', 'apr_2', 'apr_3'),
  state: fc.constantFrom(...approvalStates),
  agent: someAgentId,
  opId: someOpId,
  actionType: fc.constantFrom(...actionTypes),
  resource: text,
  coverDigest: hexHash,
  covers: text,
  summary: text,
  runId: text,
  user: orNull(fc.record({ issuer: text, sub: text, email: text })),
  action: text.map((tool) => canonicalJson({ tool })),
  digest: hexHash,
  policyRule: text,
  rules: fc.array(text, { maxLength: 3 }),
  isGrantable: fc.boolean(),
  allowsSelf: fc.boolean(),
  policyVersion: text,
  reason: text,
  cause: fc.constantFrom('rule', 'budget'),
  approver: fc.constantFrom(...widths),
  costMicros: micros,
  requestedAt: epoch,
  expiresAt: epoch,
  required: fc.integer({ min: 1, max: 5 }),
  verdicts: fc.array(someVerdict, { maxLength: 2 }),
  decidedAt: orNull(epoch),
  grantId: orNull(fc.constant('grt_1')),
  signalSequence: orNull(fc.integer({ min: 1, max: 9 })),
  notices: fc.subarray(['requested', 'decided'] as const),
});

export const someGrant: fc.Arbitrary<StandingGrant> = fc.record({
  id: fc.constantFrom('grt_1', 'grt_2'),
  approvalId: fc.constantFrom('apr_1', 'apr_2'),
  agent: someAgentId,
  policyRule: text,
  rules: fc.array(text, { maxLength: 3 }),
  approvers: fc.integer({ min: 1, max: 5 }),
  isSelfApproved: fc.boolean(),
  actionType: fc.constantFrom(...actionTypes),
  resource: text,
  coverDigest: hexHash,
  covers: text,
  reach: fc.constantFrom('run', 'until'),
  runId: orNull(text),
  grantedAt: epoch,
  grantedBy: someActor,
  reason: text,
  expiresAt: epoch,
  uses: fc.nat(),
  lastUsedAt: orNull(epoch),
  revokedAt: orNull(epoch),
});

const seal = sealer((of) => hash('sha256', of, 'hex'));

/** An arbitrary draft, with the members that a test sets. */
export function sampleDraft(members: Partial<EntryDraft> = {}): EntryDraft {
  return draftOf({
    at: 1_700_000_000_000,
    eventType: 'ActionAllowed',
    actor: system,
    payload: canonicalJson({}),
    ...members,
  });
}

/** Seals the drafts one after the other onto `head`. */
export function sealAll(drafts: readonly EntryDraft[], head: ChainHead): SealedEntry[] {
  const entries: SealedEntry[] = [];
  let last = head;
  for (const draft of drafts) {
    const entry = seal(draft, last);
    entries.push(entry);
    last = entry;
  }
  return entries;
}
