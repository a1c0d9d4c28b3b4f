import { existsSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import { floorExits } from './floor-error.ts';
import { executableAt } from './jail/find-program.ts';
import type { FilePlan } from './jail/plan-files.ts';

/** Refuses a command that is not there inside, as a shell would. */
export function requireCommand(name: string, path: string, plan: FilePlan): void {
  const candidates = name.includes('/')
    ? [resolve(plan.folder, name)]
    : path
        .split(delimiter)
        .map((folder) => (isAbsolute(folder) ? join(folder, name) : resolve(plan.folder, folder, name)));
  const isThere = (file: string) => plan.isVisible(file) && plan.isVisible(realpathSync(file));
  const found = candidates.filter((file) => executableAt(file) !== undefined);
  if (found.some(isThere)) return;
  const [hidden] = found;
  if (hidden !== undefined) {
    throw ended(floorExits.notFound, `${name} is not there inside: ${hidden} is hidden; --read its folder`);
  }
  if (name.includes('/') && candidates.some(existsSync)) throw ended(floorExits.denied, `${name} cannot be executed`);
  throw ended(floorExits.notFound, `there is no command ${name}`);
}

function ended(exitCode: number, message: string): CliError {
  return new CliError(message, { exitCode });
}
