import type { AuditQuery } from '@reeve/core';
import type { Kind } from './log-segment.ts';
import { frequentEvents, orgUser } from './log-segment.ts';

export interface Select {
  /** With an index, it is asked for each entry that this names, one by one. */
  readonly index: Index | undefined;
  readonly newestFirst: boolean;
  readonly sql: string;
  /** The first and the last entry, and all other values but the limit, which comes last. */
  readonly values: readonly [low: number, high: number, ...conditions: (string | number)[]];
}

/** A stretch of the log. With an index, only the entries that it names are looked at. */
export interface Part {
  readonly index: Index | undefined;
  readonly low: number;
  readonly high: number;
}

export interface Bounds {
  readonly low: number;
  readonly high: number;
  /** The last entry that is indexed. */
  readonly indexed: number;
  /** The last entry that is packed. Later ones are rows. */
  readonly packed: number;
}

export interface Plan {
  /** Rows, read one after the other until the page is full. */
  readonly selects: readonly Select[];
  /** Packed entries. They are older than all rows. */
  readonly packed: readonly Part[];
  /** Where the next page starts although this one is not full; null if the log was read to its end. */
  readonly next: number | null;
}

/** A search for text reads entry by entry, so one page looks at no more than this many. */
const mostSearched = 200_000;

/**
 * How to read the log. The narrowest index finds the indexed part; the newest part, not indexed yet, is read entry by
 * entry. Either way every condition is checked on the entry itself.
 */
export function plan(query: AuditQuery, newestFirst: boolean, bounds: Bounds): Plan {
  const { low, high, next } = query.q === undefined ? { ...bounds, next: null } : searched(bounds, newestFirst);
  const { indexed, packed } = bounds;
  const index = indexFor(query);
  const tail = { index: undefined, low: Math.max(low, indexed + 1), high };
  const parts = [tail, { index, low, high: Math.min(high, indexed) }];
  if (!newestFirst) parts.reverse();
  return {
    selects: parts.map((part) => select(query, { ...part, low: Math.max(part.low, packed + 1) }, newestFirst)),
    packed: parts.map((part) => ({ ...part, high: Math.min(part.high, packed) })),
    next,
  };
}

function searched(bounds: { readonly low: number; readonly high: number }, newestFirst: boolean) {
  const { low, high } = bounds;
  if (high - low < mostSearched) return { low, high, next: null };
  return newestFirst
    ? { low: high - mostSearched + 1, high, next: high - mostSearched + 1 }
    : { low, high: low + mostSearched - 1, next: low + mostSearched - 1 };
}

/** What the directory is asked for. */
export interface Index {
  readonly kind: Kind;
  readonly value: string;
  /** No block is opened for entries of other orgs: where a page ends would tell of them. */
  readonly orgId?: string;
}

function indexFor(query: AuditQuery): Index | undefined {
  const index = narrowestIndex(query);
  const { orgId, orClaimedOrgId } = query;
  return index === undefined || orgId === undefined || orClaimedOrgId !== undefined ? index : { ...index, orgId };
}

function narrowestIndex(query: AuditQuery): Index | undefined {
  // Claims of an org stand in any org, so no index is narrowed to it: one by user or agent would tell what they did elsewhere.
  const event = eventIndex(query);
  if (query.orClaimedOrgId !== undefined && event !== undefined) return event;
  if (query.opId !== undefined) return { kind: 'op', value: query.opId };
  if (query.run !== undefined) return { kind: 'run', value: query.run };
  if (query.user !== undefined) return userIndex(query.user.toLowerCase(), query);
  // Entries about no agent are not indexed by agent.
  if (query.agentId !== undefined && query.agentId !== '') {
    return { kind: 'agent', value: query.agentId };
  }
  if (event !== undefined) return event;
  // The index of an org lacks entries of other orgs in which this org was claimed.
  if (query.orgId !== undefined && query.orClaimedOrgId === undefined) {
    return { kind: 'org', value: query.orgId };
  }
  return undefined;
}

function eventIndex({ eventType }: AuditQuery): Index | undefined {
  if (eventType === undefined || frequentEvents.includes(eventType)) return undefined;
  return { kind: 'event', value: eventType };
}

/** Within an org, its own entries alone are looked at: how long that takes must not tell what somebody did in another one. */
function userIndex(user: string, { orgId, orClaimedOrgId }: AuditQuery): Index {
  return orgId === undefined || orClaimedOrgId !== undefined
    ? { kind: 'user', value: user }
    : { kind: 'org user', value: orgUser(orgId, user) };
}

function select(query: AuditQuery, { index, low, high }: Part, newestFirst: boolean): Select {
  const conditions = ['a.seq BETWEEN ? AND ?'];
  const values: (string | number)[] = [];
  const narrow = (condition: string, ...given: (string | number | undefined)[]) => {
    const present = given.filter((value) => value !== undefined);
    if (present.length < given.length) return;
    conditions.push(condition);
    values.push(...present);
  };
  if (query.orClaimedOrgId === undefined) narrow('a.org_id = ?', query.orgId);
  else narrow('(a.org_id = ? OR a.claimed_org_id = ?)', query.orgId, query.orClaimedOrgId);
  narrow('a.team_id = ?', query.teamId);
  narrow('a.agent_id = ?', query.agentId);
  narrow('a.event_type = ?', query.eventType);
  narrow('a.decision = ?', query.decision);
  narrow('a.op_id = ?', query.opId);
  narrow('a.run = ?', query.run);
  narrow('(a.user_sub = ? OR a.user_email = ?)', query.user, query.user?.toLowerCase());
  narrow('a.at >= ?', query.from);
  narrow('a.at < ?', query.to);
  narrow('holds_text(a.canonical, ?)', query.q);
  const sql = `SELECT a.seq, a.hash, a.canonical FROM main.audit a WHERE ${conditions.join(' AND ')}
    ORDER BY a.seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`;
  return { index, newestFirst, sql, values: [low, high, ...values] };
}
