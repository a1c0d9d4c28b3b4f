import { commandTable } from '../command-table.ts';
import { complete } from '../completion/complete.ts';
import { lookUpAt } from '../completion/look-up.ts';
import type { Shell } from '../shell.ts';

/** `reeve complete -- WORDS`: the shell scripts call it. Nobody types it, so help does not list it. */
export async function printCandidates(shell: Shell, words: readonly string[]): Promise<number> {
  const { words: candidates, files } = await complete(commandTable, words, lookUpAt(shell));
  const current = words.at(-1) ?? '';
  const fitting = candidates.filter(([word]) => word.startsWith(current));
  shell.stdout.write(files ? ':files\n' : fitting.map(([word, summary]) => `${word}\t${summary}\n`).join(''));
  return 0;
}
