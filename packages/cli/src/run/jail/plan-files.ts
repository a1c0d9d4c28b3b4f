import { lstatSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { FloorError } from '../floor-error.ts';
import { hostSockets } from './host-sockets.ts';
import { isInside, isInsideAny } from './inside.ts';
import { findHeld, namesAtTop, parentsOf } from './protected-names.ts';

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
  /** Names at the top of the folder that are held whether they exist or not. */
  readonly top: readonly string[];
  /** What may be written, and so has nothing that anybody should trust. */
  readonly writable: readonly string[];
  /** Whether a path is there inside, with its content. */
  isVisible(path: string): boolean;
}

const kernelFolders = ['/proc', '/sys', '/dev'];
const ownFolders = ['/run', '/var/run'];

/** Plans which files are there. Refuses a folder that would leave nothing hidden. */
export function planFiles({ folder: given, homes: givenHomes, ...wishes }: Wishes): FilePlan {
  const folder = realpathSync(given);
  const homes = [...new Set(givenHomes.filter(isFolder).map((home) => realpathSync(home)))].filter(
    (home) => home !== '/',
  );
  refuseWide(folder, homes, 'the working folder');
  const write = wishes.write.map((path) => wished(folder, homes, path, '--write'));
  const read = wishes.read.map((path) => wished(folder, homes, path, '--read'));
  const hide = wishes.hide.map((path) => wished(folder, [], path, '--hide'));
  const shown = shownPaths([folder, ...write], read);
  const writable = shown.filter(({ as }) => as === 'write').map(({ path }) => path);
  const { held, sockets } = isInsideAny(folder, writable) ? findHeld(folder, write) : { held: [], sockets: [] };
  const top = isInsideAny(folder, writable)
    ? namesAtTop(folder).filter((path) => !isInsideAny(path, [...write, ...hide]) && !isLink(path))
    : [];
  const keep = [...new Set([...held, ...top])].toSorted();
  const empty: readonly Mount[] = [
    ...emptyFolders(ownFolders),
    { as: 'empty', path: '/tmp', isWritable: true },
    ...emptyFolders(homes),
  ];
  const mounts: readonly Mount[] = [
    ...empty,
    ...shown,
    ...[...new Set(keep.flatMap((path) => parentsOf(path, folder)))].map((path) => ({ as: 'write' as const, path })),
    ...keep.map((path) => ({ as: 'read' as const, path })),
    ...[...new Set([...sockets, ...hostSockets()])]
      .filter((path) => isThere(path, empty, shown))
      .map((path) => ({ as: 'nothing' as const, path })),
    ...hide.map(hidden),
  ];
  const isVisible = (path: string) => isThere(path, empty, shown) && !isInsideAny(path, [...hide, ...kernelFolders]);
  return { folder, mounts, top, writable, isVisible };
}

/** The deeper path counts, and of two wishes for the same path the narrower. */
function shownPaths(write: readonly string[], read: readonly string[]): readonly (Mount & { as: 'read' | 'write' })[] {
  const paths = [...new Set([...write, ...read])].toSorted((one, other) => one.length - other.length);
  return paths.map((path) => ({ as: read.includes(path) ? 'read' : 'write', path }));
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

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
