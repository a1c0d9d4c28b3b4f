import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isInside } from './inside.ts';

/** What the configuration of a repository names in the folder that the repository is in. */
export interface NamedByGit {
  /** Other files with configuration. */
  readonly files: readonly string[];
  /** The folder of its hooks. */
  readonly folders: readonly string[];
}

/** Reads `.git/config`: git obeys what that includes, and runs what is in `core.hooksPath`. */
export function namedByGit(git: string): NamedByGit {
  const root = dirname(git);
  const files: string[] = [];
  const folders: string[] = [];
  let inSection = '';
  for (const line of linesOf(join(git, 'config'))) {
    const { section, rest } = headed(line.trim());
    inSection = section ?? inSection;
    const equals = rest.indexOf('=');
    const key = rest.slice(0, Math.max(equals, 0)).trim();
    const path = equals < 0 ? '' : unquoted(rest.slice(equals + 1).trim());
    if (path === '' || path.startsWith('~')) continue;
    if (/^include(?:if)?$/.test(inSection) && key.toLowerCase() === 'path') files.push(resolve(git, path));
    if (inSection === 'core' && key.toLowerCase() === 'hookspath')
      folders.push(isAbsolute(path) ? path : resolve(root, path));
  }
  const isOurs = (path: string) => path !== root && isInside(path, root);
  return { files: files.filter(isOurs), folders: folders.filter(isOurs) };
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
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
