import type { Action, User } from '../action/index.ts';
import { nameOfUser } from '../action/index.ts';
import { plainHost, plainHostOf, readHost, unclear } from './host.ts';
import { readPath } from './path.ts';

/** An action as matchers see it: each dimension normalised once, null if the action does not have it. */
export interface Subject {
  readonly tool: string | null;
  readonly model: string | null;
  readonly host: string | null;
  readonly path: string | null;
  readonly command: string | null;
  /** Command and arguments joined by spaces. */
  readonly commandLine: string | null;
  /** The proven user's email, or else its `sub`. */
  readonly user: string | null;
  /** What nobody can read. Rules that deny or ask count it as theirs; rules that allow do not. */
  readonly unclear: Unclear | null;
}

export interface Unclear {
  readonly dimensions: readonly Dimension[];
  /** As sent, in lower case if case does not count. Null if that is not known: then no rule names it. */
  readonly text: string | null;
}

export type Dimension = 'tools' | 'models' | 'hosts' | 'paths' | 'commands' | 'users';

export function isUnclear({ unclear }: Subject, dimension: Dimension): boolean {
  return unclear !== null && unclear.dimensions.includes(dimension);
}

export const allDimensions: readonly Dimension[] = ['tools', 'models', 'hosts', 'paths', 'commands', 'users'];

const none: Subject = {
  tool: null,
  model: null,
  host: null,
  path: null,
  command: null,
  commandLine: null,
  user: null,
  unclear: null,
};

export function subjectOf(action: Action, user: Pick<User, 'email' | 'sub'> | null = null): Subject {
  const subject = subjectOfAction(action);
  return user === null ? subject : { ...subject, user: nameOfUser(user) };
}

/**
 * The subject of a call of which only a record is left, with secrets replaced. What was replaced in it may have been
 * anything, so nobody can read it.
 */
export function subjectOfRecord(
  action: Action,
  user: Pick<User, 'email' | 'sub'> | null,
  isHidden: (text: string) => boolean,
): Subject {
  const subject = subjectOf(action, user);
  const hidden = hiddenIn(action, user, isHidden);
  return hidden.length === 0
    ? subject
    : { ...subject, unclear: { dimensions: [...hidden, ...(subject.unclear?.dimensions ?? [])], text: null } };
}

function hiddenIn(
  action: Action,
  user: Pick<User, 'email' | 'sub'> | null,
  isHidden: (text: string) => boolean,
): readonly Dimension[] {
  const read: Readonly<Record<Dimension, readonly string[]>> = {
    tools: [action.tool],
    models: [action.model],
    hosts: [action.type === 'network_call' ? action.host : upToPath(action.url)],
    paths: [action.path],
    commands: [action.command, ...action.commandArgs],
    users: user === null ? [] : [nameOfUser(user)],
  };
  return allDimensions.filter((dimension) => read[dimension].some(isHidden));
}

/** The subject of a call of which at most the tool is known. */
export function subjectOfTool(tool: string | undefined): Subject {
  const known = tool === undefined ? [] : ['tools'];
  const dimensions = allDimensions.filter((dimension) => !known.includes(dimension));
  return { ...none, tool: tool ?? null, unclear: { dimensions, text: null } };
}

/** A URL up to where its host has surely ended. All of it if that cannot be told. */
function upToPath(url: string): string {
  return /^[a-z][a-z\d+.-]*:\/\/[^/?#\\\s]*(?=[/?#])/i.exec(url)?.[0] ?? url;
}

function subjectOfAction(action: Action): Subject {
  switch (action.type) {
    case 'llm_call':
      return { ...none, model: action.model };
    case 'tool_call':
    case 'tool_result':
      return action.url === '' ? { ...none, tool: action.tool } : { ...none, tool: action.tool, ...placeOf(action) };
    case 'file_operation':
      return { ...none, ...pathOf(action.path) };
    case 'network_call':
      return { ...none, ...placeOf(action) };
    case 'agent_spawn':
      // The process that the call starts may describe it.
      return action.command === '' ? none : { ...none, ...commandOf(action) };
    case 'process_exec':
      return { ...none, ...commandOf(action) };
  }
}

type Place = Pick<Subject, 'host' | 'unclear'>;

/** Caches slow readings: the matchers and every condition look at the same action. */
const read = new WeakMap<Action, Place>();

function placeOf(action: Action): Place {
  const isCall = action.type === 'network_call';
  const plain = isCall ? plainHost(action.host) : plainHostOf(action.url);
  if (plain !== undefined) return { host: plain, unclear: null };
  const known = read.get(action);
  if (known !== undefined) return known;
  const text = isCall ? action.host : action.url;
  const host = readHost(text);
  // A network call always has a host, whatever it looks like.
  const found: Place =
    host === unclear || (isCall && host === null)
      ? { host: null, unclear: { dimensions: ['hosts'], text: text.toLowerCase() } }
      : { host, unclear: null };
  read.set(action, found);
  return found;
}

function pathOf(text: string): Pick<Subject, 'path' | 'unclear'> {
  const path = readPath(text);
  return path === undefined ? { path: null, unclear: { dimensions: ['paths'], text } } : { path, unclear: null };
}

function commandOf(action: Action): Pick<Subject, 'command' | 'commandLine'> {
  const commandLine =
    action.commandArgs.length === 0 ? action.command : [action.command, ...action.commandArgs].join(' ');
  return { command: action.command, commandLine };
}

/** The texts to try a dimension's globs against. */
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
    case 'users':
      return present(subject.user);
  }
}

const noTexts: readonly string[] = [];

function present(text: string | null): readonly string[] {
  return text === null ? noTexts : [text];
}
