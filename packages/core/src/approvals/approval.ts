import type { Width } from '../access/index.ts';
import type { CanonicalJson, Actor } from '../audit/index.ts';
import type { ControlMessage } from '../control/index.ts';
import type { ActionType, UserId } from '../action/index.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { ApproverTerms } from '../policy/index.ts';

/** What an approver wants to grant beyond the one action: the same for the rest of the run, or until a time. */
export type GrantWish = { readonly reach: 'run' } | { readonly reach: 'until'; readonly until: EpochMs };

export const approvalStates = ['open', 'approved', 'rejected', 'expired', 'cancelled'] as const;

/** `cancelled`: its operation ended before a verdict. */
export type ApprovalState = (typeof approvalStates)[number];

/** What a notification is about. */
export type ApprovalNotice = 'requested' | 'decided';

export interface ApprovalVerdict {
  readonly verdict: 'approve' | 'reject';
  readonly actor: Actor;
  /** Everybody who may have given the verdict. Later changes of keys and accounts do not affect it. */
  readonly people: readonly string[];
  /** The agent is the approver's own: an unbound admin may approve that, and everybody sees it. */
  readonly isSelfApproved: boolean;
  readonly reason: string;
  readonly at: EpochMs;
  /** The standing grant that the approver asked for. */
  readonly grant: GrantWish | null;
}

/** A question to people: may this operation run? An approval is immutable: each step replaces it. */
export interface Approval {
  readonly id: string;
  readonly state: ApprovalState;
  readonly agent: AgentId;
  readonly opId: string;
  readonly actionType: ActionType;
  readonly resource: string;
  /** SHA-256 of what a grant would cover, before secrets are replaced. Empty if an older version asked. */
  readonly coverDigest: string;
  /** The same in words, with secrets replaced. */
  readonly covers: string;
  readonly summary: string;
  readonly runId: string;
  /** For whom the agent acts, if that is proven. */
  readonly user: UserId | null;
  /** The requested action, with secrets replaced. */
  readonly action: CanonicalJson;
  /** The digest of the exact request that a verdict is about. */
  readonly digest: string;
  /** The first rule that asks, or the budget. */
  readonly policyRule: string;
  /** All rules that ask, in their order. Empty if only a budget asks. */
  readonly rules: readonly string[];
  /** Approvers may add a standing grant. */
  readonly isGrantable: boolean;
  /** An unbound admin may decide about an agent of its own. */
  readonly allowsSelf: boolean;
  /** Whose verdicts count: all of these terms must be met. Absent if those of everybody do who may decide. */
  readonly by?: readonly ApproverTerms[];
  /** The verdict of the user does not count. Absent if it does. */
  readonly notUser?: true;
  readonly policyVersion: string;
  /** Why people are asked. */
  readonly reason: string;
  /** Who asks: a rule, or a budget that the charge would pass. */
  readonly cause: 'rule' | 'budget';
  /** How wide a credential must be to approve. A narrower one cannot let a charge pass a wider one's cap. */
  readonly approver: Width;
  readonly costMicros: number;
  readonly requestedAt: EpochMs;
  readonly expiresAt: EpochMs;
  /** How many different people must approve. */
  readonly required: number;
  readonly verdicts: readonly ApprovalVerdict[];
  readonly decidedAt: EpochMs | null;
  readonly grantId: string | null;
  /** The number of the unacknowledged message that tells the agent the outcome; null if there is none. */
  readonly signalSequence: number | null;
  /** The notifications still to send. */
  readonly notices: readonly ApprovalNotice[];
  /** The labels that counted in the run when policy was asked. Absent if none did. */
  readonly labels?: readonly string[];
}

/**
 * Whether the approval has something left to do: wait for a verdict, tell its agent, or notify people. A restart
 * restores it.
 */
export function isLive({ state, signalSequence, notices }: Approval): boolean {
  return state === 'open' || signalSequence !== null || notices.length > 0;
}

/** Whether one of the approvers approved what an agent of their own wants. */
export function isSelfApproved(verdicts: readonly ApprovalVerdict[]): boolean {
  return verdicts.some((verdict) => verdict.isSelfApproved);
}

/** What the agent is told of a decided approval. The approval alone says it, wherever and whenever it is told. */
export function outcomeOf({ state, verdicts }: Pick<Approval, 'state' | 'verdicts'>): string {
  if (state === 'expired') return 'approval expired';
  const said = verdicts.filter(({ verdict }) => (verdict === 'approve') === (state === 'approved'));
  const why = said.at(-1)?.reason ?? '';
  return `${state} by ${said.map(({ actor }) => nameOf(actor)).join(' and ')}${why === '' ? '' : `: ${why}`}`;
}

/** The message that tells an agent the outcome of an approval. */
export function messageOf(approval: Approval, sequence: number): ControlMessage {
  return {
    opId: approval.opId,
    signal: approval.state === 'approved' ? 'allow' : 'terminate',
    sequence,
    reason: outcomeOf(approval),
    issuedAt: approval.decidedAt ?? approval.requestedAt,
    controlId: '',
  };
}

/** The authors of all verdicts by id and label, each between line breaks, as a store searches them. */
export function decidersOf({ verdicts }: Pick<Approval, 'verdicts'>): string {
  return [...new Set(verdicts.flatMap(({ actor }) => [deciderMark(actor.id), deciderMark(actor.label)]))].join('');
}

/** What `decidersOf` contains if this is one of the authors. */
export function deciderMark(author: string): string {
  return `\n${author.toLowerCase().replaceAll('\n', ' ')}\n`;
}

/** A name of the actor that people recognise. */
export function nameOf({ label, id }: Actor): string {
  return label === '' ? id : label;
}
