import type { AgentId } from '../kernel/agent-id.ts';
import { describeScope } from './parse-scope.ts';

/** The scopes that contain an agent, as documents are found by them, the widest first. */
export function scopesAbove({ orgId, teamId, agentId }: AgentId): readonly string[] {
  return [
    'global',
    describeScope({ tier: 'org', orgId }),
    describeScope({ tier: 'team', orgId, teamId }),
    describeScope({ tier: 'agent', orgId, teamId, agentId }),
  ];
}
