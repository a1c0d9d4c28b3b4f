import type { Entry } from './history-words.ts';

/** What an agent asked for, as the audit log keeps it: secrets are replaced. */
export interface AskedAction {
  /** Name and value of each part that is a text or a number. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The arguments of a tool. Undefined if there are none. */
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
  const action = entries.map(({ payload }) => payload['action']).find(isObject);
  if (action === undefined) return undefined;
  const command = commandOf(action);
  const facts = names.flatMap(([member, name]) => {
    const value = action[member];
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [];
  });
  return { facts: command === undefined ? facts : [['Command', command], ...facts], args: action['args'] };
}

function commandOf({ command, command_args: args }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof command !== 'string') return undefined;
  return [command, ...(Array.isArray(args) ? args.map(String) : [])].join(' ');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
