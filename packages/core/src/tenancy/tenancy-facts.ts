import type { Meanings, Undo } from '../journal/index.ts';
import { agentValues, nothingToApply, put, remove, shownOnly, touchesNobody, touchesOrg } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import type { AgentUsage } from './agent-coverage.ts';
import { AgentCoverage, joined } from './agent-coverage.ts';
import type { DelegationChange } from './delegation.ts';
import type { AgentDirectory } from './directory.ts';
import { suspensionsTable } from './suspensions-rows.ts';
import type { SuspensionChange, SuspensionEvent, SuspensionsSnapshot } from './suspensions-slice.ts';
import { agentUsesTable } from './tenancy-rows.ts';
import type { AgentChange, AgentEvent, AgentUseChange, TenancySnapshot } from './tenancy-slice.ts';
import { suspensionsName } from './watched-agents.ts';

interface State {
  readonly directory: AgentDirectory;
}

export const tenancyFacts: Meanings<State, AgentUseChange | SuspensionChange | AgentEvent | SuspensionEvent> = {
  agent_used: {
    apply: ({ directory }, { use }, { isHere }) => {
      const agent = directory.find(use.id);
      if (agent === undefined) return nothingToApply();
      const undo = join(agent, use.usage);
      // What another gateway writes lacks what was noted here lately.
      if (!isHere || !directory.used.delete(agent)) return undo;
      return () => {
        undo();
        directory.used.add(agent);
      };
    },
    // No decision rests on it, but what is written next about the agent must contain it.
    touch: ({ use }) => ({ agent: agentKey(use.id) }),
    // Memory knows all that was written before, so a row is written whole.
    rows: ({ use }) => [put(agentUsesTable, use)],
  },
  agent_uses_removed: {
    // The agent leaves. Memory forgets them with it.
    apply: nothingToApply,
    touch: touchesNobody,
    rows: ({ id }) => [remove(agentUsesTable, agentValues(id))],
  },
  suspension_saved: {
    apply: ({ directory }, { suspension }) => directory.suspensions.put(suspension),
    touch: ({ suspension }) => touchesOrg(suspension.orgId),
    alters: () => [suspensionsName],
    rows: ({ suspension }) => [put(suspensionsTable, suspension)],
  },
  suspension_removed: {
    apply: ({ directory }, { suspension }) => directory.suspensions.remove(suspension.id),
    touch: ({ suspension }) => touchesOrg(suspension.orgId),
    alters: () => [suspensionsName],
    rows: ({ suspension: { id } }) => [remove(suspensionsTable, { id })],
  },
  agent: shownOnly,
  suspension: shownOnly,
};

/** Adds what a gateway has noted to what is known. What was noted here, and is not written yet, counts as well. */
function join(agent: Agent, usage: AgentUsage): Undo {
  const before = agent.coverage;
  const coverage = before ?? new AgentCoverage();
  const known = coverage.usage;
  const together = joined(known, usage);
  coverage.usage = together;
  agent.coverage = coverage;
  return () => {
    // What was noted since stays.
    if (coverage.usage !== together) return;
    coverage.usage = known;
    agent.coverage = before;
  };
}

/** The facts that had saved these rows, in the order in which a start applies them. */
export function* storedTenancy({
  agents,
  agentUses,
  delegations,
  suspensions,
}: TenancySnapshot & SuspensionsSnapshot): Generator<
  AgentChange | AgentUseChange | DelegationChange | SuspensionChange
> {
  for (const agent of agents) {
    yield { kind: 'agent_saved', agent };
    if (agent.suspension !== null) yield { kind: 'agent_suspended', agent, suspension: agent.suspension };
  }
  for (const delegation of delegations) yield { kind: 'delegation_saved', delegation };
  for (const use of agentUses) yield { kind: 'agent_used', use };
  for (const suspension of suspensions) yield { kind: 'suspension_saved', suspension };
}
