import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '../harness/postgres.ts';

export interface Written {
  /** What other gateways are told. */
  readonly told: string;
  /** The agent in acme/core whose entry the commit writes, if any. */
  readonly entryOf?: string;
}

/** Makes a commit as no gateway would. */
export async function commitByHand(database: TestDatabase, { told, entryOf = '' }: Written): Promise<void> {
  const hash = randomBytes(32).toString('hex');
  const lineage = `{"agent_id":"${entryOf}","depth":0,"org_id":"acme","parent_agent_id":null,"root_agent_id":"${entryOf}","team_id":"core"}`;
  const canonical = `{"actor":{},"at":"2026-01-01T00:00:00.000Z","event_type":"AgentSuspended","lineage":${lineage},"op_id":null,"payload":{}}`;
  await database.query(
    `WITH moved AS (
        UPDATE chain SET version = version + 1 ${entryOf === '' ? '' : `, seq = seq + 1, hash = '${hash}'`}
        RETURNING version, seq, hash, events
      ), noted AS (
        INSERT INTO commits SELECT version, 'by hand/' || version, seq, hash, events, $1 FROM moved)
      INSERT INTO audit (seq, at, event_type, org_id, team_id, agent_id, hash, canonical)
      SELECT seq, 0, 'AgentSuspended', 'acme', 'core', $2, hash, $3 FROM moved WHERE $2 <> ''`,
    [told, entryOf, canonical],
  );
}
