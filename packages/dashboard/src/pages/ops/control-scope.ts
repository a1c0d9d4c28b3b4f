import { idOfPart } from '@reeve/contract/names';
import type { RequestOf } from '../../api/send.ts';
import type { OpsFilter } from './ops-search.ts';

export type ScopeJson = NonNullable<RequestOf<'controlScope'>['body']>['scope'];
export const reaches = ['run', 'agent', 'team', 'org', 'all'] as const;
export type Reach = (typeof reaches)[number];

/** The form that a person fills in. `-` or nothing stands for an empty org or team. */
export interface ScopeForm {
  readonly reach: Reach;
  readonly org: string;
  readonly team: string;
  readonly agent: string;
  readonly run: string;
}

/** The narrowest scope that the filters name. */
export function formOf({ org_id = '', team_id = '', agent_id = '', run_id = '' }: OpsFilter): ScopeForm {
  const reach = run_id !== '' ? 'run' : agent_id !== '' ? 'agent' : team_id !== '' ? 'team' : 'org';
  return { reach, org: org_id, team: team_id, agent: agent_id, run: run_id };
}

/** The scope in the form of the gateway. Undefined while something is missing. */
export function scopeOf({ reach, org, team, agent, run }: ScopeForm): ScopeJson | undefined {
  const org_id = part(org);
  const team_id = part(team);
  switch (reach) {
    case 'all':
      return { all: true };
    case 'org':
      return org.trim() === '' ? undefined : { org_id };
    case 'team':
      return team.trim() === '' ? undefined : { org_id, team_id };
    case 'agent':
      return agent.trim() === '' ? undefined : { org_id, team_id, agent_id: agent.trim() };
    case 'run': {
      // A run of that name in any org, unless an org is given.
      const within = org.trim() === '' ? {} : { org_id };
      return run.trim() === '' ? undefined : { ...within, run_id: run.trim() };
    }
  }
}

function part(text: string): string {
  return idOfPart(text.trim());
}

/** What the person must type to confirm: the name of the scope. */
export function phraseOf(scope: ScopeJson): string {
  if (scope.all === true) return 'everything';
  if (scope.run_id !== undefined) return scope.run_id;
  const parts = [scope.org_id, scope.team_id, scope.agent_id].filter((each) => each !== undefined);
  return parts.map((each) => (each === '' ? '-' : each)).join('/');
}

/** The scope in words. */
export function sayScope(scope: ScopeJson, ownOrg: string | null): string {
  if (scope.all === true) return ownOrg === null ? 'everything' : `everything of org ${ownOrg}`;
  if (scope.run_id !== undefined)
    return `run ${scope.run_id}${scope.org_id === undefined ? '' : ` of org ${scope.org_id}`}`;
  if (scope.agent_id !== undefined) return `agent ${phraseOf(scope)}`;
  return scope.team_id === undefined ? `org ${phraseOf(scope)}` : `team ${phraseOf(scope)}`;
}

/** Whom a suspension would hold; undefined if the scope is narrower than a team. */
export function suspendedBy(
  { all, org_id, team_id, agent_id, run_id }: ScopeJson,
  own: { readonly orgId: string | null; readonly teamId: string | null },
): Pick<NonNullable<RequestOf<'suspendScope'>['body']>, 'org_id' | 'team_id'> | undefined {
  if (agent_id !== undefined || run_id !== undefined) return undefined;
  // For a tenant, everything is its own.
  const org = all === true ? (own.orgId ?? undefined) : org_id;
  const team = team_id ?? own.teamId ?? undefined;
  return { ...(org === undefined ? {} : { org_id: org }), ...(team === undefined ? {} : { team_id: team }) };
}

/** Only admins control a whole org, or everything. */
export function needsAdmin(reach: Reach): boolean {
  return reach === 'all' || reach === 'org';
}
