import type { Client } from 'pg';
import type { Statement } from './statement.ts';

/** Sends all statements without waiting in between; the first failure rolls all back. */
export async function commitAll(client: Client, statements: readonly Statement[]): Promise<void> {
  const sent = [...statements.map((statement) => client.query(statement)), client.query('COMMIT')];
  const settled = await Promise.allSettled(sent);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const last = settled.at(-1);
  if (last?.status !== 'fulfilled' || last.value.command !== 'COMMIT')
    throw new Error('the transaction was taken back');
}
