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
      return { ...none, host: hostOf(action.host) ?? normaliseHost(action.host) };
    case 'agent_spawn':
      // It may be described by the process that it starts.
      return action.command === '' ? none : { ...none, ...commandOf(action) };
    case 'process_exec':
      return { ...none, ...commandOf(action) };
  }
}

function commandOf(action: Action): Pick<Subject, 'command' | 'commandLine'> {
  const commandLine =
    action.commandArgs.length === 0 ? action.command : [action.command, ...action.commandArgs].join(' ');
  return { command: action.command, commandLine };
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

/** Schemes for which any number of slashes, also none, stands before the host. */
const lenient = /^(?:https?|wss?|ftp):[/\\]*(.*)$/is;
const strict = /^[a-z][a-z0-9+.-]*:[/\\]{2}(.*)$/is;
/** `host`, `host:443`, `host/path`, `//host/path`. */
const bare = /^(?:[/\\]{2})?((?:\[[^\]\s]*\]|[^\s:/\\?#@[\]]+)(?::\d*)?(?:[/\\?#].*)?)$/s;

/**
 * The host of a URL as a browser would read it, so that no spelling gets round a rule: tabs and line breaks do not
 * count, a backslash is a slash, what stands before the last `@` is not the host, and `%65` is `e`.
 */
function hostOf(url: string): string | null {
  const written = withoutMargins(url).replace(/[\t\r\n]/g, '');
  const rest = (lenient.exec(written) ?? strict.exec(written) ?? bare.exec(written))?.[1];
  const authority = rest?.split(/[/?#\\]/, 1)[0];
  const host = authority === undefined ? undefined : /(?:^|@)(\[[^\]@]*\]|[^:@]*)(?::[^@]*)?$/.exec(authority)?.[1];
  return host === undefined || host === '' ? null : normaliseHost(decoded(host));
}

/** Without the blanks and control characters at both ends. */
function withoutMargins(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return text.slice(start, end);
}

function decoded(host: string): string {
  try {
    return decodeURIComponent(host);
  } catch {
    return host;
  }
}

/** One spelling of all that mean the same host: `EXAMPLE.com.`, `ｅxample。com`, `[::1]`. */
/** Composing takes time with the square of a run of accents; no name has so many, and the host is the agent's to choose. */
function normaliseHost(host: string): string {
  const ascii = /^[ -~]*$/.test(host);
  const plain = ascii
    ? host
    : host
        .replaceAll(/(\p{M}{16})\p{M}+/gu, '$1')
        .normalize('NFKC')
        .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
        .replaceAll('。', '.');
  return plain
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
