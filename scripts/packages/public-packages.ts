import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const home = join(import.meta.dirname, '../..');

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license: string;
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Packages that it works with, in these versions, and does without. */
  readonly optionalPeers?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
}

/** One package of this repository. */
export interface Workspace {
  /** The name of its folder under `packages`. */
  readonly folder: string;
  readonly path: string;
  readonly manifest: Manifest;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function workspaces(): readonly Workspace[] {
  return (readManifest(home).workspaces ?? []).map((relative) => {
    const path = join(home, relative);
    return { folder: relative.replace(/^packages\//, ''), path, manifest: readManifest(path) };
  });
}

/** The packages that others may install: all that do not say they are private. */
export function publicPackages(): readonly Workspace[] {
  return workspaces().filter(({ manifest }) => manifest.private !== true);
}
