import type { Shell } from '../shell.ts';
import { readLine } from './read-line.ts';

/** Asks a question on stderr that is answered by yes or no; anything but yes is no. */
export async function confirm(shell: Shell, question: string): Promise<boolean> {
  shell.stderr.write(`${question} [y/N] `);
  const answer = await readLine(shell);
  if (!shell.stdin.isTTY) shell.stderr.write('\n');
  return /^(y|yes)$/i.test(answer.trim());
}
