import { announce } from '../kernel/announce.ts';
import type { Agent } from './agent.ts';
import type { Tenancy } from './tenancy.ts';

/** Records that an agent is alive. On every decision's path, so it does next to nothing. */
export function touchAgent(
  { clock, reactions }: Pick<Tenancy, 'clock' | 'reactions'>,
  agent: Agent,
  at: number = clock.elapsed(),
): void {
  agent.aliveAt = at;
  if (agent.silent) announce(reactions.agentBack, agent);
}
