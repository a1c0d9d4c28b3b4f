import type { Meanings } from '../journal/index.ts';
import { nothingToApply, shownOnly, touchesNobody, touchesOrg } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import { followUses } from './save-uses.ts';
import { suspensionRows } from './suspensions-rows.ts';
import type { SuspensionChange, SuspensionEvent } from './suspensions-slice.ts';
import { followSuspension } from './suspensions-slice.ts';
import type { Agents } from './tenancy.ts';
import { agentUseRows } from './tenancy-rows.ts';
import type { AgentEvent, AgentUseChange } from './tenancy-slice.ts';

export const tenancyFacts: Meanings<Agents, AgentUseChange | SuspensionChange | AgentEvent | SuspensionEvent> = {
  agent_used: {
    apply: (state, change) => {
      followUses(state, change);
      return nothingToApply();
    },
    // No decision rests on it, but what is written next about the agent must contain it.
    touch: ({ use }) => ({ agent: agentKey(use.id) }),
    rows: agentUseRows.agent_used,
  },
  agent_uses_removed: {
    apply: (state, change) => {
      followUses(state, change);
      return nothingToApply();
    },
    touch: touchesNobody,
    rows: agentUseRows.agent_uses_removed,
  },
  suspension_saved: {
    apply: ({ directory }, change) => {
      followSuspension(directory.suspensions, change);
      return nothingToApply();
    },
    touch: ({ suspension }) => touchesOrg(suspension.orgId),
    rows: suspensionRows.suspension_saved,
  },
  suspension_removed: {
    apply: ({ directory }, change) => {
      followSuspension(directory.suspensions, change);
      return nothingToApply();
    },
    touch: ({ suspension }) => touchesOrg(suspension.orgId),
    rows: suspensionRows.suspension_removed,
  },
  agent: shownOnly,
  suspension: shownOnly,
};
