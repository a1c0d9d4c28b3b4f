import type { AgentKey, Governance } from '@reeve/core';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

const topic = 'heard';
const everyMs = 1000;
/** A gateway that has told nothing for this long is not heard. */
const silentMs = 5000;
const agentsPerMessage = 5000;

interface Heard {
  readonly from: string;
  readonly agents: readonly AgentKey[];
}

/**
 * Tells the other gateways which agents were heard here, and learns it from them, so that nobody takes an agent for
 * silent that speaks to another gateway. Returns whether all others are heard.
 */
export function openLifeSigns(
  { opened }: WiringContext,
  { shared, membership }: OpenStore,
  gov: Governance,
): () => boolean {
  if (shared === undefined || membership === undefined) return () => true;
  const { bus } = shared;
  const { directory, control, ops } = gov;
  const heardAt = new Map<string, number>();
  let last = 0;
  bus.subscribe(topic, (payload) => {
    const { from, agents } = JSON.parse(Buffer.from(payload).toString()) as Heard;
    const now = systemClock.elapsed();
    heardAt.set(from, now);
    for (const key of agents) {
      const agent = directory.withKey(key);
      if (agent === undefined) continue;
      agent.aliveAt = now;
      agent.isHere = false;
      agent.lastSeenAt = Math.max(agent.lastSeenAt, systemClock.now());
    }
  });
  const timer = setInterval(() => {
    const since = last;
    last = systemClock.elapsed();
    let agents: AgentKey[] = [];
    const send = () => {
      bus.publish(topic, Buffer.from(JSON.stringify({ from: membership.id, agents } satisfies Heard)));
      agents = [];
    };
    for (const { key, aliveAt, isHere } of ops.owners()) {
      // What was only heard from others is not passed on: they would hear it again from here, without an end.
      const isHeard = isHere && aliveAt >= since;
      if (!isHeard && !control.hasStream(key)) continue;
      agents.push(key);
      if (agents.length === agentsPerMessage) send();
    }
    send();
  }, everyMs);
  opened.defer(() => clearInterval(timer), 'life signs');
  return () => {
    if (!bus.isConnected) return false;
    const since = systemClock.elapsed() - silentMs;
    return membership.members
      .filter(({ id, state }) => state === 'active' && id !== membership.id)
      .every(({ id }) => (heardAt.get(id) ?? Number.NEGATIVE_INFINITY) >= since);
  };
}
