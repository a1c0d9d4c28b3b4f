import type { Width } from '../access/index.ts';
import type { CanonicalJson, Actor } from '../audit/index.ts';
import type { ActionType } from '../action/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';

/** What an approver wants to grant beyond the one action: the same for the rest of the run, or until a time. */
export type GrantWish = { readonly reach: 'run' } | { readonly reach: 'until'; readonly until: EpochMs };

export const approvalStates = ['open', 'approved', 'rejected', 'expired', 'cancelled'] as const;

/** `cancelled`: its operation ended before a verdict. */
export type ApprovalState = (typeof approvalStates)[number];

/** What is told to whoever is notified of approvals. */
export type ApprovalNotice = 'requested' | 'decided';

export interface ApprovalVerdict {
  readonly verdict: 'approve' | 'reject';
  readonly actor: Actor;
  /** Everybody who may have given it: what later becomes of keys and accounts changes nothing. */
  readonly people: readonly string[];
  readonly reason: string;
  readonly at: EpochMs;
  /** The standing grant that was asked for along with it. */
  readonly grant: GrantWish | null;
}

/** A question to people: may this operation run? It never changes: each step puts another one in its place. */
export interface Approval {
  readonly id: string;
  readonly state: ApprovalState;
  readonly agent: AgentId;
  readonly opId: string;
  readonly actionType: ActionType;
  readonly resource: string;
  /** SHA-256 of what a grant would cover, before secrets were replaced; empty where an older version has asked. */
  readonly coverDigest: string;
  /** The same in words, with secrets replaced. */
  readonly covers: string;
  readonly summary: string;
  readonly runId: string;
  /** The action as it was asked for, with secrets replaced. */
  readonly action: CanonicalJson;
  /** The digest of the exact request that a verdict is about. */
  readonly digest: string;
  /** The first rule that asks, or the budget. */
  readonly policyRule: string;
  /** All rules that ask, the first of them first; none where only a budget does. */
  readonly rules: readonly string[];
  /** A standing grant may be given along with it. */
  readonly isGrantable: boolean;
  readonly policyVersion: string;
  /** Why somebody is asked. */
  readonly reason: string;
  /** Who asks: a rule, or a budget that the charge would pass. */
  readonly cause: 'rule' | 'budget';
  /** How wide a credential must be to approve it: what a wider one has capped, a narrower one does not let pass. */
  readonly approver: Width;
  readonly costMicros: number;
  readonly requestedAt: EpochMs;
  readonly expiresAt: EpochMs;
  /** How many different people must approve. */
  readonly required: number;
  readonly verdicts: readonly ApprovalVerdict[];
  readonly decidedAt: EpochMs | null;
  readonly grantId: string | null;
  /** The number of the message that tells the agent what became of it, until that is acknowledged. */
  readonly signalSequence: number | null;
  /** What is still to be told to whoever is notified. */
  readonly notices: readonly ApprovalNotice[];
}

/** It has something left to do: it waits for a verdict, or somebody is still to be told. A restart brings it back. */
export function isLive({ state, signalSequence, notices }: Approval): boolean {
  return state === 'open' || signalSequence !== null || notices.length > 0;
}

/** A name for whoever acts, that people know. */
export function nameOf({ label, id }: Actor): string {
  return label === '' ? id : label;
}
