import type { Principal } from '../access/principal.ts';
import { latestLogs } from '../logs/read-logs.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import { recordedDecision } from './recorded-decision.ts';
import type { AuditReader } from '../audit/audit-reader.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { agentKey } from '../kernel/agent-id.ts';

const perPage = 500;
/** An operation that was checked again and again has as many entries; so many of them are looked at. */
const mostPages = 100;
const mostCandidates = 20;

/**
 * The newest decision about an operation that is no replay, among those the caller may see: `trace:span`, or
 * `org/team/agent/trace:span` with `-` for an empty org or team. It is found in the log, so operations that are long over
 * are found, too.
 */
export async function findDecision(log: AuditReader, by: Principal, id: string): Promise<RecordedDecision> {
  const asked = readId(id);
  const found = asked === undefined ? [] : await decisionsOf(log, by, asked);
  const [decision] = found;
  if (decision === undefined) throw new ReeveError('decision_not_found', `there is no decision about "${id}"`);
  if (found.length === 1) return decision;
  throw new ReeveError(
    'ambiguous_op',
    `${found.length} agents have an operation "${id}"; say whose as org/team/agent/${id}`,
    { candidates: found.slice(0, mostCandidates).map(fullId) },
  );
}

interface AskedOp {
  readonly opId: string;
  readonly agent: AgentId | undefined;
}

function readId(id: string): AskedOp | undefined {
  const [org = '', team, agentId, opId, ...rest] = id.split('/');
  if (org === id) return { opId: id, agent: undefined };
  if (team === undefined || agentId === undefined || opId === undefined || rest.length > 0) return undefined;
  return { opId, agent: { orgId: emptyOr(org), teamId: emptyOr(team), agentId } };
}

/** The newest decision of each agent that has an operation of this id. */
async function decisionsOf(log: AuditReader, by: Principal, { opId, agent }: AskedOp): Promise<RecordedDecision[]> {
  const found = new Map<string, RecordedDecision>();
  const filter = { opId, limit: perPage, ...(agent === undefined ? {} : { agentId: agent.agentId }) };
  let before: number | null | undefined;
  for (let page = 0; page < mostPages && before !== null; page++) {
    const { entries, next }: Awaited<ReturnType<typeof latestLogs>> = await latestLogs(
      log,
      by,
      before === undefined ? filter : { ...filter, before },
    );
    for (const entry of entries) {
      const decision = recordedDecision(entry);
      if (decision === undefined || found.has(agentKey(decision.agent))) continue;
      if (agent === undefined || agentKey(agent) === agentKey(decision.agent)) {
        found.set(agentKey(decision.agent), decision);
      }
    }
    if (agent !== undefined && found.size > 0) break;
    before = next;
  }
  return [...found.values()];
}

function emptyOr(part: string): string {
  return part === '-' ? '' : part;
}

function fullId({ agent: { orgId, teamId, agentId }, opId }: RecordedDecision): string {
  return `${orgId || '-'}/${teamId || '-'}/${agentId}/${opId}`;
}
