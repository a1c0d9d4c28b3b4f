import { endApprovalOf, noteSignalled } from './approvals/index.ts';
import { closeOutbox, noteLeaver, wakeOps } from './control/index.ts';
import type { ControlReactions } from './control/index.ts';
import type { Decisions } from './decision/index.ts';
import { endOpsOf, settleCost } from './ops/index.ts';
import type { Journal } from './store.ts';

/**
 * Everything the use cases work on: the gateway's state in memory, the journal that makes it durable, and the ports.
 */
export interface Governance extends Decisions {
  readonly journal: Journal;
}

/** Assembles the parts and wires the reactions. These run in this order, in the same turn, before the commit. */
export function governanceOf(parts: Omit<Governance, 'reactions'>): Governance {
  const reactions: ControlReactions = {
    agentBack: [(agent) => wakeOps(gov, agent)],
    agentLeaving: [
      (left) => endOpsOf(gov, left),
      ({ agent }) => closeOutbox(gov, agent),
      ({ agent }) => noteLeaver(gov, agent),
    ],
    opMoving: [(moved) => settleCost(gov, moved)],
    opMoved: [(moved) => endApprovalOf(gov, moved)],
    messageGone: [(message) => noteSignalled(gov, message)],
  };
  const gov: Governance = { ...parts, reactions };
  return gov;
}
