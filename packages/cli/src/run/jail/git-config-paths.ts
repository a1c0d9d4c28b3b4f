import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isInside } from './inside.ts';

/** What git is told to read and to run, in the folder that it is asked about. */
export interface NamedByGit {
  /** Other files with configuration. */
  readonly files: readonly string[];
  /** The folder of its hooks. */
  readonly folders: readonly string[];
}

/**
 * Reads the configuration of a repository and that of the person: git obeys what these include, and what that includes, and runs
 * what is in `core.hooksPath`.
 */
export function namedByGit(git: string, within: string): NamedByGit {
  const first = [join(git, 'config'), join(git, 'config.worktree'), '/etc/gitconfig'];
  // What is included is read as well, each once.
  const files = new Set([...first, join(homedir(), '.config/git/config'), join(homedir(), '.gitconfig')]);
  const folders: string[] = [];
  for (const file of files) {
    for (const { name, path } of pathsIn(file)) {
      if (name === 'core.hookspath') folders.push(resolve(dirname(git), path));
      else files.add(resolve(dirname(file), path));
    }
  }
  const isOurs = (path: string) => path !== within && isInside(path, within);
  return { files: [...files].slice(first.length).filter(isOurs), folders: folders.filter(isOurs) };
}

/** The settings of a file whose values are paths that count here. */
function pathsIn(file: string): readonly { readonly name: string; readonly path: string }[] {
  let inSection = '';
  return linesOf(file).flatMap((line) => {
    const { section, rest } = headed(line.trim());
    inSection = section ?? inSection;
    const equals = rest.indexOf('=');
    const name = `${inSection}.${rest.slice(0, Math.max(equals, 0)).trim().toLowerCase()}`;
    const path = equals < 0 ? '' : unquoted(rest.slice(equals + 1).trim()).replace(/^~(?=\/)/, () => homedir());
    const counts = /^(?:core\.hookspath|include(?:if)?\.path)$/.test(name);
    return counts && path !== '' && !path.startsWith('~') ? [{ name, path }] : [];
  });
}

/** The section that a line begins, in lower case, and what comes after it. */
function headed(line: string): { readonly section: string | undefined; readonly rest: string } {
  if (!line.startsWith('[')) return { section: undefined, rest: line };
  let isQuoted = false;
  let end = 1;
  for (; end < line.length && (isQuoted || line[end] !== ']'); end++) {
    if (line[end] === '\\') end++;
    else if (line[end] === '"') isQuoted = !isQuoted;
  }
  const [section = ''] = line.slice(1, end).trim().split(/[\s"]/);
  return { section: section.toLowerCase(), rest: line.slice(end + 1).trim() };
}

function unquoted(value: string): string {
  const comment = value.startsWith('"') ? -1 : value.search(/[#;]/);
  const text = comment < 0 ? value : value.slice(0, comment).trimEnd();
  return text.replaceAll(/\\(.)|"/g, '$1');
}

function linesOf(file: string): readonly string[] {
  try {
    // An included path may lead to a pipe or a device, which has no end.
    return statSync(file).isFile() ? readFileSync(file, 'utf8').split('\n') : [];
  } catch {
    return [];
  }
}
