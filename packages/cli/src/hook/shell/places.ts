import { posix } from 'node:path';
import { bounds } from '@reeve/contract';
import type { Word } from './word.ts';

const mostPlaces = 8;

/** The folders that a command may run in. A `cd` may fail, so each one adds a folder and takes none away. */
export class Places {
  readonly #home: string | undefined;
  #folders: readonly string[];
  #isKnown = true;

  constructor(cwd: string, home: string | undefined) {
    this.#folders = [cwd];
    this.#home = home;
  }

  /** `cd` with these operands. In a loop a relative one leads ever further. */
  move(operands: readonly Word[], isRepeated: boolean): void {
    const [target] = operands;
    const path = target === undefined ? this.#home : this.#written(target);
    if (path === undefined || path === '-' || operands.length > 1 || (isRepeated && !path.startsWith('/'))) {
      this.#isKnown = false;
      return;
    }
    const folders = [...new Set([...this.#folders, ...this.#folders.map((folder) => posix.resolve(folder, path))])];
    if (folders.length > mostPlaces) this.#isKnown = false;
    else this.#folders = folders;
  }

  lose(): void {
    this.#isKnown = false;
  }

  /** For the people who are asked: the folder, or all that it may be. `?` if nobody knows before it runs. */
  inWords(): string {
    const words = this.#folders.join(' or ');
    return this.#isKnown && words.length <= bounds.text ? words : '?';
  }

  /** Where the path may lead. Undefined if nobody knows before it runs. */
  pathsOf(word: Word): readonly string[] | undefined {
    const path = this.#written(word);
    if (path === undefined || path === '') return undefined;
    if (path.startsWith('/')) return [posix.resolve(path)];
    return this.#isKnown ? this.#folders.map((folder) => posix.resolve(folder, path)) : undefined;
  }

  /**
   * The same for an operand, with patterns as they are written. `unknown`: an expansion is part of it. `lost`: the folder is
   * known only when it runs.
   */
  operandPaths(word: Word): readonly string[] | 'unknown' | 'lost' {
    const inHome = (word.unknown ? /^\$(?:HOME|\{HOME\})(\/[^$`]*)?$/ : /^~(\/.*)?$/s).exec(word.text);
    const isKnownHome = inHome !== null && this.#home !== undefined;
    // The home of somebody, or the folder before.
    if (!word.unknown && !isKnownHome && word.text.startsWith('~')) return 'lost';
    const path = isKnownHome ? `${this.#home}${inHome[1] ?? ''}` : this.#written({ ...word, isGlob: false });
    if (path === undefined || path === '') return 'unknown';
    if (path.startsWith('/')) return [posix.resolve(path)];
    return this.#isKnown ? this.#folders.map((folder) => posix.resolve(folder, path)) : 'lost';
  }

  #written({ text, unknown, isGlob }: Word): string | undefined {
    const inHome = /^(?:~|\$HOME|\$\{HOME\})(\/[^$`*?[]*)?$/.exec(text);
    if (inHome !== null) return this.#home === undefined ? undefined : `${this.#home}${inHome[1] ?? ''}`;
    return unknown || isGlob || text.startsWith('~') ? undefined : text;
  }
}
