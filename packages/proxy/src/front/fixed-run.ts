/**
 * Reads `run` of a proxy's file. `fixed` means that the run is what the proxy knows of the caller, whatever the caller
 * says: an agent that could choose its run would leave the labels of the former one behind.
 */
export function readFixedRun(value: unknown, at: string, fail: (message: string) => never): boolean {
  if (value === undefined || value === null) return false;
  return value === 'fixed' ? true : fail(`${at} must be "fixed", or be left out`);
}
