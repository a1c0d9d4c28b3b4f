import { ReeveError } from '@reeve/core';

/** Classes of PostgreSQL errors that mean the server cannot serve now, whatever the statement was. */
const outages = [
  '08', // connection
  '28', // access denied
  '53', // out of memory, disk or connections
  '57', // shut down, cancelled, timed out
  '58', // system error
  'XX', // damaged
];
/** Outage codes within other classes. */
const singleOutages: ReadonlySet<string> = new Set([
  '25006', // read only, as a replica is
  '25P03', // idle in a transaction for too long
  '3D000', // the database is gone
  '55P03', // no lock in time
]);

/** Whether the cause is the server, the network or the disk, and not the statement. */
export function isOutage(error: unknown): boolean {
  const state = stateOf(error);
  if (state === undefined) return !(error instanceof TypeError);
  return outages.some((outage) => state.startsWith(outage)) || singleOutages.has(state);
}

/** Whether the connection has ended, so that its last statements may or may not have run. */
export function isLostConnection(error: unknown): boolean {
  const state = stateOf(error);
  if (state === undefined) return !(error instanceof TypeError);
  // These codes announce that the server ends the connection. Any other code says that the statement did not run.
  return state.startsWith('08') || state.startsWith('57P');
}

/** The five-character code of a PostgreSQL error. Network errors have a code of Node, such as ECONNREFUSED, or none. */
function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** The caller learns only that the store fails; the gateway's log gets the cause, too. */
export function explain(error: unknown): unknown {
  if (error instanceof ReeveError || !isOutage(error)) return error;
  const failure = new ReeveError('store_unavailable', 'the database cannot be read or written');
  failure.cause = error;
  return failure;
}
