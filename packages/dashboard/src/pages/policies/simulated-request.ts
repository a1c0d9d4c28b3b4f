import { idOfPart } from '@reeve/contract/names';
import type { RequestOf } from '../../api/send.ts';

export type SimulateBody = NonNullable<RequestOf<'simulatePolicy'>['body']>;

export const actionTypes = [
  'tool_call',
  'llm_call',
  'file_operation',
  'network_call',
  'process_exec',
  'agent_spawn',
  'tool_result',
] as const;

export type ActionType = (typeof actionTypes)[number];

/** A request as people write it. */
export interface RequestForm {
  /** `org/team/agent`, with `-` for none. */
  readonly agent: string;
  readonly type: ActionType;
  /** Tool, model, path, host or command. */
  readonly resource: string;
  /** JSON, or empty. */
  readonly args: string;
  /** Dollars, or empty. */
  readonly cost: string;
  /** For whom: an email, JSON with more, or empty. */
  readonly user: string;
  /** What the call brings back: JSON or any text, or empty. */
  readonly result: string;
}

/** The invalid parts of the form, by field. */
export type RequestFaults = Partial<Record<keyof RequestForm, string>>;

const memberOf: Readonly<Record<ActionType, string>> = {
  tool_call: 'tool_name',
  tool_result: 'tool_name',
  llm_call: 'model',
  file_operation: 'path',
  network_call: 'host',
  process_exec: 'command',
  agent_spawn: 'command',
};

export const resourceLabel: Readonly<Record<ActionType, string>> = {
  tool_call: 'Tool',
  tool_result: 'Tool',
  llm_call: 'Model',
  file_operation: 'Path',
  network_call: 'Host',
  process_exec: 'Command and arguments',
  agent_spawn: 'Command',
};

export function faultsOf({ agent, args, cost, user }: RequestForm): RequestFaults {
  const parts = agent.split('/');
  return {
    ...(parts.length === 3 && parts[2] !== '' ? {} : { agent: 'must be org/team/agent, with “-” for none' }),
    ...(args.trim() === '' || isJson(args) ? {} : { args: 'must be JSON, such as {"amount_usd": 20}' }),
    ...(cost.trim() === '' || /^\d{1,9}(\.\d{1,6})?$/.test(cost.trim())
      ? {}
      : { cost: 'must be dollars, such as 0.25' }),
    ...(isUser(user.trim()) ? {} : { user: 'must be an email, or JSON such as {"sub": "u-1", "groups": ["staff"]}' }),
  };
}

export function requestOf(form: RequestForm): SimulateBody {
  const [org = '', team = '', agent = ''] = form.agent.split('/').map((part) => idOfPart(part.trim()));
  const [command = '', ...rest] = form.resource.split(' ');
  const isProcess = form.type === 'process_exec';
  return {
    agent: { org_id: org, team_id: team, agent_id: agent },
    action_type: form.type,
    context: {
      [memberOf[form.type]]: isProcess ? command : form.resource,
      ...(isProcess ? { args: rest } : {}),
      ...(form.args.trim() === '' || isProcess ? {} : { args_json: form.args }),
    },
    ...(form.cost.trim() === '' ? {} : { estimated_cost_micros: Math.round(Number(form.cost) * 1_000_000) }),
    ...(form.user.trim() === '' ? {} : { user: userOf(form.user.trim()) }),
    ...(form.result === '' ? {} : { result: form.result }),
  };
}

function isUser(text: string): boolean {
  return !text.startsWith('{') || isJson(text);
}

function userOf(text: string): SimulateBody['user'] {
  return text.startsWith('{') ? (JSON.parse(text) as SimulateBody['user']) : { email: text };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
