import type { Evidence } from './check.ts';
import { faultsOf } from './check.ts';
import type { Entry, Row } from './log.ts';
import { hashOf } from './log.ts';

// Logs of a few entries, to try the checker on.

export type Draft = Partial<Omit<Entry, 'seq' | 'prev_hash'>>;

const lineage = { org_id: 'acme', team_id: 'red', agent_id: 'a' };
const caps = { global: 100, org: 100, team: 100, agent: 100 };

/** Seals entries into a chain, as a gateway does. */
export function sealed(drafts: readonly Draft[]): Row[] {
  let prev_hash = '0'.repeat(64);
  return drafts.map((draft, nth) => {
    const none = {
      op_id: null,
      trace_id: null,
      span_id: null,
      decision: null,
      reason: null,
      policy_rule: null,
      policy_version: null,
    };
    const entry = { event_type: 'Other', lineage, ...none, payload: {}, ...draft, seq: nth + 1, prev_hash };
    prev_hash = hashOf(entry);
    return { seq: entry.seq, hash: prev_hash, canonical: JSON.stringify(entry) };
  });
}

/** The one decision about an operation. */
export function decided(op: string, decision: string, cost = 0, more: Draft = {}): Draft {
  const op_state = { allow: 'running', deny: 'terminated' }[decision] ?? 'pending';
  const [trace_id = '', span_id = ''] = op.split(':');
  const payload = { op_state, cost_micros: cost, ...more.payload };
  return {
    event_type: 'Action',
    op_id: op,
    trace_id,
    span_id,
    decision,
    reason: `it is ${decision}`,
    ...more,
    payload,
  };
}

/** A transition of an operation. */
export function moved(op: string, from: string, trigger: string, to: string, payload: Entry['payload'] = {}): Draft {
  return { event_type: 'OpStateChanged', op_id: op, payload: { from, trigger, to, ...payload } };
}

export function completed(op: string, reserved: number, cost: number): Draft {
  return moved(op, 'running', 'complete', 'completing', { cost_micros: cost, reserved_micros: reserved });
}

export const replayed = (op: string, decision: string, op_state: string) =>
  decided(op, decision, 0, { payload: { op_state, replay: true } });
export const suspended: Draft = { event_type: 'AgentSuspended' };
export const reloaded = (change: string, version: number, policy_version: string): Draft => ({
  event_type: 'PolicyReloaded',
  policy_version,
  payload: { name: 'gate', change, version },
});
/** Decided by these policies, about the gate. */
export const gated = (op: string, decision: string, policy_version: string, policy_rule: string) =>
  decided(op, decision, 0, { policy_version, policy_rule, payload: { action: { tool: 'gate' } } });
export const asksApproval: Draft = { event_type: 'ApprovalRequested', payload: { approval_id: 'apr' } };
export const granted: Draft = { event_type: 'ApprovalGranted', payload: { approval_id: 'apr' } };

const nothingTold = { checks: [], completed: [], refused: [], controls: [], verdicts: [], registered: [], reads: [] };

/** A gateway where nothing ever happened. */
export const calm = {
  name: 'one',
  ops: [],
  agents: [],
  approvals: [],
  budgets: [],
  members: [{ id: 'g1', state: 'active', self: true }],
  verified: { consistent: true },
};

/** What the checker finds in a log, beside evidence that is calm unless it is given. */
export function faults(drafts: readonly Draft[], evidence: Partial<Evidence> = {}): string[] {
  const rows = evidence.rows ?? sealed(drafts);
  const { seq = 0, hash = '0'.repeat(64) } = rows.at(-1) ?? {};
  return faultsOf({ rows, head: { seq, hash }, caps, told: nothingTold, followers: [], gateways: [calm], ...evidence });
}

/** A check, and the decisions that its client was told. */
export function asked(op: string, attempts: number, ...words: string[]) {
  const [traceId = '', spanId = ''] = op.split(':');
  const answers = words.map((decision) => ({ decision, reason: `it is ${decision}`, opId: op, approvalId: '' }));
  return { agent: 'acme/red/a', traceId, spanId, attempts, answers };
}

/** What clients wrote down. */
export function told(what: Partial<Evidence['told']>): Partial<Evidence> {
  return { told: { ...nothingTold, ...what } };
}
