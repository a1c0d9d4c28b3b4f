import { delimiter, dirname, join } from 'node:path';
import { ownCommand } from '../own-command.ts';
import type { ReeveFolder } from '../context/reeve-folder.ts';
import { hostSettings } from './install/host-settings.ts';
import type { Machine } from './own-places.ts';
import { isInside } from './own-places.ts';

const { existsSync, realpathSync } = process.getBuiltinModule('node:fs');

type Environment = Readonly<Record<string, string | undefined>>;

export function machineOf({ home, path: folder }: Pick<ReeveFolder, 'home' | 'path'>, env: Environment): Machine {
  const program = realOf(ownCommand().at(-1) ?? process.execPath);
  const around = program === undefined ? undefined : packageOf(program);
  const parts = [around ?? program, realOf(process.execPath)].filter((part) => part !== undefined);
  const folders = (env['PATH'] ?? '').split(delimiter).filter((each) => each.startsWith('/'));
  const settings = Object.values(hostSettings).map((host) => host.path('user', home, env));
  return {
    home,
    own: {
      folder,
      settings,
      isProgram: (path) => program !== undefined && realOf(path) === program,
      isOfProgram: (path) => {
        const real = realOf(path) ?? path;
        return real === program || (around !== undefined && isInside(real, around));
      },
      isChangedAt: (path, isDeep) => {
        const real = realOf(path) ?? path;
        return parts.some((part) => isInside(real, part) || (isDeep && isInside(part, real)));
      },
      find: (name) => folders.map((each) => join(each, name)).find((path) => existsSync(path)),
    },
  };
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The package that the program stands in. The single executable stands in none. */
function packageOf(program: string): string | undefined {
  const folder = dirname(dirname(program));
  return existsSync(join(folder, 'package.json')) ? folder : undefined;
}
