import type { Binding } from '../access/authority.ts';
import { mayReach } from '../access/principal.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { isId } from '../kernel/agent-id.ts';
import type { PolicyScope } from './document.ts';

/** What a `scope` may be, as messages say it. */
export const scopeForms = '"global", "org:<org>", "team:<org>/<team>" or "agent:<org>/<team>/<agent>"';

/** The scope that a text names; undefined where it names none. */
export function parseScope(text: string): PolicyScope | undefined {
  const [tier = '', rest = ''] = splitOnce(text, ':');
  const ids = rest.split('/');
  const [orgId = '', teamId = '', agentId = ''] = ids;
  if (text === 'global') return { tier: 'global' };
  if (tier === 'org' && ids.length === 1 && isId(orgId)) return { tier, orgId };
  if (tier === 'team' && ids.length === 2 && ids.every(isId)) return { tier, orgId, teamId };
  if (tier === 'agent' && ids.length === 3 && isId(agentId) && [orgId, teamId].every((id) => id === '' || isId(id))) {
    return { tier, orgId, teamId, agentId };
  }
  return undefined;
}

/** The text that `parseScope` reads as this scope. */
export function describeScope(scope: PolicyScope): string {
  switch (scope.tier) {
    case 'global':
      return 'global';
    case 'org':
      return `org:${scope.orgId}`;
    case 'team':
      return `team:${scope.orgId}/${scope.teamId}`;
    case 'agent':
      return `agent:${scope.orgId}/${scope.teamId}/${scope.agentId}`;
  }
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Whether a document of this scope applies to an agent. */
export function containsAgent(scope: PolicyScope, agent: AgentId): boolean {
  if (scope.tier === 'global') return true;
  if (scope.orgId !== agent.orgId) return false;
  if (scope.tier === 'org') return true;
  if (scope.teamId !== agent.teamId) return false;
  return scope.tier === 'team' || scope.agentId === agent.agentId;
}

/** Whether a document of this scope lies within the caller's tenant. What is global belongs to unbound callers. */
export function mayReachScope(by: Binding, scope: PolicyScope): boolean {
  if (by.orgId === null) return true;
  return scope.tier !== 'global' && mayReach(by, { teamId: '', agentId: '', ...scope });
}

/** The scopes that contain an agent, as documents are found by them, the widest first. */
export function scopesAbove({ orgId, teamId, agentId }: AgentId): readonly string[] {
  return [
    'global',
    describeScope({ tier: 'org', orgId }),
    describeScope({ tier: 'team', orgId, teamId }),
    describeScope({ tier: 'agent', orgId, teamId, agentId }),
  ];
}
