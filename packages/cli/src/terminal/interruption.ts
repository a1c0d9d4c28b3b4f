/** Ends work cleanly when the process is told to stop. A second signal ends the process at once. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
}

export function onInterruption(): Interruption {
  const controller = new AbortController();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const forget = () => {
    for (const each of signals) process.off(each, stop);
  };
  const stop = () => {
    forget();
    controller.abort();
  };
  for (const each of signals) process.on(each, stop);
  return { signal: controller.signal, [Symbol.dispose]: forget };
}
