import { ReeveError } from '@reeve/core';

/** Classes of PostgreSQL's errors that say that the server cannot serve now, whatever the statement was. */
const outages = [
  '08', // connection
  '28', // not let in
  '53', // out of memory, disk or connections
  '57', // shut down, cancelled, timed out
  '58', // the system below it failed
  'XX', // damaged
];
/** Others of the same kind within other classes. */
const singleOutages: ReadonlySet<string> = new Set([
  '25006', // read only, as a replica is
  '25P03', // idle in a transaction for too long
  '3D000', // the database is gone
  '55P03', // a lock was not to be had in time
]);

/** Whether the server, the network or the disk is the problem, and not the statement. */
export function isOutage(error: unknown): boolean {
  const state = stateOf(error);
  if (state === undefined) return !(error instanceof TypeError);
  return outages.some((outage) => state.startsWith(outage)) || singleOutages.has(state);
}

/** Whether the connection has ended: what was sent on it may have been done or not. */
export function isLostConnection(error: unknown): boolean {
  const state = stateOf(error);
  if (state === undefined) return !(error instanceof TypeError);
  // The server's own word, as where it shuts down; any other says that what was sent is not done.
  return state.startsWith('08') || state.startsWith('57P');
}

/** The five characters by which PostgreSQL tells errors apart. What comes from the network has a code of Node's, as ECONNREFUSED, or none. */
function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** The caller learns that the store fails; the log of the gateway gets the cause, too. */
export function explain(error: unknown): unknown {
  if (error instanceof ReeveError || !isOutage(error)) return error;
  const failure = new ReeveError('store_unavailable', 'the database cannot be read or written');
  failure.cause = error;
  return failure;
}
