import type { Row, Touch } from './journal/index.ts';
import { agentIdOf, textIn } from './journal/index.ts';
import { agentKey } from './kernel/index.ts';
import { bindingOfName } from './policy/index.ts';

/**
 * Who is out of service if a row cannot be read at a start. It says so by its key alone. Whatever a row may have kept
 * from happening must not happen because it is unread.
 */
export type OwnerOfRow = (row: Row) => Touch;

/** Without the row there is less that anybody may do, or nothing that decides. */
export const nobody: OwnerOfRow = () => undefined;

export const itsAgent: OwnerOfRow = (row) => ({ agent: agentKey(agentIdOf(row)) });

/** The org whose document it is, or everybody. */
export const itsNamespace: OwnerOfRow = (row) => withinOrg(bindingOfName(textIn(row, 'name'))?.orgId ?? null);

/** The org of a run, the one that the control of a run, or a suspension, reaches, or that an agent left; or everybody. */
export const itsReach: OwnerOfRow = (row) => {
  const [, orgId] = JSON.parse(textIn(row, 'place')) as readonly (string | null)[];
  return withinOrg(orgId ?? null);
};

/** The agent whose balance or counter it is, or its org, or everybody. A team's counts as its org's. */
export const itsTier: OwnerOfRow = (row) => {
  // Without the mark, more of the log is added up.
  if (textIn(row, 'name') === '') return undefined;
  const [, tier, key = '', orgId = ''] = /^(org|team|agent):(([^/]*)\/[^#]*)/.exec(textIn(row, 'name')) ?? [];
  if (tier === undefined) return 'everything';
  return tier === 'agent' ? { agent: key } : { org: orgId };
};

function withinOrg(orgId: string | null): Touch {
  return orgId === null ? 'everything' : { org: orgId };
}
