import type { CanonicalJson } from './canonical-json.ts';
import type { Lineage } from './lineage.ts';
import { noLineage } from './lineage.ts';
import type { EpochMs } from '../kernel/clock.ts';

/** Every type of event. The contract has the same list, for clients. */
export const auditEventTypes = [
  'ActionAllowed',
  'ActionDenied',
  'ActionPending',
  'A2AImpersonationAttempted',
  'AgentRegistered',
  'AgentDeregistered',
  'AgentSuspended',
  'AgentResumed',
  'OpStateChanged',
  'OpControlRequested',
  'OpPauseWidened',
  'OpControlAcknowledged',
  'OpControlUnconfirmed',
  'BudgetLimitApproached',
  'BudgetLimitExceeded',
  'BudgetReservationReleased',
  'BudgetOverrun',
  'BudgetCorrected',
  'BudgetDayMovedBack',
  'ApprovalRequested',
  'ApprovalVerdictGiven',
  'ApprovalGranted',
  'ApprovalRejected',
  'ApprovalExpired',
  'ApprovalCancelled',
  'GrantRevoked',
  'PolicyReloaded',
  'PolicyReloadFailed',
  'ApiKeyCreated',
  'ApiKeyRevoked',
  'TokenIssued',
  'LoginSucceeded',
  'LoginFailed',
  'AccountLocked',
  'AccountRegistered',
  'AccountChanged',
  'InviteCreated',
  'InviteAccepted',
  'InviteRevoked',
  'PasswordResetRequested',
  'PasswordReset',
  'PasswordChanged',
  'RefreshTokenReused',
  'SessionEnded',
  'SigningKeyRotated',
  'AuditLogCut',
  'AuditEntriesLost',
] as const;

export type AuditEventType = (typeof auditEventTypes)[number];

export type Decision = 'allow' | 'deny' | 'pending';

/** Who did it. Members in sorted order, as canonical JSON wants them. */
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
  /** The org that an impersonation claimed: its admins may see the entry, too. Not part of the text. */
  readonly claimedOrgId?: string;
}

/** An entry in the chain: its place, its hash, and the text that the hash is over. */
export interface SealedEntry {
  readonly seq: number;
  readonly draft: EntryDraft;
  readonly hash: string;
  /** RFC 8785 canonical JSON of the entry without `hash`. */
  readonly canonical: string;
}

export const system: Actor = { id: 'reeve', kind: 'system', label: 'Reeve' };

type Required = 'at' | 'eventType' | 'actor' | 'payload';

/** An entry that is not about a decision: what is not given is null. */
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
