import { setTimeout as sleep } from 'node:timers/promises';
import { ignoredAtStart } from './jail/group-signals.ts';
import type { Keeper } from './keeper.ts';

/** Sent by people and programs to this process, and meant for the program. */
const passedOn = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
/** Sent by the terminal to the whole group in its foreground. On a terminal the program is in it. */
const fromTerminal = ['SIGINT', 'SIGQUIT', 'SIGWINCH'] as const;
const suspending = ['SIGTSTP', 'SIGTTIN', 'SIGTTOU'] as const;

/** How long a program may take to put its terminal in order before it is stopped. */
const tidyMs = 500;
const roundMs = 10;

/** Passes signals on to the program as if it had been started without Reeve. */
export function passSignals(keeper: Keeper, onTerminal: boolean): Disposable {
  const tell = (name: NodeJS.Signals) => keeper.tellProgram(name);
  const hear = onTerminal ? () => {} : tell;
  let isSuspending = false;
  const suspend = () => {
    if (isSuspending) return;
    isSuspending = true;
    void suspendWith(keeper, onTerminal).finally(() => (isSuspending = false));
  };
  const again = () => keeper.again();
  const listeners: readonly (readonly [NodeJS.Signals, (name: NodeJS.Signals) => void])[] = [
    ...passedOn.map((name) => [name, tell] as const),
    ...fromTerminal.map((name) => [name, hear] as const),
    ...suspending.map((name) => [name, suspend] as const),
    ['SIGCONT', again],
  ];
  const heard = listeners.filter(([name]) => !ignoredAtStart.has(name));
  for (const [name, listener] of heard) process.on(name, listener);
  return {
    [Symbol.dispose]: () => {
      for (const [name, listener] of heard) process.off(name, listener);
    },
  };
}

/** Stops everything, itself last. Whatever ignores the key is stopped as well: nobody would be there to control it. */
async function suspendWith(keeper: Keeper, onTerminal: boolean): Promise<void> {
  const deadline = performance.now() + (onTerminal ? tidyMs : 0);
  while (!keeper.hasStopped && performance.now() < deadline) await sleep(roundMs);
  await keeper.hold('terminal');
  process.kill(process.pid, 'SIGSTOP');
  keeper.release('terminal');
}
