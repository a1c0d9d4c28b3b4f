import type { AgentId } from '../kernel/index.ts';
import { describeScope } from './document.ts';

/** How many agents the scopes are remembered of. */
const mostAgents = 10_000;
const scopesOfAgents = new Map<AgentId, readonly string[]>();

/** The scopes that contain an agent, as keys of documents. Widest first. A decision asks for them several times. */
export function scopesAbove(agent: AgentId): readonly string[] {
  const known = scopesOfAgents.get(agent);
  if (known !== undefined) return known;
  if (scopesOfAgents.size === mostAgents) scopesOfAgents.clear();
  const scopes = scopesOver(agent);
  scopesOfAgents.set(agent, scopes);
  return scopes;
}

function scopesOver({ orgId, teamId, agentId }: AgentId): readonly string[] {
  return [
    'global',
    describeScope({ tier: 'org', orgId }),
    describeScope({ tier: 'team', orgId, teamId }),
    describeScope({ tier: 'agent', orgId, teamId, agentId }),
  ];
}
