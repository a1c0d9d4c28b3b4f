import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { FloorError } from '../floor-error.ts';
import { hostSockets } from './host-sockets.ts';
import { isInside, isInsideAny } from './inside.ts';
import {
  filesAmong,
  findHeld,
  isLink,
  isProtectedName,
  namesAtTop,
  parentsOf,
  settingsAround,
} from './protected-names.ts';
import { requireNames } from './require-names.ts';

/** What a path is inside. The order counts: what comes later covers what came before. */
export type Mount =
  | { readonly as: 'read' | 'write'; readonly path: string }
  /** Another, empty folder of its own. */
  | { readonly as: 'empty'; readonly path: string; readonly isWritable: boolean }
  /** A file or socket that nothing can be learned from. */
  | { readonly as: 'nothing'; readonly path: string };

export interface Wishes {
  readonly folder: string;
  readonly homes: readonly string[];
  readonly write: readonly string[];
  readonly read: readonly string[];
  readonly hide: readonly string[];
}

export interface FilePlan {
  readonly folder: string;
  readonly mounts: readonly Mount[];
  /** The home folders, which are empty inside. */
  readonly homes: readonly string[];
  /** Names at the top of the folder that are held whether they exist or not. */
  readonly top: readonly string[];
  /** Those among them that are files, each with a content that says as much as no file. */
  readonly topFiles: ReadonlyMap<string, string>;
  /** What may be written, and so has nothing that anybody should trust. */
  readonly writable: readonly string[];
  /** Whether a path is there inside, with its content. */
  isVisible(path: string): boolean;
}

const kernelFolders = ['/proc', '/sys', '/dev'];
const ownFolders = ['/run', '/var/run'];

/** Plans which files are there. Refuses a folder that would leave nothing hidden. */
export function planFiles({ folder: given, homes: givenHomes, ...wishes }: Wishes): FilePlan {
  const folder = realFolder(given);
  const homes = [...new Set(givenHomes.filter(isFolder).map((home) => realpathSync(home)))].filter(
    (home) => home !== '/',
  );
  refuseWide(folder, homes, 'the working folder');
  const write = wishes.write.map((path) => wished(folder, homes, path, '--write'));
  const read = wishes.read.map((path) => wished(folder, homes, path, '--read'));
  const hide = wishes.hide.map((path) => wished(folder, [], path, '--hide'));
  const shown = shownPaths([folder, ...write], read);
  const writable = shown.filter(({ as }) => as === 'write').map(({ path }) => path);
  if (isInsideAny(folder, writable) && !isInsideAny(folder, write)) refuseSettings(folder);
  // Who may write a whole folder has not asked for the settings in it.
  const named = [...write, ...wishes.write.map((path) => resolve(folder, path))].filter((path) =>
    isProtectedName(folder, path),
  );
  const { held, sockets } = isInsideAny(folder, writable) ? findHeld(folder, named) : { held: [], sockets: [] };
  const top = isInsideAny(folder, writable)
    ? namesAtTop(folder).filter((path) => !isInsideAny(path, [...named, ...hide]) && !isLink(path))
    : [];
  const keep = [...new Set([...held, ...top])].toSorted();
  const within = read.filter((path) => path !== folder && isInside(path, folder));
  const empty: readonly Mount[] = [
    ...emptyFolders(ownFolders),
    { as: 'empty', path: '/tmp', isWritable: true },
    ...emptyFolders(homes),
    // Where hooks inside remember what they have asked. What the person has there is not visible.
    ...homes.map((home) => ({ as: 'empty', path: join(home, '.reeve'), isWritable: true }) as const),
  ];
  const mounts: readonly Mount[] = [
    ...empty,
    ...inOrder([...shown, ...standing([...keep, ...within], folder, shown), ...keep.map(readOnly)]),
    ...[...new Set([...sockets, ...hostSockets()])]
      .filter((path) => isThere(path, empty, shown))
      .map((path) => ({ as: 'nothing' as const, path })),
    ...hide.map(hidden),
  ];
  requireNames(mounts.map(({ path }) => path));
  const isVisible = (path: string) => isThere(path, empty, shown) && !isInsideAny(path, [...hide, ...kernelFolders]);
  return { folder, mounts, homes, top, topFiles: filesAmong(folder, top), writable, isVisible };
}

type Shown = Mount & { readonly as: 'read' | 'write' };

/** Of two wishes for the same path the narrower counts. */
function shownPaths(write: readonly string[], read: readonly string[]): readonly Shown[] {
  return [...new Set([...write, ...read])].map((path) => ({ as: read.includes(path) ? 'read' : 'write', path }));
}

/** A mount covers what was mounted deeper before, so the deeper path comes later, and counts. */
function inOrder(mounts: readonly Shown[]): readonly Shown[] {
  return mounts.toSorted((one, other) => one.path.length - other.path.length);
}

/** The folders above these paths, which cannot be moved once something is mounted on them. What is read-only stays so. */
function standing(paths: readonly string[], folder: string, shown: readonly Shown[]): readonly Shown[] {
  const parents = new Set(paths.flatMap((path) => parentsOf(path, folder)));
  const nearest = (path: string) => inOrder(shown.filter((mount) => isInside(path, mount.path))).at(-1);
  return [...parents].flatMap((path) => {
    const mount = nearest(path);
    return mount?.as === 'write' && mount.path !== path ? [{ as: 'write', path } as const] : [];
  });
}

function readOnly(path: string): Shown {
  return { as: 'read', path };
}

function isThere(path: string, empty: readonly Mount[], shown: readonly Mount[]): boolean {
  if (shown.some((mount) => isInside(path, mount.path))) return true;
  return !empty.some((mount) => isInside(path, mount.path));
}

function emptyFolders(paths: readonly string[]): readonly Mount[] {
  const real = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
  return real.map((path) => ({ as: 'empty', path, isWritable: false }));
}

function hidden(path: string): Mount {
  return isFolder(path) ? { as: 'empty', path, isWritable: false } : { as: 'nothing', path };
}

function realFolder(given: string): string {
  try {
    return realpathSync(given);
  } catch (error) {
    throw new FloorError(`the working folder ${given} is gone, or its name is not UTF-8`, { cause: error });
  }
}

function wished(folder: string, homes: readonly string[], given: string, flag: string): string {
  const path = isAbsolute(given) ? given : resolve(folder, given);
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw new FloorError(`${flag} ${given}: there is nothing at ${path}`, { cause: error });
  }
  refuseWide(real, homes, `${flag} ${given}`);
  return real;
}

function refuseWide(path: string, homes: readonly string[], what: string): void {
  if (path === '/') throw new FloorError(`${what} is the root of the file system; choose a folder of its own`);
  if (isInsideAny(path, kernelFolders)) throw new FloorError(`${what} is in ${path}, which belongs to the kernel`);
  const home = homes.find((each) => isInside(each, path));
  if (home === undefined) return;
  const which = home === path ? 'your home folder' : `above your home folder ${home}`;
  throw new FloorError(
    `${what} is ${which}, with all that must stay hidden; choose a folder such as ${join(home, 'project')}`,
  );
}

/** What must stay as it is would be what may be written. */
function refuseSettings(folder: string): void {
  const around = settingsAround(folder);
  if (around === undefined) return;
  throw new FloorError(
    `the working folder is in ${around}, which must stay as it is; start it in ${dirname(around)}, or accept that with --write .`,
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
