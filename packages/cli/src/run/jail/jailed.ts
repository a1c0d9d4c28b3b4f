import type { SpawnSyncReturns } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { namespaces } from './bubblewrap-line.ts';
import { openContent } from './descriptors.ts';

/** Runs a program to its end in a jail that shows everything and changes nothing. It gets the content by descriptor 3. */
export function jailed(bubblewrap: string, content: Buffer, words: readonly string[]): SpawnSyncReturns<string> {
  const file = openContent(content);
  try {
    const line = [
      ...namespaces.map((name) => `--unshare-${name}`),
      ...['--disable-userns', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
      ...words,
    ];
    return spawnSync(bubblewrap, line, { stdio: ['ignore', 'pipe', 'pipe', file], encoding: 'utf8', env: {} });
  } finally {
    closeSync(file);
  }
}
