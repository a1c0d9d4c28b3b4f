import type { Answer } from '../../api/send.ts';

export type Policy = Answer<'listPolicies'>['items'][number];
export type PolicyText = Answer<'getPolicy'>;
export type PolicyVersion = Answer<'policyVersions'>['items'][number];

export interface ScopeGroup {
  readonly scope: string;
  readonly policies: readonly Policy[];
}

/** Documents by scope, widest first: everybody's, then orgs, teams and agents by name. */
export function byScope(policies: readonly Policy[]): readonly ScopeGroup[] {
  const groups = Map.groupBy(policies, ({ scope }) => scope);
  return [...groups]
    .map(([scope, items]) => ({ scope, policies: items.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }))
    .sort((one, other) => rankOf(one.scope) - rankOf(other.scope) || (one.scope < other.scope ? -1 : 1));
}

const tiers = ['global', 'org', 'team', 'agent'];

function rankOf(scope: string): number {
  return tiers.indexOf(scope.split(':')[0] ?? '');
}

/** `Everybody`, `Org acme`, `Team acme/core`. */
export function scopeTitle(scope: string): string {
  if (scope === 'global') return 'Everybody';
  const [tier = '', ...rest] = scope.split(':');
  return `${tier.charAt(0).toUpperCase()}${tier.slice(1)} ${rest.join(':')}`;
}

const widths = ['team', 'org', 'unbound'];

/** Whether a credential of this binding may change a document. It may not if a wider one has written it. */
export function isChangeable(
  { width }: Pick<Policy, 'width'>,
  of: { orgId: string | null; teamId: string | null },
): boolean {
  const own = of.orgId === null ? 'unbound' : of.teamId === null ? 'org' : 'team';
  return width !== null && widths.indexOf(own) >= widths.indexOf(width);
}

/** The template of a new document. It shows the possible members, and allows nothing. */
export const newDocument = `# What this document is for, for whoever reads it next.
name: my-policy
# global, org:<id>, team:<org>/<team> or agent:<org>/<team>/<agent>
scope: org:acme
# observe records what the rules would have done, and decides nothing; enforce is the default.
mode: observe
rules:
  - name: ask-before-paying
    effect: require_approval
    tools: ['payments.*']
    when: args.amount_usd > 50
  - name: reading
    effect: allow
    tools: ['docs.*', 'search']
`;
