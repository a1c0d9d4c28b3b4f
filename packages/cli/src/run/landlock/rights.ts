/** What Landlock can keep programs from. Each came with a version of it; an unknown one would be refused. */
const versionOf = {
  execute: 1,
  writeFile: 1,
  readFile: 1,
  readFolder: 1,
  removeFolder: 1,
  removeFile: 1,
  makeCharDevice: 1,
  makeFolder: 1,
  makeFile: 1,
  makeSocket: 1,
  makeFifo: 1,
  makeBlockDevice: 1,
  makeLink: 1,
  /** To move or link between folders. What handles nothing of it is refused all of it, so version 1 is of no use. */
  refer: 2,
  truncate: 3,
  useDevice: 5,
} as const;

type Right = keyof typeof versionOf;

/** In the order of their bits. */
const rights = Object.keys(versionOf) as readonly Right[];

/** The first version by which files can still be moved between folders. */
export const leastVersion = 2;
export const firstWithScopes = 6;
/** Abstract sockets, and signals, to whatever is outside of the lock. */
const allScopes = 3;

/** The versions after the first of use that have brought something, the newest first. */
export const newerVersions: readonly number[] = [...new Set([firstWithScopes, ...Object.values(versionOf)])]
  .filter((version) => version > leastVersion)
  .toSorted((one, other) => other - one);
export const newestVersion = Math.max(...newerVersions);

/** What a path may be used for. */
export type Use = 'list' | 'read' | 'write' | 'change';

const uses: Readonly<Record<Use, readonly Right[]>> = {
  list: ['readFolder'],
  read: ['execute', 'readFile', 'readFolder'],
  /** The files that are there. */
  write: ['execute', 'readFile', 'readFolder', 'writeFile', 'truncate'],
  change: rights,
};
const ofFiles: ReadonlySet<Right> = new Set(['execute', 'writeFile', 'readFile', 'truncate', 'useDevice']);

export function handledRights(version: number): number {
  return bitsOf(rights, version);
}

export function handledScopes(version: number): number {
  return version >= firstWithScopes ? allScopes : 0;
}

/** The rights of a rule. For a file the kernel takes only those that files have. */
export function rightsFor(use: Use, isFolder: boolean, version: number): number {
  return bitsOf(isFolder ? uses[use] : uses[use].filter((right) => ofFiles.has(right)), version);
}

function bitsOf(some: readonly Right[], version: number): number {
  return some
    .filter((right) => versionOf[right] <= version)
    .reduce((bits, right) => bits | (1 << rights.indexOf(right)), 0);
}
