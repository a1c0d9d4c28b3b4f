import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Colour = keyof typeof codes;

/** Whether to use colours: on a terminal, unless the user opted out. */
export function hasColours(shell: Shell): boolean {
  return shell.stdout.isTTY && variable(shell, 'NO_COLOR') === undefined && shell.env['TERM'] !== 'dumb';
}

export function paint(text: string, colour: Colour | undefined): string {
  if (colour === undefined) return text;
  const [on, off] = codes[colour];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
