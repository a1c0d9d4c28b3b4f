import { actionTypes } from '../action/index.ts';
import type { StoredEntry, Decision } from '../audit/index.ts';
import type { LoggedCall, RecordedCall } from './recorded-call.ts';
import { recordedCall } from './recorded-call.ts';

/** A decision as the log has it: the call and the answer. */
export interface RecordedDecision extends RecordedCall {
  readonly seq: number;
  readonly opId: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly resource: string;
  /** The agent estimated the cost itself. */
  readonly estimated: boolean;
  /** A standing grant allowed the action. */
  readonly granted: boolean;
  /** A rate refused the check. */
  readonly byRate: boolean;
  /** The agent acted on behalf of others, which policy was asked about, too. */
  readonly delegated: boolean;
  /** Rules on results could match what the call brings back. */
  readonly judgeResult: boolean;
}

interface LoggedEntry {
  readonly at: string;
  readonly event_type: string;
  readonly lineage: {
    readonly org_id: string | null;
    readonly team_id: string;
    readonly agent_id: string;
    readonly depth: number;
  };
  readonly op_id: string | null;
  readonly decision: Decision | null;
  readonly reason: string | null;
  readonly policy_rule: string | null;
  readonly policy_version: string | null;
  readonly payload: Partial<LoggedCall> & {
    readonly delegators?: readonly string[];
    readonly estimated?: boolean;
    readonly grant_id?: string;
    readonly judge_result?: true;
    readonly rate?: object;
    readonly replay?: boolean;
    readonly resource?: string;
  };
}

const decisionEvents = new Set(['ActionAllowed', 'ActionDenied', 'ActionPending', 'BudgetLimitExceeded']);

/** The decision that an entry records. Undefined if it is about something else, or about a repeated check. */
export function recordedDecision({ seq, canonical }: StoredEntry): RecordedDecision | undefined {
  if (!holdsDecision(canonical)) return undefined;
  const entry = JSON.parse(canonical) as LoggedEntry;
  const { lineage, payload } = entry;
  const { action } = payload;
  if (entry.decision === null || entry.op_id === null || action === undefined || payload.replay === true) {
    return undefined;
  }
  if (!decisionEvents.has(entry.event_type) || !actionTypes.includes(action.type)) return undefined;
  const agent = { orgId: lineage.org_id ?? '', teamId: lineage.team_id, agentId: lineage.agent_id };
  return {
    ...recordedCall({ ...payload, action }, { at: Date.parse(entry.at), agent, depth: lineage.depth }),
    seq,
    opId: entry.op_id,
    decision: entry.decision,
    reason: entry.reason ?? '',
    policyRule: entry.policy_rule ?? '',
    policyVersion: entry.policy_version ?? '',
    resource: payload.resource ?? '',
    estimated: payload.estimated === true,
    granted: payload.grant_id !== undefined,
    byRate: payload.rate !== undefined,
    delegated: payload.delegators !== undefined,
    judgeResult: payload.judge_result === true,
  };
}

const decisionMember = ',"decision":';

/**
 * Half of a log is about something else, so this check runs before an entry is parsed. Only the actor and the time
 * precede the first such member, and quotes in them are escaped.
 */
function holdsDecision(canonical: string): boolean {
  const at = canonical.indexOf(decisionMember);
  return at >= 0 && !canonical.startsWith('null', at + decisionMember.length);
}
