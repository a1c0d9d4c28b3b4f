import type { Governance } from '@reeve/core';
import { isOver } from '@reeve/core';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { Member } from '../adapters/postgres/membership.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

type Load = Pick<Member, 'agents' | 'opsInFlight'>;

/** Counting takes at most this share of the time. */
const mostShare = 0.01;

/** Counts the agents that speak to this gateway, and their operations in flight. */
export function loadOf(gov: Governance): () => Load {
  let known: Load = { agents: 0, opsInFlight: 0 };
  let nextAt = 0;
  return () => {
    const startedAt = systemClock.elapsed();
    if (startedAt < nextAt) return known;
    let [agents, opsInFlight] = [0, 0];
    for (const agent of gov.directory.registered()) {
      if (!agent.isHere) continue;
      agents++;
      for (const { state } of gov.ops.of(agent)) if (!isOver(state)) opsInFlight++;
    }
    known = { agents, opsInFlight };
    nextAt = startedAt + (systemClock.elapsed() - startedAt) / mostShare;
    return known;
  };
}

/**
 * All gateways on the store. One that can have no others lists itself. A lost one has nothing in flight: what it had is
 * with the one that leads, like all that no other gateway counts.
 */
export function gatewaysOf(
  { membership }: OpenStore,
  { ops }: Pick<Governance, 'ops'>,
  load: () => Load,
  self: Pick<Member, 'id' | 'version' | 'startedAt'>,
): () => Promise<readonly (Omit<Member, 'slot'> & { readonly isSelf: boolean })[]> {
  if (membership === undefined) return () => Promise.resolve([{ ...self, ...load(), state: 'active', isSelf: true }]);
  return async () => {
    // Whichever gateway is asked: one that has started is there, and one that has ended is not.
    const members = await membership.membersNow();
    const told = members.map((member) => {
      const isSelf = member.id === membership.id;
      const nothing = member.state === 'lost' ? { agents: 0, opsInFlight: 0 } : {};
      return { ...member, ...nothing, ...(isSelf ? load() : {}), isSelf };
    });
    const counted = told.reduce((sum, { opsInFlight }) => sum + opsInFlight, 0);
    const left = Math.max(0, ops.count('pending') + ops.count('running') + ops.count('paused') - counted);
    const leader = told.find(({ state }) => state === 'active');
    return told.map((each) => (each === leader ? { ...each, opsInFlight: each.opsInFlight + left } : each));
  };
}

/** Shows in metrics how this gateway works with others. */
export function observeCluster(
  { metrics }: WiringContext,
  { membership, shared }: OpenStore,
  { journal }: Governance,
): void {
  if (membership === undefined || shared === undefined) return;
  metrics.observeCluster({
    journal,
    bus: shared.bus,
    members: () => membership.members,
    leads: () => membership.leads,
  });
}
