import { agentText } from '../command-line/agent-path.ts';
import type { Colour } from '../output/colour.ts';
import type { Column } from '../output/table.ts';
import { timeLeft } from '../output/duration.ts';
import type { Approval } from './approval-filters.ts';

export const approvalColours: Readonly<Record<string, Colour>> = {
  open: 'yellow',
  approved: 'green',
  rejected: 'red',
  expired: 'dim',
  cancelled: 'dim',
};

export const approvalColumns: readonly Column<Approval>[] = [
  { title: 'APPROVAL', value: ({ id }) => id },
  { title: 'STATE', value: ({ state }) => state, colour: ({ state }) => approvalColours[state], importance: 'major' },
  { title: 'AGENT', value: ({ agent }) => agentText(agent) },
  { title: 'WHAT', value: ({ title }) => title, isFlexible: true, importance: 'major' },
  { title: 'SUMMARY', value: ({ summary }) => summary, isFlexible: true },
  { title: 'RULE', value: ({ policy_rule: rule }) => rule, isFlexible: true },
  { title: 'COST USD', value: ({ cost_usd: cost }) => cost, isRight: true },
  { title: 'APPROVED', value: approvedText, isRight: true },
  { title: 'ENDS', value: endsText, importance: 'major' },
  { title: 'BY', value: decidersText, isFlexible: true, importance: 'minor' },
];

/** How many of the required people have approved. */
export function approvedText({ verdicts, required }: Approval): string {
  return `${verdicts.filter(({ verdict }) => verdict === 'approve').length} of ${required}`;
}

function endsText({ state, expires_at: expires, decided_at: decided }: Approval): string | null {
  return state === 'open' ? timeLeft(expires) : decided;
}

function decidersText({ verdicts }: Approval): string {
  return verdicts.map((given) => `${given.verdict}: ${giverText(given)}`).join(', ');
}

/** Who gave a verdict, and whether about an agent of their own. */
export function giverText({ actor, self_approved: isOwn }: Approval['verdicts'][number]): string {
  return `${actorText(actor)}${isOwn ? ', self-approved' : ''}`;
}

export function actorText({ kind, id, label }: { kind: string; id: string; label: string }): string {
  return label === '' ? `${kind} ${id}` : `${label} (${kind} ${id})`;
}
