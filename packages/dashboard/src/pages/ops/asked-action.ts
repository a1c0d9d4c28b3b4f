import { actionTitle } from '@reeve/contract/action-title';
import type { ProvenUser } from '../../api/user-of-payload.ts';
import { userOfPayload } from '../../api/user-of-payload.ts';
import type { Entry } from './history-words.ts';

/** What an agent asked for, as the audit log keeps it: secrets are replaced. */
export interface AskedAction {
  /** All of it on one line, as approvals show it. A command has its arguments and its folder. */
  readonly title: string;
  readonly user: ProvenUser | undefined;
  /** The ids of the agents that delegated, nearest first. */
  readonly delegators: readonly string[];
  /** Name and value of each part that is a text or a number. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The arguments of a tool, or those of a command whose line is too long. Undefined if there are none. */
  readonly args: unknown;
}

const names: readonly (readonly [member: string, name: string])[] = [
  ['source', 'Server'],
  ['tool', 'Tool'],
  ['model', 'Model'],
  ['prompt_tokens', 'Prompt tokens, at most'],
  ['max_output_tokens', 'Output tokens, at most'],
  ['operation', 'Operation'],
  ['path', 'Path'],
  ['host', 'Network host'],
  ['port', 'Port'],
  ['protocol', 'Protocol'],
  ['url', 'URL'],
];

/** The action of the newest decision among some entries. Undefined if there is none. */
export function askedAction(entries: readonly Pick<Entry, 'payload'>[]): AskedAction | undefined {
  const decided = entries.find(({ payload }) => isObject(payload['action']));
  const action = decided?.payload['action'];
  if (decided === undefined || !isObject(action)) return undefined;
  const title = actionTitle(action);
  const delegators = decided.payload['delegators'];
  const facts = names.flatMap(([member, name]) => {
    const value = action[member];
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [];
  });
  return {
    title,
    user: userOfPayload(decided.payload),
    delegators: Array.isArray(delegators) ? delegators.filter((each) => typeof each === 'string') : [],
    facts,
    args: action['args'] ?? (isCut(title) ? action['command_args'] : undefined),
  };
}

function isCut(title: string): boolean {
  return title.includes('… (cut: ');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
