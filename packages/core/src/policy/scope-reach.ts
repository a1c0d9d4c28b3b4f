import type { Binding } from '../access/authority.ts';
import { mayReach } from '../access/principal.ts';
import type { PolicyScope } from './document.ts';

/** Whether a document of this scope lies within the caller's tenant. What is global belongs to unbound callers. */
export function mayReachScope(by: Binding, scope: PolicyScope): boolean {
  if (by.orgId === null) return true;
  return scope.tier !== 'global' && mayReach(by, { teamId: '', agentId: '', ...scope });
}
