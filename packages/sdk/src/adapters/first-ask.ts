import { createHash } from 'node:crypto';
import type { Agent } from '../agent.ts';
import type { Answer } from '../answer.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import type { ToolUse } from './govern-call.ts';
import { toolAction } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { actingAs } from './subagents.ts';

const allowed = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * The same operation for the same call of a tool, also after the process has restarted: frameworks that interrupt a run ask
 * again when it goes on. Models choose the ids of calls, so without a name of the run a call could go on as one of another
 * run that somebody approved.
 */
export function idsOfCall(run: string | undefined, callId: string): { traceId: string; spanId: string } {
  if (run === undefined || run === '') {
    throw new ReeveInvalidRequest('a run that is interrupted needs a name of its own: give runId');
  }
  return { traceId: idOf(run), spanId: idOf(callId) };
}

/** Asks whether a call may happen, without waiting. A held call stays held, so that the framework can interrupt the run. */
export function askFirst(governed: Agent, use: ToolUse, options: GovernOptions): Promise<Answer> {
  const agent = actingAs(governed);
  const { action, details } = toolAction(agent, use, options);
  return agent.decision(action, { ...details, waitMs: 0 });
}

function idOf(text: string): string {
  return allowed.test(text) ? text : createHash('sha256').update(text).digest('hex');
}
