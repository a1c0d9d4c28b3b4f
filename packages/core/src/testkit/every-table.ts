import { apiKeysTable, signingKeysTable } from '../access/access-rows.ts';
import { outboxTable } from '../accounts/accounts-rows.ts';
import { approvalsTable, grantsTable } from '../approvals/approvals-rows.ts';
import { balancesTable, closedPeriodsTable } from '../budget/budget-rows.ts';
import { ratesTable } from '../budget/rates/rates-rows.ts';
import { forgottenRunsTable, labelsTable, runsTable } from '../runs/runs-rows.ts';
import {
  bulksTable,
  departuresTable,
  receiptsTable,
  runControlsTable,
  sequencesTable,
} from '../control/control-rows.ts';
import type { Table } from '../journal/rows.ts';
import { marksTable } from '../journal/rows.ts';
import { entriesTable } from '../logs/logs.ts';
import { opsTable } from '../ops/ops-rows.ts';
import { policySetsTable, policyTextsTable, policyVersionsTable } from '../policy/policy-rows.ts';
import type { Change } from '../store.ts';
import { suspensionsTable } from '../tenancy/suspensions-rows.ts';
import { agentsTable, agentUsesTable, delegationsTable } from '../tenancy/tenancy-rows.ts';
import { sampleAgent, sampleDelegation, sampleUse } from './store-agent-conformance.ts';
import { sampleApproval, sampleGrant } from './store-approval-conformance.ts';
import {
  sampleBulk,
  sampleDeparture,
  sampleReceipt,
  sampleRunControl,
  sampleSuspension,
} from './store-control-conformance.ts';
import { sampleVersion } from './store-policy-conformance.ts';

/** Every table that changes are written to. */
export const everyTable: readonly Table[] = [
  agentsTable,
  agentUsesTable,
  apiKeysTable,
  approvalsTable,
  balancesTable,
  ratesTable,
  runsTable,
  labelsTable,
  forgottenRunsTable,
  bulksTable,
  closedPeriodsTable,
  delegationsTable,
  departuresTable,
  entriesTable,
  grantsTable,
  marksTable,
  opsTable,
  outboxTable,
  policySetsTable,
  policyTextsTable,
  policyVersionsTable,
  receiptsTable,
  runControlsTable,
  sequencesTable,
  signingKeysTable,
  suspensionsTable,
];

const { id } = sampleAgent;
const of = { tier: 'global', orgId: '', teamId: '', agentId: '' } as const;
const day = '2026-11-15';
const month = '2026-11';

const opMembers = {
  opId: 't:s',
  agent: id,
  registeredAt: 1,
  updatedAt: 1,
  actionType: null,
  resource: '',
  summary: '',
  runId: '',
  delegators: [],
  via: null,
  reason: '',
  costMicros: 0,
  reservedMicros: 0,
  usage: null,
  policyRule: '',
  digest: '',
  rewrite: null,
  floor: false,
  resultDuty: null,
  owedLabels: [],
} as const;

/** One change of each kind. A missing kind does not compile. */
const changes: { readonly [Kind in Change['kind']]: Extract<Change, { readonly kind: Kind }> } = {
  agent_saved: { kind: 'agent_saved', agent: sampleAgent },
  agent_controlled: { kind: 'agent_controlled', id, tokenHash: 'f'.repeat(64) },
  agent_suspended: { kind: 'agent_suspended', agent: sampleAgent, suspension: sampleAgent.suspension },
  agent_resumed: { kind: 'agent_resumed', id, width: 'org' },
  agent_removed: { kind: 'agent_removed', id, isKept: false },
  agent_used: { kind: 'agent_used', use: sampleUse },
  agent_uses_removed: { kind: 'agent_uses_removed', id },
  delegation_saved: { kind: 'delegation_saved', delegation: sampleDelegation },
  delegation_used: { kind: 'delegation_used', delegation: sampleDelegation },
  delegation_ended: { kind: 'delegation_ended', delegation: sampleDelegation, reason: 'delegation was revoked' },
  delegation_removed: { kind: 'delegation_removed', id },
  backup_taken: { kind: 'backup_taken', at: 1 },
  restore_recorded: { kind: 'restore_recorded' },
  api_key_saved: {
    kind: 'api_key_saved',
    key: {
      id: 'abcdefghijkl',
      hash: 'a'.repeat(64),
      label: 'ci',
      scopes: ['read'],
      orgId: null,
      teamId: null,
      createdAt: 1,
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      madeBy: null,
      rotatedFrom: null,
    },
  },
  api_key_used: { kind: 'api_key_used', id: 'abcdefghijkl', at: 2 },
  signing_key_saved: { kind: 'signing_key_saved', key: { kid: 'k', privateJwk: '', publicJwk: '{}', createdAt: 1 } },
  signing_key_removed: { kind: 'signing_key_removed', kid: 'k' },
  rights_changed: { kind: 'rights_changed', ids: ['acc_1', 'ses_1'] },
  owed_entry_recorded: { kind: 'owed_entry_recorded', id: 'owed' },
  op_saved: { kind: 'op_saved', op: { ...opMembers, state: 'running', controlId: null, seq: 1 } },
  op_removed: { kind: 'op_removed', id, opId: 't:s' },
  op_asked: { kind: 'op_asked', op: { ...opMembers, state: 'pending', control: null, stale: false } },
  op_result_judged: { kind: 'op_result_judged', id, opId: 't:s' },
  ops_replay_from: { kind: 'ops_replay_from', seq: 1 },
  ops_forgotten: { kind: 'ops_forgotten' },
  receipt_saved: { kind: 'receipt_saved', receipt: sampleReceipt },
  bulk_control_saved: { kind: 'bulk_control_saved', bulk: sampleBulk },
  control_sequence_saved: { kind: 'control_sequence_saved', sequence: { agent: id, sequence: 1 } },
  run_control_saved: { kind: 'run_control_saved', control: sampleRunControl },
  run_control_used: { kind: 'run_control_used', control: { ...sampleRunControl, refusedAt: 2 } },
  run_control_removed: { kind: 'run_control_removed', control: sampleRunControl },
  departure_saved: { kind: 'departure_saved', departure: sampleDeparture },
  departure_removed: { kind: 'departure_removed', departure: sampleDeparture },
  suspension_saved: { kind: 'suspension_saved', suspension: sampleSuspension },
  suspension_removed: { kind: 'suspension_removed', suspension: sampleSuspension },
  receipts_removed: { kind: 'receipts_removed', before: 1, most: 1 },
  balances_saved: {
    kind: 'balances_saved',
    saved: [{ of, spent: { day: 1, month: 1 }, window: { day, month }, noticed: { day: 0, month: 0 }, seq: 1 }],
    over: [{ ...of, tier: 'org', orgId: 'acme' }],
    closed: [{ of, period: 'day', id: day, startsAt: 1, endsAt: 2, spentMicros: 1, limitMicros: null }],
    closedBefore: { day, month },
    asOf: { seq: 1, timeZone: 'UTC' },
  },
  rates_counted: { kind: 'rates_counted', agent: id, at: 1, counted: [`agent.60.${'a'.repeat(24)}`] },
  rates_saved: {
    kind: 'rates_saved',
    saved: [
      { name: `agent:acme/search/bot#agent.60.${'a'.repeat(24)}`, counts: { steps: [1, 1], told: {} }, seq: 1 },
      { name: `global#global.60.${'b'.repeat(24)}`, counts: null, seq: 1 },
    ],
    asOf: 1,
  },
  runs_saved: {
    kind: 'runs_saved',
    saved: [
      {
        place: { orgId: 'acme', teamId: 'search', runId: 'r', agentId: '' },
        startedAt: 1,
        lastAt: 2,
        checks: 1,
        denied: 0,
        spentMicros: '1',
        costMicros: '1',
        agents: [{ agentId: 'bot', checks: 1 }],
        seq: 1,
      },
    ],
    asOf: 1,
  },
  runs_forgotten: {
    kind: 'runs_forgotten',
    runs: [{ orgId: 'acme', teamId: 'search', runId: '', agentId: 'bot' }],
    at: 1,
    dropped: [{ orgId: 'acme', teamId: 'search', runId: 'r', agentId: '' }],
  },
  labels_given: {
    kind: 'labels_given',
    of: 'run',
    place: { orgId: 'acme', teamId: 'search', runId: 'r', agentId: '' },
    by: id,
    labels: [{ name: 'mail.read', since: 1, opId: 't:s', policyRule: 'p/mail' }],
  },
  labels_cleared: {
    kind: 'labels_cleared',
    of: 'agent',
    place: { orgId: 'acme', teamId: 'search', runId: '', agentId: 'bot' },
    names: ['mail.read'],
  },
  policy_saved: { kind: 'policy_saved', saved: sampleVersion },
  policy_set_saved: {
    kind: 'policy_set_saved',
    set: { version: 'v1', at: 1, sources: [{ file: 'a.yaml', text: 'rules: []', hash: 'h' }] },
  },
  approval_saved: { kind: 'approval_saved', approval: sampleApproval },
  grant_saved: { kind: 'grant_saved', grant: sampleGrant },
  approvals_removed: { kind: 'approvals_removed', before: 1, kept: 1, most: 1 },
  event_ids_reserved: { kind: 'event_ids_reserved', through: 1 },
  entries_removed: { kind: 'entries_removed', through: 1 },
};

export const everyKindOfChange: readonly Change[] = Object.values(changes);
