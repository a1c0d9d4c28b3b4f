import { spawnSync } from 'node:child_process';

/** What the tool says of a history: nothing, or which part of it no order explains. */
export function faultsIn(program: string, lines: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync(program, { input: `${lines.join('\n')}\n`, encoding: 'utf8' });
  if (status === 0) return [];
  const told = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('checked '));
  return status === 1 ? told : [`the history cannot be read: ${stderr}`];
}
