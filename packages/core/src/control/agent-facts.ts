import type { Meanings, Touch } from '../journal/index.ts';
import { nothingToApply } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { AgentChange } from '../tenancy/index.ts';
import { agentOfChange, agentRows } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';
import { followAgent } from './follow-control.ts';

function follow(gov: Controls, change: AgentChange) {
  followAgent(gov, change);
  return nothingToApply();
}

/** Lineage and topology of others depend on who is registered. */
function touch(change: AgentChange): Touch {
  return { org: agentOfChange(change).orgId };
}

export const agentFacts: Meanings<Controls, AgentChange> = {
  agent_saved: { apply: follow, touch, rows: agentRows.agent_saved },
  agent_controlled: {
    apply: follow,
    touch: ({ id }) => ({ agent: agentKey(id) }),
    rows: agentRows.agent_controlled,
  },
  agent_suspended: { apply: follow, touch, rows: agentRows.agent_suspended },
  agent_resumed: { apply: follow, touch, rows: agentRows.agent_resumed },
  agent_removed: { apply: follow, touch, rows: agentRows.agent_removed },
};
