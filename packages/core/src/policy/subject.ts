import type { Action } from '../decision/action.ts';
import { resolvePath } from './path.ts';

/** An action as matchers see it: each dimension normalised once, null where the action does not have it. */
export interface Subject {
  readonly tool: string | null;
  readonly model: string | null;
  readonly host: string | null;
  readonly path: string | null;
  readonly command: string | null;
  /** Command and arguments joined by spaces. */
  readonly commandLine: string | null;
}

export type Dimension = 'tools' | 'models' | 'hosts' | 'paths' | 'commands';

const none: Subject = { tool: null, model: null, host: null, path: null, command: null, commandLine: null };

export function subjectOf(action: Action): Subject {
  switch (action.type) {
    case 'llm_call':
      return { ...none, model: action.model };
    case 'tool_call':
    case 'tool_result':
      return { ...none, tool: action.tool, host: action.url === '' ? null : hostOf(action.url) };
    case 'file_operation':
      return { ...none, path: resolvePath(action.path) };
    case 'network_call':
      return { ...none, host: normaliseHost(action.host) };
    case 'process_exec':
      return {
        ...none,
        command: action.command,
        commandLine:
          action.commandArgs.length === 0 ? action.command : [action.command, ...action.commandArgs].join(' '),
      };
    case 'agent_spawn':
      return none;
  }
}

/** The texts that a dimension's globs are tried against. */
export function textsOf(subject: Subject, dimension: Dimension): readonly string[] {
  switch (dimension) {
    case 'tools':
      return present(subject.tool);
    case 'models':
      return present(subject.model);
    case 'hosts':
      return present(subject.host);
    case 'paths':
      return present(subject.path);
    case 'commands':
      return subject.command === subject.commandLine
        ? present(subject.command)
        : [...present(subject.command), ...present(subject.commandLine)];
  }
}

function present(text: string | null): readonly string[] {
  return text === null ? [] : [text];
}

/**
 * The host of a URL as a browser would read it: a backslash counts as a slash, and what stands before the last `@`
 * is not the host.
 */
function hostOf(url: string): string | null {
  const host = /^[a-z][a-z0-9+.-]*:[/\\]{2}(?:[^/?#\\]*@)?(\[[^\]]*\]|[^/:?#\\]*)/i.exec(url)?.[1];
  return host === undefined || host === '' ? null : normaliseHost(host);
}

function normaliseHost(host: string): string {
  return (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
}
