import type { Agent, Answer } from '@reeve/sdk';

/** Nor does anybody wait long for this. */
const longestMs = 5000;

/** A held operation that nobody waits for any more ends, and its approval with it. Returns whether the gateway says so. */
export async function callOff(agent: Agent, { opId }: Pick<Answer, 'opId'>): Promise<boolean> {
  try {
    const detail = 'nobody waits for it any more';
    await agent.complete(opId, { outcome: 'cancelled', actualCostMicros: 0, detail }, { deadlineMs: longestMs });
    return true;
  } catch {
    return false;
  }
}
