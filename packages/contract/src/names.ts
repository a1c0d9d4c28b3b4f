/** What both sides of the wire call things. Nothing but names: a browser loads it as it is. */

export const opStates = ['pending', 'running', 'paused', 'completing', 'terminated'] as const;

/** The states of an operation. */
export type OpState = (typeof opStates)[number];

export const opTriggers = ['allow', 'pause', 'resume', 'complete', 'terminate'] as const;

/** What moves an operation from one state to another. */
export type OpTrigger = (typeof opTriggers)[number];

/** Whether an operation is over: only its removal follows. */
export function isOver(state: OpState): boolean {
  return state === 'completing' || state === 'terminated';
}

/** What stands for an empty org or team in a path: no id is a dash. */
const empty = '-';

/** An id as a part of a path: `org/team/agent`, on the command line and in URLs. */
export function pathPart(id: string | null): string {
  return id === null || id === '' ? empty : id;
}

/** The id that a part of a path stands for. */
export function idOfPart(part: string): string {
  return part === empty ? '' : part;
}

/** `org/team/agent`. */
export function agentPath(agent: {
  readonly org_id: string | null;
  readonly team_id: string | null;
  readonly agent_id: string;
}): string {
  return `${pathPart(agent.org_id)}/${pathPart(agent.team_id)}/${agent.agent_id}`;
}

/** How the reason of an answer begins that a stream gives to what is no request. */
export const invalidRequestReason = 'invalid request: ';

/** How the rule of an answer begins where a budget has decided: `budget/org.day`. */
export const budgetRulePrefix = 'budget/';
