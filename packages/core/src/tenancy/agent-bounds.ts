import { ReeveError } from '../kernel/index.ts';
import type { Agent, AgentRecord } from './agent.ts';
import type { AgentBounds } from './compact-agent.ts';
import { agentBytes } from './compact-agent.ts';
import type { KnownAgents } from './directory.ts';

export const usualAgentBounds: AgentBounds = { agents: 10_000, bytes: 64 * 1024 * 1024 };

/**
 * Refuses an agent that would pass a bound. What an agent had is replaced and does not count. An org that is beyond a
 * bound, from before it was set, may still replace agents by ones that take no more.
 */
export function requireRoom(
  { directory, agentBounds }: { readonly directory: KnownAgents; readonly agentBounds: AgentBounds },
  existing: Agent | undefined,
  record: AgentRecord,
): void {
  const { orgId } = record.id;
  const use = directory.useOf(orgId);
  const org = orgId === '' ? 'without an org' : `of the org "${orgId}"`;
  if (existing === undefined && use.agents >= agentBounds.agents) {
    throw new ReeveError(
      'too_many_agents',
      `there are ${use.agents} agents ${org}, and SVC_MAX_AGENTS_PER_ORG is ${agentBounds.agents}; deregister some, which count until their operations are swept`,
    );
  }
  const more = agentBytes(record) - (existing?.bytes ?? 0);
  if (more > 0 && use.bytes + more > agentBounds.bytes) {
    const most = agentBounds.bytes / 1024 / 1024;
    throw new ReeveError(
      'too_many_agents',
      `names, metadata and tools of all agents ${org} would pass SVC_MAX_AGENT_MIB_PER_ORG, which is ${most}; register less of them`,
    );
  }
}
