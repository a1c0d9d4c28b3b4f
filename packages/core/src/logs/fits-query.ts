import type { AuditQuery } from '../audit/index.ts';

/** What a query compares of an entry: the columns of its row, and its text. */
export interface SearchedEntry {
  readonly seq: number;
  readonly at: number;
  readonly event_type: string;
  readonly org_id: string | null;
  readonly team_id: string;
  readonly agent_id: string;
  readonly op_id: string | null;
  readonly decision: string | null;
  readonly claimed_org_id: string | null;
  readonly user_sub: string | null;
  /** In lower case. */
  readonly user_email: string | null;
  readonly run: string | null;
  readonly canonical: string;
}

/** Whether an entry is among those that a query asks for. The text comes last: reading it takes longest. */
export function fitsQuery(entry: SearchedEntry, query: Omit<AuditQuery, 'limit'>): boolean {
  const claimed = query.orClaimedOrgId !== undefined && entry.claimed_org_id === query.orClaimedOrgId;
  return (
    (query.before === undefined || entry.seq < query.before) &&
    (query.after === undefined || entry.seq > query.after) &&
    (claimed || query.orgId === undefined || entry.org_id === query.orgId) &&
    (query.teamId === undefined || entry.team_id === query.teamId) &&
    (query.agentId === undefined || entry.agent_id === query.agentId) &&
    (query.eventType === undefined || entry.event_type === query.eventType) &&
    (query.decision === undefined || entry.decision === query.decision) &&
    (query.opId === undefined || entry.op_id === query.opId) &&
    (query.user === undefined || isFor(entry, query.user)) &&
    (query.run === undefined || entry.run === query.run) &&
    (query.from === undefined || entry.at >= query.from) &&
    (query.to === undefined || entry.at < query.to) &&
    (query.q === undefined || holdsText(entry.canonical, query.q))
  );
}

/** What says where a page lies, and not what is in it. */
const places: ReadonlySet<string> = new Set(['before', 'after', 'limit'] satisfies (keyof AuditQuery)[]);

/** Whether a query asks for every entry of a stretch, whatever is in it. */
export function asksForAll(query: AuditQuery): boolean {
  return Object.entries(query).every(([name, value]) => value === undefined || places.has(name));
}

function isFor({ user_sub: sub, user_email: email }: SearchedEntry, wanted: string): boolean {
  return sub === wanted || email === wanted.toLowerCase();
}

/** Whether the text of an entry contains `q`, in any letter case. Rows and packed entries are searched by this alone. */
export function holdsText(canonical: string, q: string): boolean {
  return canonical.toLowerCase().includes(JSON.stringify(q).slice(1, -1).toLowerCase());
}
