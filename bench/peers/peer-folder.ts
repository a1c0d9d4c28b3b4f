import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { trackFolder } from '../children.ts';
import type { ServerProcess } from '../server-process.ts';

export interface PeerFolder {
  path(name: string): string;
  /** The server, which takes the folder with it when it stops. */
  ending(server: ServerProcess): ServerProcess;
}

/** A temporary folder with one file. */
export function folderWith(name: string, text: string): PeerFolder {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-peer-'));
  const remove = trackFolder(folder);
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return {
    path: (wanted) => join(folder, wanted),
    ending: (server) => ({
      ...server,
      stop: async () => {
        await server.stop();
        remove();
      },
    }),
  };
}
