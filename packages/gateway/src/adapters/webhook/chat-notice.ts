import { userText } from '@reeve/contract/names';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { visibleText } from '@reeve/contract/visible-text';

type ApprovalJson = RouteOutput<Routes['getApproval']>;

/** Where the buttons of a message lead. */
export interface NoticeLinks {
  /** The page of the dashboard, where the sign-in says who decides. */
  readonly review: string;
  /** Links that decide in the name of one person, if that is permitted. */
  readonly approve?: string;
  readonly reject?: string;
}

/** What a chat message says, before it has a form. */
export interface ChatNotice {
  readonly title: string;
  /** One line for lists and notifications. */
  readonly line: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly buttons: readonly { readonly title: string; readonly url: string; readonly kind: 'plain' | 'yes' | 'no' }[];
}

const titles = {
  open: 'Approval requested',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Approval expired',
  cancelled: 'Approval cancelled',
} as const;
const longest = 300;

/**
 * Says what will happen by the title alone: a chat is read by more people, and kept for longer, than the gateway. Whoever
 * decides sees the whole action on the page that a button leads to.
 */
export function chatNotice(approval: ApprovalJson, links: NoticeLinks): ChatNotice {
  const { state, agent, title: what, verdicts } = approval;
  const who = [agent.org_id, agent.team_id, agent.agent_id].map((part) => (part === '' ? '-' : part)).join('/');
  const title = titles[state];
  const isOpen = state === 'open';
  const facts = {
    Agent: who,
    For: userText(approval.user),
    Action: what,
    Summary: approval.summary,
    Why: approval.reason,
    Rule: approval.policy_rule,
    Cost: approval.cost_micros === 0 ? '' : `${approval.cost_usd} USD`,
    Run: approval.run_id,
    Approvals: isOpen && approval.required > 1 ? `${verdicts.length} of ${approval.required}` : '',
    Approvers: isOpen ? approval.approvers.words : '',
    // In whose name the buttons would decide.
    'No buttons': isOpen && approval.refusal != null ? approval.refusal.detail : '',
    By: verdicts.map(byText).join(' and '),
    Until: isOpen ? approval.expires_at : '',
  };
  return {
    title,
    line: clip(`${title}: ${what} by ${who}`),
    facts: Object.entries(facts).flatMap(([name, value]) => (value === '' ? [] : [[name, clip(value)] as const])),
    buttons: [
      ...(isOpen && links.approve !== undefined
        ? [{ title: 'Approve…', url: links.approve, kind: 'yes' as const }]
        : []),
      ...(isOpen && links.reject !== undefined ? [{ title: 'Reject…', url: links.reject, kind: 'no' as const }] : []),
      { title: isOpen ? 'Review in Reeve' : 'Open in Reeve', url: links.review, kind: 'plain' as const },
    ],
  };
}

function byText({ actor, self_approved: isOwn }: ApprovalJson['verdicts'][number]): string {
  return `${actor.label === '' ? actor.id : actor.label}${isOwn ? ' (self-approved: the agent is their own)' : ''}`;
}

/** A text on one line that cannot pose as another: what hides in it, or reverses its direction, is written out. */
function clip(text: string): string {
  const line = visibleText(text.replaceAll(/[\t\r\n]+/g, ' ').trim());
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
