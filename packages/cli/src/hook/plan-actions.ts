import { posix } from 'node:path';
import { numberFaultIn } from '@reeve/contract/exact-numbers';
import type { HookAction, PlannedAction } from './hook-event.ts';
import { MalformedEvent } from './hook-event.ts';
import type { Machine } from './own-places.ts';
import { FileWatcher } from './plan-files.ts';
import { analyseShell, longestText } from './shell/analyse-shell.ts';
import type { ShellAction } from './shell/shell-action.ts';
import { unreadable } from './shell/shell-action.ts';

/** Where a tool is used. */
export interface ToolPlace extends Machine {
  readonly cwd: string;
}

const mostActions = 200;

/** Everything that a command line would do. */
export function planShell(command: unknown, place: ToolPlace): readonly PlannedAction[] {
  const { cwd, home } = place;
  if (typeof command !== 'string') throw new MalformedEvent('the command is no text');
  // A rule that allows what cannot be read must not allow everything that is long.
  if (command.length > longestText) throw new MalformedEvent(`the command is longer than ${longestText} characters`);
  const watcher = new FileWatcher(place);
  const actions = analyseShell(command, { cwd, home, watcher }).map(ofShell);
  if (actions.length === 0) return [planUnreadable('there is no command')];
  return bounded([...actions, ...watcher.actions]).map((planned) => ({ ...planned, source: `${cwd}\n${command}` }));
}

/** The same in each folder that a tool may be told to run it in. */
export function planShellIn(command: unknown, folders: readonly string[], place: ToolPlace): readonly PlannedAction[] {
  const places = folders.length === 0 ? [place] : folders.map((cwd) => ({ ...place, cwd: absolute(cwd, place) }));
  return bounded(places.flatMap((each) => planShell(command, each)));
}

/** Each is asked about once. What is beyond the bound is not asked about, so it must not happen either. */
export function bounded(actions: readonly PlannedAction[]): readonly PlannedAction[] {
  const each = onceEach(actions);
  if (each.length <= mostActions) return each;
  return [...each.slice(0, mostActions - 1), planUnreadable(`it would do more than ${mostActions} things`)];
}

/** Equal actions are one, with all that is known of any of them. */
function onceEach(actions: readonly PlannedAction[]): readonly PlannedAction[] {
  const known = new Map<string, PlannedAction>();
  for (const planned of actions) {
    const key = JSON.stringify(planned.action);
    const before = known.get(key);
    known.set(key, before === undefined ? planned : together(before, planned));
  }
  return [...known.values()];
}

function together(first: PlannedAction, second: PlannedAction): PlannedAction {
  return {
    ...first,
    isReal: first.isReal === true && second.isReal === true,
    isDeep: first.isDeep === true || second.isDeep === true,
    isPattern: first.isPattern === true || second.isPattern === true,
  };
}

function ofShell(found: ShellAction): PlannedAction {
  switch (found.kind) {
    case 'execution': {
      const { command, args, workingDir, note } = found;
      return { action: { type: 'process_exec', command, args, workingDir }, note };
    }
    case 'file':
      return { action: { type: 'file_operation', operation: found.operation, path: found.path } };
    case 'connection':
      return { action: { type: 'network_call', host: found.host, port: found.port, protocol: found.protocol } };
  }
}

export function planUnreadable(note: string, args: readonly string[] = []): PlannedAction {
  return { action: { type: 'process_exec', command: unreadable, args }, note };
}

export function planFile(operation: string, path: string, place: ToolPlace): PlannedAction {
  return { action: { type: 'file_operation', operation, path: absolute(path, place) } };
}

/** The same for several files, one at least. */
export function planFiles(operation: string, paths: readonly string[], place: ToolPlace): readonly PlannedAction[] {
  if (paths.length === 0) throw new MalformedEvent('the tool names no file');
  return bounded(paths.map((path) => planFile(operation, path, place)));
}

export function absolute(path: string, { cwd, home }: ToolPlace): string {
  if (path === '~' || path.startsWith('~/')) return posix.join(home, path.slice(1));
  return /^file:/i.test(path) ? path : posix.resolve(cwd, path);
}

/** A fetch, by the host that is asked. A text that is no URL leaves the tool as it is. */
export function planFetch(url: string, tool: string, input: unknown): PlannedAction {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.hostname === '') return planTool(tool, input);
  const protocol = parsed.protocol.replace(':', '');
  const port = parsed.port === '' ? (defaultPorts[protocol] ?? 0) : Number(parsed.port);
  return { action: { type: 'network_call', host: parsed.hostname, port, protocol } };
}

const defaultPorts: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443, ftp: 21 };

/** A tool of a server, or any other one. */
export function planTool(tool: string, input: unknown, source?: string): PlannedAction {
  const fault = numberFaultIn(JSON.stringify(input) ?? '');
  if (fault !== undefined) throw new MalformedEvent(`in the input of ${JSON.stringify(tool.slice(0, 64))}, ${fault}`);
  const action: HookAction = { tool, args: input, ...(source === undefined ? {} : { source }) };
  return { action };
}

/** `mcp__<server>__<tool>`, as several hosts name the tools of MCP servers. */
export function planMcp(name: string, input: unknown): PlannedAction | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : planTool(tool, input, server);
}
