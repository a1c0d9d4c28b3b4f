import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { entryPath, entryWords, namespaces } from './bubblewrap-line.ts';
import { give } from './descriptors.ts';

export interface Ended {
  /** Null if a signal has ended it. */
  readonly status: number | null;
  readonly stderr: string;
}

const contents = { filter: 3, entry: 4 } as const;

/** Runs a first program to its end, under a filter, in a jail that shows everything and changes nothing. */
export async function jailed(bubblewrap: string, filter: Buffer, entry: Buffer): Promise<Ended> {
  const line = [
    ...namespaces.map((name) => `--unshare-${name}`),
    ...['--disable-userns', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...entryWords(contents.entry),
    ...['--seccomp', String(contents.filter), '--', entryPath],
  ];
  const child = spawn(bubblewrap, line, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env: {} });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  give(child, contents.filter, filter);
  give(child, contents.entry, entry);
  try {
    const [status] = (await once(child, 'close')) as [number | null];
    return { status, stderr: stderr.trim() };
  } catch (error) {
    return { status: null, stderr: error instanceof Error ? error.message : String(error) };
  }
}
