import type { AgentId } from '../kernel/agent-id.ts';
import type { PolicyScope } from './document.ts';

/** Whether a document of this scope applies to an agent. */
export function containsAgent(scope: PolicyScope, agent: AgentId): boolean {
  if (scope.tier === 'global') return true;
  if (scope.orgId !== agent.orgId) return false;
  if (scope.tier === 'org') return true;
  if (scope.teamId !== agent.teamId) return false;
  return scope.tier === 'team' || scope.agentId === agent.agentId;
}
