import type { FilePlan, Mount } from './plan-files.ts';

/**
 * The descriptors that bubblewrap gets besides the standard ones. Shells can name no higher ones. What fails before the program
 * begins is said on standard error, which we read; the program gets its own from `stderr`.
 */
export const descriptors = { filter: 3, status: 4, gate: 5, handover: 6, go: 7, entry: 8, stderr: 9 } as const;

/** Where the first program is inside, until it runs: it takes its own file away. */
export const entryPath = '/dev/reeve-entry';

export const namespaces = ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup'];

/** More words than this bubblewrap does not take. */
const mostWords = 9000;

/** The words after `bwrap`, up to the command. Undefined if there are more than bubblewrap takes. */
export function bubblewrapLine({ folder, mounts }: Pick<FilePlan, 'folder' | 'mounts'>): readonly string[] | undefined {
  const line = [
    ...namespaces.map((name) => `--unshare-${name}`),
    '--disable-userns',
    '--die-with-parent',
    ...['--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...entryWords(descriptors.entry),
    ...['--proc', '/proc'],
    // The first process of the namespace, whose memory a program of the same user could write.
    ...emptyFolder('/proc/1'),
    ...emptyFolder('/sys'),
    ...mounts.flatMap(mountWords),
    ...mounts.flatMap(sealWords),
    ...['--chdir', folder],
    ...['--seccomp', String(descriptors.filter)],
    ...['--json-status-fd', String(descriptors.status)],
    ...['--block-fd', String(descriptors.gate)],
  ];
  return line.length > mostWords ? undefined : line;
}

/** Puts the first program, which a descriptor has, into the jail. */
export function entryWords(descriptor: number): readonly string[] {
  return ['--perms', '0555', '--file', String(descriptor), entryPath];
}

function mountWords(mount: Mount): readonly string[] {
  switch (mount.as) {
    case 'read':
      return ['--ro-bind', mount.path, mount.path];
    case 'write':
      return ['--bind', mount.path, mount.path];
    case 'nothing':
      return ['--ro-bind', '/dev/null', mount.path];
    case 'empty':
      return ['--perms', mount.isWritable ? '1777' : '0755', '--tmpfs', mount.path];
  }
}

/** An empty folder is sealed only when all that stands in it is mounted. */
function sealWords(mount: Mount): readonly string[] {
  return mount.as === 'empty' && !mount.isWritable ? ['--remount-ro', mount.path] : [];
}

function emptyFolder(path: string): readonly string[] {
  return ['--tmpfs', path, '--remount-ro', path];
}
