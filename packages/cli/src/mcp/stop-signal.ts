/** Fires when the process is told to stop, with the name of the signal. A second signal ends the process at once. */
export function stopSignal(): AbortSignal & Disposable {
  const controller = new AbortController();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const forget = () => {
    for (const each of signals) process.off(each, stop);
  };
  const stop = (signal: NodeJS.Signals) => {
    forget();
    controller.abort(signal);
  };
  for (const each of signals) process.on(each, stop);
  return Object.assign(controller.signal, { [Symbol.dispose]: forget });
}
