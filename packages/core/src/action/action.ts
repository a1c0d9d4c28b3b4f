import type { User } from './user.ts';
import { userKey } from './user.ts';

export const actionTypes = [
  'llm_call',
  'tool_call',
  'file_operation',
  'network_call',
  'process_exec',
  'agent_spawn',
  'tool_result',
] as const;

export type ActionType = (typeof actionTypes)[number];

/** What an agent is about to do. Members that the action does not have are empty or zero. */
export interface Action {
  readonly type: ActionType;
  readonly tool: string;
  readonly source: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
  readonly operation: string;
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: string;
  /** Only a rule that names the host itself may allow the call. */
  readonly namedOnly: boolean;
  readonly command: string;
  readonly commandArgs: readonly string[];
  /** The folder that the command runs in. */
  readonly workingDir: string;
  readonly url: string;
  /** The arguments or the result as sent: JSON, or empty. */
  readonly json: string;
  /** What the server of a tool says of it, as sent: a JSON object, or empty. These are hints, not facts. */
  readonly annotations: string;
}

/** What an action has beside its type. */
type ActionMembers = { readonly [Member in Exclude<keyof Action, 'type'>]?: Action[Member] | undefined };

const noArgs: readonly string[] = [];

/** All actions are made with their members in the same order, which keeps access to them fast. */
export function action(type: ActionType, members: ActionMembers = {}): Action {
  return {
    type,
    tool: members.tool ?? '',
    source: members.source ?? '',
    model: members.model ?? '',
    promptTokens: members.promptTokens ?? 0,
    maxOutputTokens: members.maxOutputTokens ?? 0,
    operation: members.operation ?? '',
    path: members.path ?? '',
    host: members.host ?? '',
    port: members.port ?? 0,
    protocol: members.protocol ?? '',
    namedOnly: members.namedOnly ?? false,
    command: members.command ?? '',
    commandArgs: members.commandArgs ?? noArgs,
    workingDir: members.workingDir ?? '',
    url: members.url ?? '',
    json: members.json ?? '',
    annotations: members.annotations ?? '',
  };
}

/** The target of the action: tool, model, path, host or command. */
export function resourceOf(action: Action): string {
  switch (action.type) {
    case 'llm_call':
      return action.model;
    case 'tool_call':
    case 'tool_result':
      return action.tool;
    case 'file_operation':
      return action.path;
    case 'network_call':
      return action.host;
    case 'process_exec':
    case 'agent_spawn':
      return action.command;
  }
}

/** The digest of this text binds an operation to the exact request that was decided, and to the user that it was for. */
export function identityOf(action: Action, user: Pick<User, 'issuer' | 'sub'> | null = null): string {
  const identity: unknown[] = [
    action.type,
    action.tool,
    action.source,
    action.model,
    action.promptTokens,
    action.maxOutputTokens,
    action.operation,
    action.path,
    action.host,
    action.port,
    action.protocol,
    action.command,
    action.commandArgs,
    action.url,
    action.json,
  ];
  if (action.annotations !== '') identity.push(action.annotations);
  // Requests without it keep the digest that they had before there was such a member.
  if (action.workingDir !== '') identity.push({ workingDir: action.workingDir });
  if (action.namedOnly) identity.push({ namedOnly: true });
  if (user !== null) identity.push({ user: userKey(user) });
  return JSON.stringify(identity);
}
