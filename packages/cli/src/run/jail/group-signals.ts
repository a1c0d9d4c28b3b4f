import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** Signals that reach whole groups of processes, and end those that do not expect them. */
const groupSignals = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const;

/** What this process was started to ignore, as by `nohup`. The program ignores it, too. */
export const ignoredAtStart: ReadonlySet<NodeJS.Signals> = new Set(
  groupSignals.filter((name) => (ignoredMask() & (1n << BigInt(constants.signals[name] - 1))) !== 0n),
);

/** Those that the program gets as usual. */
export const heededSignals = groupSignals.filter((name) => !ignoredAtStart.has(name));

function ignoredMask(): bigint {
  try {
    return BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`);
  } catch {
    return 0n;
  }
}
