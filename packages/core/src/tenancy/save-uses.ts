import type { Agent } from './agent.ts';
import { AgentCoverage, joined } from './agent-coverage.ts';
import type { AgentUsage } from './agent-coverage.ts';
import type { Agents, Tenancy } from './tenancy.ts';
import type { AgentUse, AgentUseChange } from './tenancy-slice.ts';

/** Writes how up to `most` agents used the gateway lately, within a turn of the journal. Returns whether more wait. */
export function saveUses({ directory, journal }: Tenancy, most: number): boolean {
  const { used } = directory;
  for (let written = 0; written < most; ) {
    const agent = used.take();
    if (agent === undefined) return false;
    const { coverage } = agent;
    // It may have left, or registered anew.
    if (coverage === null || directory.withKey(agent.key) !== agent) continue;
    journal.write({ kind: 'agent_used', use: { id: agent.record.id, usage: coverage.usage } });
    journal.onFailure(() => used.add(agent));
    written++;
  }
  return !used.isEmpty;
}

/** Forgets how an agent that leaves used the gateway. */
export function forgetUses({ journal }: Pick<Tenancy, 'journal'>, agent: Agent): void {
  const { coverage } = agent;
  if (coverage === null) return;
  agent.coverage = null;
  journal.onFailure(() => {
    agent.coverage = coverage;
  });
  journal.write({ kind: 'agent_uses_removed', id: agent.record.id });
}

export function restoreUses({ directory }: Agents, uses: readonly AgentUse[]): void {
  for (const { id, usage } of uses) {
    const agent = directory.find(id);
    if (agent !== undefined) agent.coverage = new AgentCoverage(usage);
  }
}

/** Follows what another gateway has noted. What was noted here, and is not written yet, counts as well. */
export function followUses({ directory }: Agents, change: AgentUseChange): void {
  const agent = directory.find(change.kind === 'agent_used' ? change.use.id : change.id);
  if (agent === undefined) return;
  if (change.kind === 'agent_uses_removed') agent.coverage = null;
  else join(agent, change.use.usage);
}

function join(agent: Agent, usage: AgentUsage): void {
  if (agent.coverage === null) agent.coverage = new AgentCoverage(usage);
  else agent.coverage.usage = joined(agent.coverage.usage, usage);
}
