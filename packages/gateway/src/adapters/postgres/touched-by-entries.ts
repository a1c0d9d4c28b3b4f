import type { Touched } from '@reeve/core';
import { agentKey, optionalTextIn, textIn } from '@reeve/core';
import type { SqlSession } from '../sql/sql-database.ts';

/** Beyond so many agents and orgs, it is everybody. */
const mostNamed = 1000;

/**
 * Whose state a commit has changed, by the entries that it wrote. Whatever a decision may rest on has an entry, which
 * names the agent, the org, or nobody if it concerns everybody.
 */
export async function touchedByEntries(sql: Pick<SqlSession, 'all'>, after: number, through: number): Promise<Touched> {
  const rows = await sql.all(
    `SELECT DISTINCT org_id, team_id, agent_id FROM audit WHERE seq > ? AND seq <= ? LIMIT ${mostNamed + 1}`,
    after,
    through,
  );
  const named = rows.map((row) => ({
    orgId: optionalTextIn(row, 'org_id') ?? '',
    teamId: textIn(row, 'team_id'),
    agentId: textIn(row, 'agent_id'),
  }));
  return {
    agents: named.filter(({ agentId }) => agentId !== '').map(agentKey),
    orgs: named.filter(({ agentId }) => agentId === '').flatMap(({ orgId }) => (orgId === '' ? [] : [orgId])),
    everything: rows.length > mostNamed || named.some(({ orgId, agentId }) => orgId === '' && agentId === ''),
  };
}
