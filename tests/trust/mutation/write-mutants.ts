// A Stryker reporter that writes each mutant as soon as it was tried, so that findings survive a timeout.
import { appendFileSync } from 'node:fs';
import type { Mutant, MutantStatus } from './stryker.ts';

interface Tried {
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: MutantStatus;
  readonly location: { readonly start: { readonly line: number } };
}

const reporter = {
  onMutantTested({ fileName, mutatorName, replacement = '', status, location }: Tried): void {
    const mutant: Mutant = { file: fileName, line: location.start.line, mutator: mutatorName, replacement, status };
    appendFileSync(process.env['REEVE_MUTANTS'] ?? 'mutants.jsonl', `${JSON.stringify(mutant)}\n`);
  },
};

export const strykerPlugins = [{ kind: 'Reporter', name: 'write-mutants', value: reporter }];
