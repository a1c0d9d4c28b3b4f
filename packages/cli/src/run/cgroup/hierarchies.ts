import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { unescaped } from '../jail/host-sockets.ts';
import { unlessGone } from '../kernel/unless-gone.ts';

/** One tree of control groups, and where this process is in it. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** What can be limited in it, and `freezer` in the first version. */
  readonly controllers: readonly string[];
  /** The group of this process. */
  readonly folder: string;
}

/** The trees of this machine, the second version first: it freezes and kills a group as a whole. */
export function ownHierarchies(): readonly Hierarchy[] {
  const lines = readLines('/proc/self/cgroup').map((line) => {
    const [, names = '', ...path] = line.split(':');
    return { names: names.split(','), path: path.join(':') };
  });
  const found = readLines('/proc/self/mountinfo').flatMap((line): Hierarchy[] => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', point = ''] = before.split(' ').map(unescaped);
    const [type, , options = ''] = after.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') return [];
    const mounted = options.split(',');
    const own = lines.find(({ names }) =>
      type === 'cgroup2' ? names[0] === '' : names.every((name) => mounted.includes(name)),
    );
    if (own === undefined) return [];
    const folder = join(point, own.path.startsWith(root) ? relative(root, own.path) : own.path);
    if (!existsSync(folder)) return [];
    if (type === 'cgroup') return [{ version: 1, controllers: own.names, folder }];
    return [{ version: 2, controllers: wordsOf(join(folder, 'cgroup.controllers')), folder }];
  });
  return found.toSorted((one, other) => other.version - one.version);
}

/** The words of a file of the kernel. None if it is not there. */
export function wordsOf(file: string): readonly string[] {
  return wordsIn(unlessGone(() => readFileSync(file, 'utf8')));
}

export function wordsIn(text = ''): readonly string[] {
  return text.split(/[ \n]/).filter((word) => word !== '');
}

function readLines(file: string): readonly string[] {
  const text = unlessGone(() => readFileSync(file, 'utf8')) ?? '';
  return text.split('\n').filter((line) => line !== '');
}
