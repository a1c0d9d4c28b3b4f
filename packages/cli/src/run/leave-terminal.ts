import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { isInForeground } from './kernel/job-control.ts';

const firstSignalCode = 128;

/**
 * Leaves the terminal as the program has set it, if it has ended by itself; and as others have set it, if it ran in their
 * background. Node puts back at its end what it found at its start, which is right only after a program that was killed. It
 * does so for streams that are still the same.
 */
export function leaveTerminal(code: number): void {
  if (code >= firstSignalCode && isInForeground()) return;
  for (const stream of [0, 1, 2]) {
    if (!isatty(stream)) continue;
    closeSync(stream);
    openSync('/dev/null', 'r+');
  }
}
