import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Breakage, Mutant } from './mutant.ts';

/** The root of the repository. */
const sources = resolve(import.meta.dirname, '../../..');
/** What the simulation runs on. */
const copied = ['package.json', 'packages/contract', 'packages/core', 'packages/gateway', 'tests/simulation'];

/** A copy of what the simulation runs on. The working tree is never changed. */
export class MutatedCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'reeve-mutants-'));

  constructor() {
    for (const path of copied) {
      cpSync(join(sources, path), join(this.folder, path), { recursive: true, filter: isNeeded });
    }
    linkPackages(join(sources, 'node_modules'), join(this.folder, 'node_modules'), this.folder);
  }

  /** Breaks one mechanism, and returns how to mend it. */
  break(mutant: Mutant): () => void {
    const mends = breakagesOf(mutant).map((breakage) => this.#replace(mutant.name, breakage));
    return () => {
      for (const mend of mends.toReversed()) mend();
    };
  }

  #replace(name: string, { file, text, replacement }: Breakage): () => void {
    const path = join(this.folder, file);
    const whole = readFileSync(path, 'utf8');
    requireOnce(name, file, text, whole);
    writeFileSync(
      path,
      whole.replace(text, () => replacement),
    );
    return () => writeFileSync(path, whole);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Fails if a text of a mutant is not, or no longer, in its file. */
export function requireApplicable(mutant: Mutant): void {
  for (const { file, text } of breakagesOf(mutant)) {
    requireOnce(mutant.name, file, text, readFileSync(join(sources, file), 'utf8'));
  }
}

function breakagesOf(mutant: Mutant): readonly Breakage[] {
  return [mutant, ...(mutant.also ?? [])];
}

function requireOnce(name: string, file: string, text: string, whole: string): void {
  const times = whole.split(text).length - 1;
  if (times !== 1)
    throw new Error(`the mutant "${name}": its text is ${times} times in ${file}; it must be there once`);
}

function isNeeded(path: string): boolean {
  return !/\.test\.ts$|\/(?:node_modules|dist|test)(?:\/|$)/.test(path.slice(sources.length));
}

/** Packages of others are those of the repository; Reeve's own are the copies. */
function linkPackages(from: string, to: string, copy: string): void {
  mkdirSync(join(to, '@reeve'), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== '@reeve' && !name.startsWith('.')) symlinkSync(join(from, name), join(to, name));
  }
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(to, '@reeve', name));
  }
}
