import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

export interface StoredCounts {
  readonly processes: number;
  readonly files: readonly (readonly [file: string, ranges: readonly Range[]])[];
}

/**
 * How often processes ran each character of each source, summed over the files that Node writes by `NODE_V8_COVERAGE`. Types
 * are blanked before Node runs a file, so that places in what runs are places in the source.
 */
export class ProcessCounts {
  readonly #counts = new Map<string, Float64Array>();
  #processes = 0;

  get processes(): number {
    return this.#processes;
  }

  /** Takes in what has been written to the folder, and removes it. A file that is still being written stays. */
  take(folder: string, isMeasured: (file: string) => boolean): void {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const scripts = readScripts(path);
      if (scripts === undefined) continue;
      rmSync(path);
      // The threads of a process write files of their own, with other numbers at the end.
      if (name.endsWith('-0.json')) this.#processes++;
      for (const { url, functions } of scripts) {
        if (url.startsWith('file:') && isMeasured(fileURLToPath(url))) this.#add(fileURLToPath(url), functions);
      }
    }
  }

  at(file: string, offset: number): number {
    return this.#counts.get(file)?.[offset] ?? 0;
  }

  /** In a form that can be stored: stretches of the same count. */
  toJSON(): StoredCounts {
    const files = [...this.#counts].map(([file, counts]) => [file, stretches(counts)] as const);
    return { processes: this.#processes, files };
  }

  static from({ processes, files }: StoredCounts): ProcessCounts {
    const made = new ProcessCounts();
    made.#processes = processes;
    for (const [file, ranges] of files) made.#add(file, [{ ranges }]);
    return made;
  }

  /** Ranges come from the outside in: the innermost one says how often a place was run. */
  #add(file: string, functions: Script['functions']): void {
    const ranges = functions.flatMap((each) => each.ranges);
    const own = new Float64Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
    for (const { startOffset, endOffset, count } of ranges) own.fill(count, startOffset, endOffset);
    const sum = this.#counts.get(file);
    if (sum === undefined) this.#counts.set(file, own);
    else for (const [offset, count] of own.entries()) sum[offset] = (sum[offset] ?? 0) + count;
  }
}

function stretches(counts: Float64Array): Range[] {
  const found: { startOffset: number; endOffset: number; count: number }[] = [];
  for (const [offset, count] of counts.entries()) {
    const last = found.at(-1);
    if (last?.count === count) last.endOffset = offset + 1;
    else found.push({ startOffset: offset, endOffset: offset + 1, count });
  }
  return found;
}

function readScripts(path: string): readonly Script[] | undefined {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { result: readonly Script[] }).result;
  } catch {
    return undefined;
  }
}
