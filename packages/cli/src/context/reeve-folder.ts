import { join } from 'node:path';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

/** Where the contexts and sessions of this user are stored. */
export interface ReeveFolder {
  readonly home: string;
  readonly path: string;
  readonly config: string;
  readonly credentials: string;
  /** The tokens of agents that commands act as. */
  readonly agents: string;
}

export function reeveFolder(shell: Pick<Shell, 'env'>): ReeveFolder {
  const home = variable(shell, 'HOME') ?? process.getBuiltinModule('node:os').userInfo().homedir;
  const path = join(home, '.reeve');
  return {
    home,
    path,
    config: join(path, 'config.yaml'),
    credentials: join(path, 'credentials.yaml'),
    agents: join(path, 'agents.yaml'),
  };
}
