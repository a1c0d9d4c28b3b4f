/** The shared names of both sides of the wire. This file holds only names, so a browser can load it as it is. */

export const opStates = ['pending', 'running', 'paused', 'completing', 'terminated'] as const;

/** The states of an operation. */
export type OpState = (typeof opStates)[number];

export const opTriggers = ['allow', 'pause', 'resume', 'complete', 'terminate'] as const;

/** What moves an operation from one state to another. */
export type OpTrigger = (typeof opTriggers)[number];

/** Whether an operation is over. Only its removal follows. */
export function isOver(state: OpState): boolean {
  return state === 'completing' || state === 'terminated';
}

/** Who asks for an agent that does not ask by itself: a proxy for MCP, one for model calls, or a hook. */
export const doors = ['mcp', 'model', 'hook'] as const;

export type Door = (typeof doors)[number];

/** How actions come. An agent that asks by itself uses the SDK, or speaks as the SDK does. */
export const entrances = ['sdk', ...doors] as const;

export type Entrance = (typeof entrances)[number];

/** The coding agents whose hooks ask, by their names on the command line. */
export const hookHosts = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  cursor: 'Cursor',
  'gemini-cli': 'Gemini CLI',
} as const;

export type HookHostName = keyof typeof hookHosts;

export const hookHostNames = Object.keys(hookHosts) as readonly HookHostName[];

/** What a credential may do. Each includes those before it. */
export const scopes = ['read', 'write', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** Stands for an empty org or team in a path. No id is a dash. */
const empty = '-';

/** One part of an `org/team/agent` path, on the command line and in URLs. */
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

/** A user as people are shown it: the email, or else the subject, and who vouches for it. Empty if there is none. */
export function userText(
  user: { readonly issuer: string; readonly sub: string; readonly email: string } | null | undefined,
): string {
  return user == null ? '' : `${user.email === '' ? user.sub : user.email} (${user.issuer})`;
}

/** The prefix of a stream answer's reason if the message was not a valid request. */
export const invalidRequestReason = 'invalid request: ';

const tokenRefusals =
  /^(?:credential token (?:mismatch|registered to a different agent)|agent is not registered|token .+)$/;

/** Whether a check was denied because of the token of the agent: with another token, it would be judged. */
export function isTokenRefused(policyRule: string, reason: string): boolean {
  return policyRule === 'identity' && tokenRefusals.test(reason);
}

/** The prefix of the reason if the token of the user does not verify. The agent itself is known then. */
export const subjectTokenReason = 'subject token: ';

/** The prefix of the rule if a budget decided: `budget/org.day`. */
export const budgetRulePrefix = 'budget/';
