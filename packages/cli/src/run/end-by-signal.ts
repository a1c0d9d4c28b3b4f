import { ignoredAtStart } from './jail/group-signals.ts';

const ending = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;

/** Until the program begins, a signal ends this process, as without a listener, but only once all is left in order. */
export function endBySignal(leave: () => Promise<unknown>): Disposable {
  const heard = ending.filter((name) => !ignoredAtStart.has(name));
  const dispose = () => {
    for (const name of heard) process.off(name, end);
  };
  const end = (name: NodeJS.Signals) => {
    // The next one ends it at once.
    dispose();
    const endNow = () => {
      // Whoever listens by now would pass it on to a program that does not begin any more.
      process.removeAllListeners(name);
      process.kill(process.pid, name);
    };
    leave().then(endNow, endNow);
  };
  for (const name of heard) process.on(name, end);
  return { [Symbol.dispose]: dispose };
}
