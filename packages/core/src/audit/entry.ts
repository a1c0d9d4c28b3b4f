import type { CanonicalJson, Json } from './canonical-json.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import type { AuditEventType } from './event-types.ts';

export type Decision = 'allow' | 'deny' | 'pending';

/** Who did it. The members are in sorted order, as canonical JSON requires. */
export interface Actor {
  readonly id: string;
  readonly kind: 'agent' | 'api_key' | 'account' | 'system' | 'unauthenticated';
  readonly label: string;
}

/** What an entry says, before it has a place in the chain. */
export interface EntryDraft {
  readonly at: EpochMs;
  readonly eventType: AuditEventType;
  readonly lineage: Lineage;
  readonly actor: Actor;
  readonly opId: string | null;
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly decision: Decision | null;
  readonly reason: string | null;
  readonly policyRule: string | null;
  readonly policyVersion: string | null;
  readonly payload: CanonicalJson;
  /** The org that an impersonation claimed. Its admins may see the entry, too. The text does not contain it. */
  readonly claimedOrgId?: string;
  /** For whom it was done, if that was proven: the entry is found by the subject or the email. The payload has it, too. */
  readonly user?: { readonly issuer: string; readonly sub: string; readonly email: string } | undefined;
  /** The run of the operation that it decides, by its key: the operations of a run are found by it. An answer that is given again has none. */
  readonly run?: string | undefined;
}

/** An entry in the chain: its place, its hash, and the hashed text. */
export interface SealedEntry {
  readonly seq: number;
  readonly draft: EntryDraft;
  readonly hash: string;
  /** RFC 8785 canonical JSON of the entry without `hash`. */
  readonly canonical: string;
}

export const system: Actor = { id: 'reeve', kind: 'system', label: 'Reeve' };

type Required = 'at' | 'eventType' | 'actor' | 'payload';

/** Completes a draft: missing members are null, and the lineage is empty. */
export function draftOf(members: Pick<EntryDraft, Required> & Partial<EntryDraft>): EntryDraft {
  return {
    lineage: noLineage,
    opId: null,
    traceId: null,
    spanId: null,
    decision: null,
    reason: null,
    policyRule: null,
    policyVersion: null,
    ...members,
  };
}

/** An agent and its ancestors, as in every audit entry about the agent. */
export interface Lineage {
  readonly agent_id: string;
  readonly depth: number;
  readonly org_id: string | null;
  readonly parent_agent_id: string | null;
  readonly root_agent_id: string;
  readonly team_id: string;
}

/** The lineage of an agent that is no longer registered. */
export function lineageOfId({ orgId, teamId, agentId }: AgentId): Lineage {
  return {
    agent_id: agentId,
    depth: 0,
    org_id: orgId === '' ? null : orgId,
    parent_agent_id: null,
    root_agent_id: agentId,
    team_id: teamId,
  };
}

/** The lineage of an entry that concerns no agent. */
export const noLineage: Lineage = {
  agent_id: '',
  depth: 0,
  org_id: null,
  parent_agent_id: null,
  root_agent_id: '',
  team_id: '',
};

/** The lineage of an entry about a credential: the tenant that the credential is bound to. */
export function lineageOfBinding(bound: { readonly orgId: string | null; readonly teamId: string | null }): Lineage {
  return { ...noLineage, org_id: bound.orgId, team_id: bound.teamId ?? '' };
}

/** Something that an operator should look at. */
export interface AlertEvent {
  readonly type: 'audit_alert';
  readonly at: EpochMs;
  /** Null if the alert concerns the whole gateway. */
  readonly agent: AgentId | null;
  readonly alert: Alert;
  readonly details: { readonly [member: string]: Json };
  /** The day that budgets went back to. Only alerts about that have it. */
  readonly movedBackTo?: string;
  /** Digests of the changed tools that it tells of. No gateway that knows them records these changes again for a while. */
  readonly reported?: readonly string[];
}

export type Alert =
  | 'control_unconfirmed'
  | 'control_failed'
  | 'op_stale'
  | 'op_back'
  | 'reservation_released'
  | 'budget_overrun'
  | 'clock_set_back'
  | 'tool_definition_changed'
  | 'impersonation'
  | 'forward_gap';
