import type { Shell } from '../shell.ts';
import { readLine } from './read-line.ts';

/** Asks a yes-or-no question on stderr. Anything but yes is no. */
export async function confirm(shell: Shell, question: string): Promise<boolean> {
  shell.stderr.write(`${question} [y/N] `);
  const answer = await readLine(shell);
  if (!shell.stdin.isTTY) shell.stderr.write('\n');
  return /^(y|yes)$/i.test(answer.trim());
}
