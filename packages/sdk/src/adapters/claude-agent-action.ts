import { posix } from 'node:path';
import type { Action, ProcessExec } from '../action.ts';
import { runsItselfAlone } from '../carriers/index.ts';

type Input = Readonly<Record<string, unknown>>;

/** Which tools of Claude Code read or write a file, and the member that has its path. */
const files: Readonly<Record<string, readonly [operation: string, member: string]>> = {
  Read: ['read', 'file_path'],
  Write: ['write', 'file_path'],
  Edit: ['write', 'file_path'],
  MultiEdit: ['write', 'file_path'],
  NotebookRead: ['read', 'notebook_path'],
  NotebookEdit: ['write', 'notebook_path'],
};

/** Nothing in such a line is more than words, whatever shell reads it. */
const plainWords = /^[A-Za-z0-9_./@%+,:-]+(?: +[A-Za-z0-9_./@%+,:=-]+)*$/;

/**
 * A use of a tool in a folder as what it does, as the hooks of `reeve hook` see it. A command line that is more than words, or that may
 * run another program by the table that these hooks go by, is a command `?`: this package has no parser for shells.
 */
export function claudeAction(tool: string, input: Input, cwd: string): Action {
  const text = (member: string) => (typeof input[member] === 'string' ? input[member] : '');
  const [operation, member = ''] = Object.hasOwn(files, tool) ? (files[tool] ?? []) : [];
  if (operation !== undefined && text(member) !== '')
    return { type: 'file_operation', operation, path: posix.resolve(cwd, text(member)) };
  if (tool === 'Bash') return { ...commandOf(text('command')), workingDir: cwd };
  if (tool === 'WebFetch' && URL.canParse(text('url'))) return fetchOf(new URL(text('url')));
  if (tool === 'Task' || tool === 'Agent') return { type: 'agent_spawn', command: text('subagent_type') || tool };
  const [, source, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  return name === undefined ? { tool, args: input } : { tool: name, source, args: input };
}

function commandOf(line: string): ProcessExec {
  const trimmed = line.trim();
  const [command = '', ...args] = trimmed.split(/ +/);
  const name = command.slice(command.lastIndexOf('/') + 1);
  const words = args.map((text) => ({ text }));
  if (!plainWords.test(trimmed) || !runsItselfAlone(name, words)) return unreadable(line);
  return { type: 'process_exec', command, args };
}

function unreadable(line: string): ProcessExec {
  return { type: 'process_exec', command: '?', args: [line] };
}

function fetchOf({ hostname, port, protocol }: URL): Action {
  const scheme = protocol.replace(':', '');
  const byDefault = scheme === 'https' ? 443 : 80;
  return { type: 'network_call', host: hostname, port: port === '' ? byDefault : Number(port), protocol: scheme };
}
