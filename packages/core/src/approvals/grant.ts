import type { ActionType, Action, User } from '../action/index.ts';
import { nameOfUser, userKey } from '../action/index.ts';
import type { Approval, GrantWish } from './approval.ts';
import type { Actor } from '../audit/index.ts';
import { redactArguments, redactText } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { invalid } from '../kernel/index.ts';
import type { ApproverTerms, Asking } from '../policy/index.ts';
import { approverKey, subjectOf } from '../policy/index.ts';

/** Lets an agent repeat an approved action without asking again. */
export interface StandingGrant {
  readonly id: string;
  /** The approval that it came from. */
  readonly approvalId: string;
  readonly agent: AgentId;
  /** The first rule that asked. */
  readonly policyRule: string;
  /** All rules that asked at the time. The grant covers no other rules. */
  readonly rules: readonly string[];
  /** How many people gave the grant. It does not cover an action that needs more approvers by now. */
  readonly approvers: number;
  /** One of them gave it to an agent of their own. */
  readonly isSelfApproved: boolean;
  /** Whose verdicts counted at the time. It does not cover an action whose rules name others by now. */
  readonly by?: readonly ApproverTerms[];
  /** The user's verdict did not count at the time. Absent if it did. */
  readonly notUser?: true;
  readonly actionType: ActionType;
  readonly resource: string;
  /**
   * The grant is compared by this digest, see `coverOf`. Empty if an older version gave the grant, which then covers
   * nothing.
   */
  readonly coverDigest: string;
  /** What it covers in words, with secrets replaced. */
  readonly covers: string;
  readonly reach: 'run' | 'until';
  /** Null if the grant is not limited to a run. */
  readonly runId: string | null;
  readonly grantedAt: EpochMs;
  readonly grantedBy: Actor;
  readonly reason: string;
  readonly expiresAt: EpochMs;
  readonly uses: number;
  readonly lastUsedAt: EpochMs | null;
  readonly revokedAt: EpochMs | null;
}

export const grantStates = ['active', 'expired', 'revoked'] as const;
export type GrantState = (typeof grantStates)[number];

const longestRunMs = 86_400_000;
const longestMs = 30 * 86_400_000;

export function grantStateOf({ revokedAt, expiresAt }: StandingGrant, now: EpochMs): GrantState {
  if (revokedAt !== null) return 'revoked';
  return now >= expiresAt ? 'expired' : 'active';
}

/** Refuses a grant that this approval does not allow. */
export function checkGrant(approval: Approval, wish: GrantWish, now: EpochMs): void {
  if (approval.cause === 'budget') {
    throw invalid('grant', 'a charge that passes a cap is approved once; leave "grant" out');
  }
  if (approval.coverDigest === '') {
    throw invalid('grant', 'an older version of the gateway has asked about this; leave "grant" out');
  }
  if (!approval.isGrantable) {
    throw invalid('grant', 'a rule that asks about this allows no standing grants; leave "grant" out');
  }
  if (wish.reach === 'run' && approval.runId === '') {
    throw invalid('grant', 'the action belongs to no run; grant it until a time, or leave "grant" out');
  }
  if (wish.reach === 'until' && (wish.until <= now || wish.until > now + longestMs)) {
    throw invalid('grant', '"until" must be in the future, at most 30 days ahead');
  }
}

/** Whether a grant suffices for the rules that ask now. */
export function suffices(grant: StandingGrant, asking: Asking): boolean {
  const { rules, approvers, isSelfApproved, by = [] } = grant;
  if (isSelfApproved && !asking.self) return false;
  if (asking.notUser === true && grant.notUser !== true) return false;
  const met = new Set(by.map(approverKey));
  if (asking.by?.some((terms) => !met.has(approverKey(terms))) === true) return false;
  return asking.grants && approvers >= asking.count && asking.rules.every((rule) => rules.includes(rule));
}

/**
 * The narrowest of the grants that all approvers want. Undefined if one of them wants none. A grant for a run lasts a
 * day at most.
 */
export function narrowestGrant(
  wishes: readonly (GrantWish | null)[],
  now: EpochMs,
): { readonly reach: 'run' | 'until'; readonly expiresAt: EpochMs } | undefined {
  const wanted = wishes.filter((wish) => wish !== null);
  if (wanted.length === 0 || wanted.length < wishes.length) return undefined;
  const ends = wanted.map((wish) => (wish.reach === 'run' ? now + longestRunMs : wish.until));
  const reach = wanted.some((wish) => wish.reach === 'run') ? 'run' : 'until';
  return { reach, expiresAt: Math.min(...ends) };
}

/**
 * The text whose digest a grant is compared by: all of an action except its JSON arguments and token counts. So a grant
 * to read a file does not cover its deletion, and a command is covered with its arguments, in its folder. The text is as sent: another
 * spelling is asked about again. What was granted for one user covers no other, nor the agent by itself. So it is with those
 * on whose behalf a delegate acts, nearest first.
 */
export function coverOf(action: Action, user: User | null = null, delegators: readonly string[] = []): string {
  const cover: unknown[] = [
    action.type,
    action.tool,
    action.source,
    action.model,
    action.operation,
    action.path,
    action.host,
    action.port,
    action.protocol,
    action.command,
    action.commandArgs,
    placeOf(action),
  ];
  // Grants for commands without a folder go on covering these.
  if (action.workingDir !== '') cover.push({ workingDir: action.workingDir });
  if (user !== null) cover.push({ user: userKey(user) });
  if (delegators.length > 0) cover.push({ delegators });
  return JSON.stringify(cover);
}

/** The host that a tool reaches. The rest of its URL counts as an argument. */
function placeOf(action: Action): string {
  return action.url === '' ? '' : (subjectOf(action).host ?? action.url);
}

/** What a grant covers, in words, with secrets replaced. */
export function coverWords(action: Action, user: User | null = null): string {
  return `${wordsOf(action)}${user === null ? '' : redactText(` for ${nameOfUser(user)}`)}`;
}

function wordsOf(action: Action): string {
  switch (action.type) {
    case 'tool_call':
    case 'tool_result':
      return redactText(`${action.tool}${behind(' of ', action.source)}${behind(' at ', placeOf(action))}`);
    case 'file_operation':
      return redactText(`${action.operation} ${action.path}`.trim());
    case 'network_call':
      return redactText(`${action.protocol} ${action.host}${behind(':', action.port)}`.trim());
    case 'process_exec':
    case 'agent_spawn':
      return `${[redactText(action.command), ...redactArguments(action.commandArgs, action.command)].join(' ')}${inFolder(action)}`;
    case 'llm_call':
      return redactText(action.model);
  }
}

function inFolder({ workingDir }: Action): string {
  return workingDir === '' ? '' : ` (in ${redactText(workingDir)})`;
}

function behind(lead: string, what: string | number): string {
  return what === '' || what === 0 ? '' : `${lead}${what}`;
}
