import { setTimeout as sleep } from 'node:timers/promises';
import { ignoredAtStart } from './jail/group-signals.ts';
import type { Keeper } from './keeper.ts';
import { hasShell } from './kernel/job-control.ts';

/** Sent by people and programs to this process, and meant for the program. */
const passedOn = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** Sent by the terminal to the whole group in its foreground. On a terminal the program is in it. */
const fromTerminal = ['SIGINT', 'SIGQUIT', 'SIGWINCH'] as const;
const suspending = ['SIGTSTP', 'SIGTTIN', 'SIGTTOU'] as const;

/** How long a program may take to put its terminal in order before it is stopped. */
const tidyMs = 500;
const roundMs = 10;
/** How soon it is noticed that a program has stopped itself, as editors do for the key that suspends. */
const lookMs = 100;

export interface PassedSignals extends Disposable {
  /** Whether the key that interrupts was pressed on the terminal that the program shares. */
  readonly wereInterrupting: boolean;
}

/**
 * Passes signals on to the program as if it had been started without Reeve. `catchUp` reads what has come while all of it was
 * stopped.
 */
export function passSignals(keeper: Keeper, onTerminal: boolean, catchUp: () => Promise<void>): PassedSignals {
  const tell = (name: NodeJS.Signals) => keeper.tellProgram(name);
  let wereInterrupting = false;
  const hear = onTerminal ? (name: NodeJS.Signals) => void (wereInterrupting ||= name === 'SIGINT') : tell;
  let isSuspending = false;
  const suspend = () => {
    // As the kernel has it: a job that nobody could continue is not stopped by keys.
    if (isSuspending || keeper.isEnding || !mayHaveShell()) return;
    isSuspending = true;
    void suspendWith(keeper, onTerminal, catchUp)
      // What cannot be held is not left alone.
      .catch(() => keeper.release('terminal'))
      .finally(() => (isSuspending = false));
  };
  const again = () => keeper.again();
  const look = () => {
    if (!isSuspending && keeper.hasProgramStoppedItself) suspend();
  };
  const watch = onTerminal ? setInterval(look, lookMs).unref() : undefined;
  const listeners: readonly (readonly [NodeJS.Signals, (name: NodeJS.Signals) => void])[] = [
    ...passedOn.map((name) => [name, tell] as const),
    ...fromTerminal.map((name) => [name, hear] as const),
    ...suspending.map((name) => [name, suspend] as const),
    ['SIGCONT', again],
  ];
  const heard = listeners.filter(([name]) => !ignoredAtStart.has(name));
  for (const [name, listener] of heard) process.on(name, listener);
  return {
    get wereInterrupting() {
      return wereInterrupting;
    },
    [Symbol.dispose]: () => {
      clearInterval(watch);
      for (const [name, listener] of heard) process.off(name, listener);
    },
  };
}

/** Without descriptors nobody knows, and the person has pressed the key. */
function mayHaveShell(): boolean {
  try {
    return hasShell();
  } catch {
    return true;
  }
}

/** Stops everything, itself last. Whatever ignores the key is stopped as well: nobody would be there to control it. */
async function suspendWith(keeper: Keeper, onTerminal: boolean, catchUp: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + (onTerminal ? tidyMs : 0);
  while (!keeper.hasStopped && performance.now() < deadline) await sleep(roundMs);
  await keeper.hold('terminal');
  // Whoever ends the program must not stop before it has.
  if (keeper.isEnding) return;
  process.kill(process.pid, 'SIGSTOP');
  // The shell has continued the whole job, and so the program as well: it stands still again until it is known that it may run.
  await keeper.hold('terminal');
  await catchUp();
  // What had stopped itself is part of the job that goes on, whatever group it is in.
  if (keeper.release('terminal') !== undefined) keeper.tellProgram('SIGCONT');
}
