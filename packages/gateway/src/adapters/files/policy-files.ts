import type { FSWatcher } from 'node:fs';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { PolicySource } from '@reeve/core';
import { StartError } from '../../start-error.ts';

/** The policy files of a gateway: one file, or every YAML file in a folder and its subfolders. */
export class PolicyFiles {
  readonly path: string;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;

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

  /**
   * Calls `changed` when a file was added, changed or removed. Notices of the operating system make it immediate; a
   * slow poll catches what they miss, for example on network file systems.
   */
  watch(changed: () => void): void {
    let last = this.#fingerprint();
    const look = () => {
      const now = this.#fingerprint();
      if (now === last) return;
      last = now;
      changed();
    };
    try {
      const folder = this.#isFolder();
      this.#watcher = watch(folder ? this.path : dirname(this.path), { recursive: folder }, look);
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = undefined;
    }
    this.#poll = setInterval(look, 1000);
    this.#poll.unref();
  }

  close(): void {
    this.#watcher?.close();
    clearInterval(this.#poll);
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

  /** Changes whenever a file does: the names, sizes and times of all files. */
  #fingerprint(): string {
    try {
      const files = this.#isFolder() ? this.#names() : [this.path];
      return files
        .map((file) => {
          const { ino, size, mtimeMs, ctimeMs } = statSync(file);
          return [file, ino, size, mtimeMs, ctimeMs].join(' ');
        })
        .join('\n');
    } catch (error) {
      return `unreadable: ${String(error)}`;
    }
  }
}
