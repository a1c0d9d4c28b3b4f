import { UsageError } from '../cli-error.ts';
import type { Shell } from '../shell.ts';

/** `reeve demo-part …`: what the demo starts in processes of their own. Nobody types it, so help does not list it. */
export async function playPart(
  shell: Pick<Shell, 'stdin' | 'stdout'>,
  [part, ...words]: readonly string[],
  run: (words: readonly string[]) => Promise<number>,
): Promise<number> {
  if (part === 'tickets') {
    await (await import('./doors/tickets-server.ts')).serveTickets(shell.stdin, shell.stdout);
    return 0;
  }
  if (part === 'until-input-ends') {
    // Whatever ends the demo ends this input, and so what was started here.
    shell.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
    return run(words);
  }
  throw new UsageError('"reeve demo" starts this by itself');
}
