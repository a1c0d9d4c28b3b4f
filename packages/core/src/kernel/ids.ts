import { invalid, ReeveError } from './errors.ts';
import type { Randomness } from './ports.ts';

/** The three tiers of tenancy. Org and team may be empty; the agent may not. */
export interface AgentId {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

/** An agent's registry key: ids hold no `/`, so the joined text is unambiguous. */
export type AgentKey = string & { readonly brand: 'AgentKey' };

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const idRule = '1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit';

export function isId(text: string): boolean {
  return idPattern.test(text);
}

export function agentKey(id: AgentId): AgentKey {
  return `${id.orgId}/${id.teamId}/${id.agentId}` as AgentKey;
}

/** Checks the claimed triple; `field` names it in the error. */
export function parseAgentId(id: AgentId | undefined, field = 'agent_id'): AgentId {
  if (id === undefined || id.agentId === '') throw invalid(`${field}.agent_id`, 'must not be empty');
  if (!isId(id.agentId)) throw invalid(`${field}.agent_id`, `must be ${idRule}`);
  if (id.orgId !== '' && !isId(id.orgId)) throw invalid(`${field}.org_id`, `must be empty or ${idRule}`);
  if (id.teamId !== '' && !isId(id.teamId)) throw invalid(`${field}.team_id`, `must be empty or ${idRule}`);
  return id;
}

/** The parts of an operation's id. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** No `:`, so that an operation's id is unambiguous. */
const traceIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Both ids must be well formed, or both empty. */
export function checkTraceIds({ traceId, spanId }: TraceIds): void {
  if (traceId === '' && spanId === '') return;
  checkTraceId('trace_id', traceId);
  checkTraceId('span_id', spanId);
}

function checkTraceId(field: string, text: string): void {
  if (traceIdPattern.test(text)) return;
  throw invalid(field, 'must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-" (or leave both ids empty)');
}

/** Splits an operation's id into its parts. */
export function traceIdsIn(opId: string): TraceIds {
  const at = opId.indexOf(':');
  return at < 0 ? { traceId: opId, spanId: '' } : { traceId: opId.slice(0, at), spanId: opId.slice(at + 1) };
}

/** The given ids, or new ones if there are none. */
export function traceIdsOf({ traceId, spanId }: TraceIds, randomness: Randomness): TraceIds {
  return traceId === '' ? { traceId: randomness.hex(16), spanId: randomness.hex(8) } : { traceId, spanId };
}

/** An operation as a caller names it. Without an agent, any agent's operation of this id may be meant. */
export interface NamedOp {
  readonly opId: string;
  readonly agent: AgentId | undefined;
}

/** Reads `trace:span`, or `org/team/agent/trace:span` with `-` for an empty org or team. */
export function parseOpPath(path: string): NamedOp | undefined {
  const [org = '', team, agentId, opId, ...rest] = path.split('/');
  if (org === path) return { opId: path, agent: undefined };
  if (team === undefined || agentId === undefined || opId === undefined || rest.length > 0) return undefined;
  return { opId, agent: { orgId: emptyOr(org), teamId: emptyOr(team), agentId } };
}

/** The path that means this operation and no other. */
export function opPath({ orgId, teamId, agentId }: AgentId, opId: string): string {
  return `${orgId || '-'}/${teamId || '-'}/${agentId}/${opId}`;
}

/** How many candidates the error for an ambiguous id names. */
const mostCandidates = 20;

/** Several agents have an operation of this id. `owners` are those that the caller may see. */
export function ambiguousOp(opId: string, owners: readonly AgentId[]): ReeveError {
  return new ReeveError(
    'ambiguous_op',
    `${owners.length} agents have an operation "${opId}"; say whose as org/team/agent/${opId}`,
    { candidates: owners.slice(0, mostCandidates).map((owner) => opPath(owner, opId)) },
  );
}

function emptyOr(part: string): string {
  return part === '-' ? '' : part;
}
