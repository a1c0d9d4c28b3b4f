import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { PolicySource } from '@reeve/core';
import { StartError } from '../../start-error.ts';
import { fingerprintOf, watchPlace } from './watch-place.ts';

/** The policy files of a gateway: one file, or every YAML file in a folder and its subfolders. */
export class PolicyFiles {
  readonly path: string;
  #unwatch: (() => void) | undefined;

  /** `create` makes an empty folder if the path does not exist, as for the default path. */
  constructor(path: string, create: boolean) {
    this.path = path;
    if (create) mkdirSync(path, { recursive: true, mode: 0o700 });
    else if (!existsSync(path)) throw new StartError(`the policy path ${path} does not exist`, 2);
  }

  read(): PolicySource[] {
    if (!this.#isFolder()) return [{ file: this.path, text: readFileSync(this.path, 'utf8') }];
    return this.#names().map((file) => ({ file: relative(this.path, file), text: readFileSync(file, 'utf8') }));
  }

  /** Calls `changed` when a file was added, changed or removed. */
  watch(changed: () => void): void {
    const fingerprint = () => fingerprintOf(() => (this.#isFolder() ? this.#names() : [this.path]));
    this.#unwatch = watchPlace(this.path, fingerprint, changed);
  }

  close(): void {
    this.#unwatch?.();
  }

  #isFolder(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  #names(): string[] {
    return readdirSync(this.path, { withFileTypes: true, recursive: true })
      .filter((entry) => /\.ya?ml$/i.test(entry.name) && !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter(
        (file) =>
          !relative(this.path, file)
            .split('/')
            .some((part) => part.startsWith('.')),
      )
      .sort();
  }
}
