import { hash } from 'node:crypto';
import { join } from 'node:path';
import { lineageOfId } from '../../packages/core/src/audit/entry.ts';
import type { CanonicalJson } from '../../packages/core/src/audit/canonical-json.ts';
import type { EntryDraft } from '../../packages/core/src/audit/entry.ts';
import type { Approval, Change, SavedOp, SealedEntry, Store } from '@reeve/core';
import { sealer } from '@reeve/core';
import { openPostgres } from '../../packages/gateway/src/adapters/postgres/open-postgres.ts';
import { SqliteStore } from '../../packages/gateway/src/adapters/sql/sqlite-store.ts';
import { parsePostgresUrl } from '../../packages/gateway/src/config/postgres-url.ts';
import { databaseOf } from './databases.ts';
import type { Registered } from './gateway.ts';

const sha256 = (text: string) => hash('sha256', text, 'hex');

/** The data of an earlier version with hardly any bounds. */
export interface Legacy {
  readonly agent: Registered;
  /** The number of operations, each with its entry and its row, and of approvals. */
  readonly ops: number;
  readonly approvals: number;
  /** The length of their tool names. */
  readonly length: number;
}

/** Writes into the store of a stopped gateway, in the form of the earlier version. */
export async function writeLegacy(folder: string, legacy: Legacy): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const store = await openStore(folder, opened);
  const seal = sealer(sha256);
  let { head } = await store.load();
  for (let at = 0; at < legacy.ops; at++) {
    const entry: SealedEntry = seal(entryOf(legacy, at), head);
    head = { seq: entry.seq, hash: entry.hash };
    const changes: Change[] = [{ kind: 'op_saved', op: { ...opOf(legacy, at), seq: entry.seq } }];
    if (at < legacy.approvals) changes.push({ kind: 'approval_saved', approval: approvalOf(legacy, at) });
    await store.commit({ entries: [entry], changes });
  }
}

async function openStore(folder: string, opened: AsyncDisposableStack): Promise<Store> {
  const url = databaseOf(folder);
  if (url !== undefined) {
    const nothing = () => undefined;
    const events = { onCommitted: nothing, onRegained: nothing, onFatal: nothing };
    const settings = { sync: 'process', version: 'legacy', isShared: false, lostAfterMs: 10_000 } as const;
    return (await openPostgres({ url: parsePostgresUrl(url), ...settings, ...events }, opened)).store;
  }
  const store = new SqliteStore({ path: join(folder, 'reeve.db'), sync: 'process' });
  opened.defer(() => store.close());
  return store;
}

const toolOf = ({ length }: Legacy, at: number) => `tool-${at}-`.padEnd(length, 'x');

function entryOf(legacy: Legacy, at: number): EntryDraft {
  const { id } = legacy.agent;
  const tool = toolOf(legacy, at);
  return {
    at: Date.now(),
    eventType: at < legacy.approvals ? 'ActionPending' : 'ActionAllowed',
    lineage: lineageOfId(id),
    actor: { id: `${id.orgId}/${id.teamId}/${id.agentId}`, kind: 'agent', label: '' },
    opId: `old:${at}`,
    traceId: 'old',
    spanId: String(at),
    decision: at < legacy.approvals ? 'pending' : 'allow',
    reason: `no rule denies tool_call of "${tool}"`,
    policyRule: 'default',
    policyVersion: 'v',
    payload: JSON.stringify({
      action: { tool, type: 'tool_call' },
      cost_micros: 0,
      digest: sha256(tool),
      op_state: at < legacy.approvals ? 'pending' : 'running',
      resource: tool,
    }) as CanonicalJson,
  };
}

function opOf(legacy: Legacy, at: number): Omit<SavedOp, 'seq'> {
  const tool = toolOf(legacy, at);
  return {
    opId: `old:${at}`,
    agent: legacy.agent.id,
    state: at < legacy.approvals ? 'pending' : 'running',
    registeredAt: Date.now(),
    updatedAt: Date.now(),
    actionType: 'tool_call',
    resource: tool,
    summary: '',
    runId: '',
    delegators: [],
    via: null,
    reason: `no rule denies tool_call of "${tool}"`,
    costMicros: 0,
    reservedMicros: 0,
    usage: null,
    policyRule: 'default',
    digest: sha256(tool),
    owedLabels: [],
    rewrite: null,
    controlId: null,
    floor: false,
    resultDuty: null,
  };
}

function approvalOf(legacy: Legacy, at: number): Approval {
  const tool = toolOf(legacy, at);
  const asWritten = {
    id: `apr_${String(at).padStart(24, '0')}`,
    state: 'open',
    agent: legacy.agent.id,
    opId: `old:${at}`,
    actionType: 'tool_call',
    resource: tool,
    resourceDigest: sha256(tool),
    summary: '',
    runId: '',
    action: JSON.stringify({ tool, type: 'tool_call' }) as CanonicalJson,
    digest: sha256(tool),
    policyRule: 'default',
    policyVersion: 'v',
    reason: 'ask',
    cause: 'rule',
    costMicros: 0,
    requestedAt: Date.now(),
    expiresAt: Date.now() + 86_400_000,
    required: 1,
    verdicts: [],
    decidedAt: null,
    grantId: null,
    signalSequence: null,
    notices: [],
  };
  // The earlier version had fewer members.
  return asWritten as unknown as Approval;
}
