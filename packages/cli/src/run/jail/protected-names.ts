import type { Dirent } from 'node:fs';
import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { FloorError } from '../floor-error.ts';
import { namedByGit } from './git-config-paths.ts';
import { isInside, isInsideAny } from './inside.ts';
import { isText } from './require-names.ts';

/** What programs outside run or obey: settings of coding agents and editors, and what they read at their start. */
export const settingNames: readonly string[] = [
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.vscode',
  '.idea',
  '.mcp.json',
  '.envrc',
  'CLAUDE.md',
  'AGENTS.md',
];

/** In a git folder: what git runs, and the git folders of submodules and worktrees. */
export const gitNames: readonly string[] = ['hooks', 'config', 'config.worktree', 'modules', 'worktrees'];

/** Where git looks for its configuration and its hooks, if it is there. */
const commonFolder = 'commondir';
/** The git folder itself, in other words than git or a person would use. */
const sameFolder = './.\n';

/** Texts for models, which are often links to each other. Nobody executes them. */
const mayBeLinks: ReadonlySet<string> = new Set(['CLAUDE.md', 'AGENTS.md']);

const inGit: readonly string[] = [...gitNames, commonFolder];

export interface Found {
  /** Read-only although they are in a folder that may be written. */
  readonly held: readonly string[];
  /** Sockets of the host. */
  readonly sockets: readonly string[];
}

/** What must be held in a folder that may be written, at any depth of it. What is in `given` was asked for by name. */
export function findHeld(folder: string, given: readonly string[]): Found {
  const held: string[] = [];
  const sockets: string[] = [];
  const hold = (path: string, isLink: boolean, name: string) => {
    if (isInsideAny(path, given)) return;
    if (!isLink) held.push(path);
    else if (!mayBeLinks.has(name)) throw linkError(folder, path);
  };
  const holdNamed = (path: string) => {
    const link = [...parentsOf(path, folder), path].find(isLink);
    if (link !== undefined) hold(link, true, link);
    else if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) hold(path, false, path);
  };
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const isGit = next.endsWith('/.git');
    const entries = entriesOf(next);
    if (isGit) for (const path of inGitConfig(next, folder)) holdNamed(path);
    // Its owner could make it readable inside. Nobody knows what is in it, so all of it is held.
    if (entries === undefined) held.push(next);
    for (const entry of entries ?? []) {
      const path = join(next, entry.name);
      const isHeld = settingNames.includes(entry.name) || (isGit && inGit.includes(entry.name));
      if (isHeld || (entry.name === '.git' && !entry.isDirectory())) hold(path, entry.isSymbolicLink(), entry.name);
      // Nobody can look into it by this name. All of it would have to be held, which is refused.
      else if (entry.isDirectory() && !isText(entry.name)) held.push(path);
      else if (entry.isDirectory() && !(isGit && entry.name === 'objects')) waiting.push(path);
      else if (entry.isSocket()) sockets.push(path);
    }
  }
  return { held, sockets };
}

/** The names at the top of a folder that are held even if they are not there. */
export function namesAtTop(folder: string): readonly string[] {
  const git = join(folder, '.git');
  const stat = lstatSync(git, { throwIfNoEntry: false });
  // An empty one is no repository, but what a killed run has left, or what another one stands on.
  const isGit = stat?.isDirectory() === true && entriesOf(git)?.length !== 0;
  const named = () => inGitConfig(git, folder).map((path) => firstMissing(path, folder));
  const ofGit = isGit ? [...inGit.map((name) => join(git, name)), ...named()] : [git];
  return [...ofGit, ...settingNames.map((name) => join(folder, name))];
}

/** The names among these that programs read as files, each with a content that says as much as no file. */
export function filesAmong(folder: string, paths: readonly string[]): ReadonlyMap<string, string> {
  const git = join(folder, '.git');
  const empty = [join(git, 'config'), join(git, 'config.worktree'), ...namedByGit(git, folder).files];
  const files = [...empty.map((path) => [path, ''] as const), [join(git, commonFolder), sameFolder] as const];
  return new Map(files.filter(([path]) => paths.includes(path)));
}

function inGitConfig(git: string, within: string): readonly string[] {
  const { files, folders } = namedByGit(git, within);
  return [...files, ...folders];
}

/** The path, or the first folder on the way to it that is not there, or that a killed run has left: who makes that makes the path. */
function firstMissing(path: string, folder: string): string {
  const isMissing = (parent: string) =>
    lstatSync(parent, { throwIfNoEntry: false }) === undefined || entriesOf(parent)?.length === 0;
  return parentsOf(path, folder).find(isMissing) ?? path;
}

export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The folders above a path, up to a folder of them: moved, they would take the path with them. */
export function parentsOf(path: string, folder: string): readonly string[] {
  const parents: string[] = [];
  for (let parent = dirname(path); parent !== folder && parent.length > folder.length; parent = dirname(parent)) {
    parents.push(parent);
  }
  return parents.toReversed();
}

/** Undefined if it cannot be read. */
function entriesOf(folder: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

/**
 * The folder of settings, or of git, that a folder is or is in. A working tree of its own below such a folder, as coding agents
 * make them in theirs, is none of it.
 */
export function settingsAround(folder: string): string | undefined {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    if (basename(at) === '.git' || settingNames.includes(basename(at)) || isGitFolder(at)) return at;
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return undefined;
  }
  return undefined;
}

/** As git finds one that has another name. */
function isGitFolder(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }));
}

/** Whether a path is one of the names that are held, or is in one. */
export function isProtectedName(folder: string, path: string): boolean {
  const names = relative(folder, path).split('/');
  if (names.some((name) => name === '.git' || settingNames.includes(name))) return true;
  return inGitConfig(join(folder, '.git'), folder).some((named) => isInside(path, named) || isInside(named, path));
}

function linkError(folder: string, path: string): FloorError {
  const name = relative(folder, path);
  return new FloorError(
    `${name} is a symbolic link, which cannot be held; replace it, or accept that with --write ${name}`,
  );
}
