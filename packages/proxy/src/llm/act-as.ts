import type { Agent } from '@reeve/sdk';
import type { AgentsByToken } from '../front/agents-by-token.ts';
import { Refusal } from './refusal.ts';

/**
 * Acts as the agent of a token, with a signal for the end of the token. Throws a refusal, or an error that says why the
 * agent cannot be identified.
 */
export async function actAs<Result>(
  agents: AgentsByToken,
  token: string,
  mostCalls: number,
  act: (agent: Agent, revoked: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const known = agents.find(token);
  if (known.calls >= mostCalls) {
    throw new Refusal('too_many_calls', `the agent has ${mostCalls} calls under way already`);
  }
  known.calls++;
  try {
    return await act(await known.agent, known.revoked);
  } finally {
    known.calls--;
    known.usedAt = performance.now();
  }
}
