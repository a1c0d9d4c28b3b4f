import type { Controls } from './controls.ts';
import type { Op } from '../ops/op.ts';
import type { Agent } from '../tenancy/agent.ts';
import { touchAgent } from '../tenancy/touch-agent.ts';

/**
 * Goes through the agents of whom nothing was heard for so long, neither a stream nor a heartbeat or call, and through their
 * operations. Each agent and each operation is a step, between which an agent may be heard of again: it is then left alone.
 */
export function* eachSilentOp(
  gov: Controls,
  silentMs: number,
  onOp: (op: Op) => void,
  onAgent: (agent: Agent) => void = () => undefined,
): Generator<void> {
  const { clock, control, directory, ops } = gov;
  for (const agent of directory.registered()) {
    yield;
    if (ops.of(agent).size === 0) continue;
    const now = clock.elapsed();
    if (control.hasStream(agent.key)) touchAgent(gov, agent, now);
    agent.aliveAt ??= now;
    const heardAt = agent.aliveAt;
    if (now - heardAt < silentMs) continue;
    onAgent(agent);
    for (const op of ops.of(agent).values()) {
      yield;
      if (agent.aliveAt !== heardAt) break;
      onOp(op);
    }
  }
}
