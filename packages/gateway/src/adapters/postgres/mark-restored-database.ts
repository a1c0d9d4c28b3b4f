import { numberIn } from '@reeve/core';
import { StartError } from '../../start-error.ts';
import { eventIdsAfter, restoredMarks } from '../sql/mark-restored.ts';
import { slotHolders } from './locks.ts';
import type { Membership } from './membership.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Above it are locks that belong to no slot. */
const lastSlot = 2 ** 31 - 1;

/**
 * Marks a database as restored, whatever restored it. What its gateways shared is no longer theirs: a copy of a
 * database that still has its gateways must not speak to them.
 */
export async function markRestoredDatabase(
  database: PostgresDatabase,
  { slot, id }: Pick<Membership, 'slot' | 'id'>,
  at: number,
): Promise<void> {
  const others = await database.all(
    `SELECT seat FROM (${slotHolders}) AS held WHERE seat <> ? AND seat < ?`,
    slot,
    lastSlot,
  );
  if (others.length > 0) {
    throw new StartError('--restored: another gateway runs on this SVC_DATABASE_URL; stop all of them, and start one');
  }
  await database.transaction([], async (sql) => {
    const [newest] = await sql.all('SELECT at FROM audit ORDER BY seq DESC LIMIT 1');
    for (const mark of restoredMarks(at, newest === undefined ? at : numberIn(newest, 'at'))) await sql.run(mark);
    await sql.run('UPDATE chain SET events = greatest(events, ?)', eventIdsAfter(at));
    // Their facts stay. No gateway stands on commits of these names.
    await sql.run(`UPDATE commits SET gateway = 'restored/' || version`);
    await sql.run('DELETE FROM tickets');
    await sql.run('DELETE FROM gateways WHERE id <> ?', id);
    await sql.run(`DELETE FROM meta WHERE name = 'cluster_secret'`);
  });
}
