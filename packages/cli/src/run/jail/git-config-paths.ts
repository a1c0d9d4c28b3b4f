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

const section = /^\s*\[\s*([\w.-]+)(?:\s+"(?:\\.|[^"\\])*")?\s*\]\s*(.*)$/;
const setting = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/;

/** Reads `.git/config`: git obeys what that includes, and runs what is in `core.hooksPath`. */
export function namedByGit(git: string): NamedByGit {
  const root = dirname(git);
  const files: string[] = [];
  const folders: string[] = [];
  let inSection = '';
  for (const line of linesOf(join(git, 'config'))) {
    const [, name, rest] = section.exec(line) ?? [];
    if (name !== undefined) inSection = name.toLowerCase();
    const [, key = '', value = ''] = setting.exec(rest ?? line) ?? [];
    const path = unquoted(value);
    if (path === '' || path.startsWith('~')) continue;
    if (/^include(?:if)?$/.test(inSection) && key.toLowerCase() === 'path') files.push(resolve(git, path));
    if (inSection === 'core' && key.toLowerCase() === 'hookspath')
      folders.push(isAbsolute(path) ? path : resolve(root, path));
  }
  const isOurs = (path: string) => path !== root && isInside(path, root);
  return { files: files.filter(isOurs), folders: folders.filter(isOurs) };
}

function unquoted(value: string): string {
  const text = value.startsWith('"') ? value : value.replace(/\s*[#;].*$/, '');
  return text.replaceAll(/\\(.)|"/g, '$1');
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
