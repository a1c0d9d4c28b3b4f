import { agentKey } from '../kernel/index.ts';
import type { Housekeeping } from '../ops/index.ts';
import { removeRowsOf } from '../ops/index.ts';
import { grantsUnder, newForMs } from '../tenancy/index.ts';
import type { Controls } from './controls.ts';

/**
 * Forgets up to `most` delegations that have ended, are not new, have nothing new below and left no operations and no stop that was
 * not confirmed here, with their agents, in a turn. A suspension stays, as of any agent that leaves. Returns how many it forgot.
 */
export function forgetEndedDelegations(gov: Controls & Housekeeping, most: number): number {
  const { clock, control, directory, journal, ops } = gov;
  const newSince = clock.now() - newForMs;
  let forgotten = 0;
  for (const { id, grantedAt } of [...directory.delegations.ended()]) {
    if (forgotten === most) break;
    // Those below count for whoever stands above, so what is new there is found by it.
    if ([grantedAt, ...grantsUnder(directory, { key: agentKey(id) })].some((at) => at > newSince)) continue;
    const agent = directory.find(id);
    if ((agent !== undefined && ops.of(agent).size > 0) || directory.outOfService.has(id)) continue;
    // Whoever gets the id must know whose stop it is.
    if (control.hasUnanswered(agentKey(id))) continue;
    journal.apply({ kind: 'delegation_removed', id });
    // If somebody has registered it since, it is an agent of its own.
    if (agent !== undefined && agent.record.tokenHash === null) {
      // Another gateway may have written one of an operation that is forgotten here.
      removeRowsOf(gov, agent);
      journal.apply({ kind: 'agent_removed', id, isKept: false });
    }
    forgotten++;
  }
  return forgotten;
}
