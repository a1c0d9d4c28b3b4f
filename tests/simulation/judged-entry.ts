import type { AgentId, SealedEntry } from '@reeve/core';
import type { HeldScope } from './judged-holds.ts';

export type OpState = 'pending' | 'running' | 'paused' | 'completing' | 'terminated';

/** A label that a decision gives. */
export interface GivenLabel {
  readonly name: string;
  readonly of: 'run' | 'agent';
  readonly policy_rule: string;
}

/** What entries say beside their columns, as far as it is judged. */
export interface Payload extends HeldScope {
  readonly action?: { readonly type: string; readonly tool?: string };
  readonly op_state?: OpState;
  readonly cost_micros?: number;
  readonly replay?: boolean;
  readonly from?: OpState | null;
  readonly to?: OpState;
  readonly trigger?: string;
  readonly booked?: string;
  readonly released_micros?: number;
  readonly suspension_id?: string;
  readonly limit?: unknown;
  readonly rate?: unknown;
  readonly control_id?: string;
  readonly tier?: string;
  readonly tier_agent_id?: string;
  readonly period?: string;
  readonly day?: string;
  readonly percent?: number;
  readonly key_id?: string;
  readonly scopes?: readonly string[];
  readonly cause?: string;
  readonly version?: string;
  readonly expires_at?: string | null;
  readonly delegators?: readonly string[];
  readonly again?: boolean;
  readonly actions?: readonly string[];
  readonly tools?: readonly string[];
  readonly max_checks?: number | null;
  readonly max_cost_usd?: number | null;
  readonly grant_id?: string;
  readonly user?: { readonly sub: string; readonly email: string };
  readonly approval_id?: string;
  readonly approvers?: readonly string[];
  readonly required?: number;
  readonly not_user?: boolean;
  readonly run?: { readonly checks?: number; readonly labels?: readonly string[] };
  /** Of the arguments as rules have rewritten them. */
  readonly rewritten_args_sha256?: string;
  /** Of a result: its bytes, and the digest of what was passed on. */
  readonly size?: number;
  readonly digest?: string;
  readonly outcome?: string | null;
  readonly result_not_judged?: boolean;
  /** What a decision, a result or a move gives, or what was cleared. */
  readonly labels?: readonly (string | GivenLabel)[];
}

export interface JudgedEntry {
  readonly seq: number;
  readonly eventType: string;
  readonly agent: string;
  readonly actor: SealedEntry['draft']['actor'];
  readonly opId: string | null;
  readonly decision: string | null;
  readonly policyRule: string | null;
  readonly reason: string;
  readonly payload: Payload;
  readonly at: number;
}

/** An entry of the log with its payload read. */
export function readEntry({ seq, draft }: SealedEntry): JudgedEntry {
  const { eventType, lineage, actor, opId, decision, policyRule, at } = draft;
  const reason = draft.reason ?? '';
  const payload = JSON.parse(draft.payload) as Payload;
  return { seq, eventType, agent: agentIn(lineage), actor, opId, decision, policyRule, reason, payload, at };
}

/** An entry as people read it. */
export function lineOf({ seq, draft: { eventType, lineage, opId, actor, at, reason, payload } }: SealedEntry): string {
  const about = opId === null ? agentIn(lineage) : opName(agentIn(lineage), opId);
  const what = `${eventType} ${about} by ${actor.kind} ${actor.id}`;
  return `entry ${seq}: ${what}, ${new Date(at).toISOString()}, ${reason ?? 'no reason'}, ${payload}`;
}

function agentIn({ org_id: org, team_id: team, agent_id: agent }: SealedEntry['draft']['lineage']): string {
  return `${org ?? ''}/${team}/${agent}`;
}

export function agentName({ orgId, teamId, agentId }: AgentId): string {
  return `${orgId}/${teamId}/${agentId}`;
}

/** The agent of the same team with this id. */
export function siblingOf(agent: string, id: string): string {
  return `${agent.slice(0, agent.lastIndexOf('/'))}/${id}`;
}

export function opName(agent: string, opId: string): string {
  return `${agent} ${opId}`;
}

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
