import type { AuditQuery } from '@reeve/core';
import { frequentEvents } from '../sql/log-segment.ts';
import type { SqlValue } from '../sql/sql-database.ts';
import { isRareEvent } from './postgres-schema.ts';
import { spelledInAnyCase } from './spelling.ts';

/** The first and the last entry, both included. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
}

/** A search for text reads entry by entry, so one page looks at no more than this many. */
export const mostSearched = 200_000;

/**
 * The SQL that finds the entries of a page, with their sizes. Its last value is the limit. It checks every condition on
 * the entry itself.
 */
export function auditSelect(
  query: AuditQuery,
  newestFirst: boolean,
  { low, high }: Stretch,
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const { user } = query;
  if (user === undefined) return oneSelect(query, newestFirst, { low, high });
  // Each half has its own index, and ends at the limit.
  const halves = [
    oneSelect(query, newestFirst, { low, high }, ['user_sub = ?', user]),
    oneSelect(query, newestFirst, { low, high }, ['user_email = ?', user.toLowerCase()]),
  ];
  const sql = `SELECT seq, size FROM (${halves.map((half) => `(${half.sql})`).join(' UNION ')}) AS either
    ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`;
  return { sql, values: halves.flatMap(({ values }) => [...values, query.limit + 1]) };
}

function oneSelect(
  query: AuditQuery,
  newestFirst: boolean,
  { low, high }: Stretch,
  half?: readonly [condition: string, value: string],
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const narrow = (condition: string, ...given: (string | number | undefined)[]) => {
    const present = given.filter((value) => value !== undefined);
    if (present.length < given.length) return;
    conditions.push(condition);
    values.push(...present);
  };
  const indexed = isIndexed(query);
  // The indexes are ordered by -seq, and the log itself by seq.
  if (indexed) narrow('-seq BETWEEN ? AND ?', -high, -low);
  else narrow('seq BETWEEN ? AND ?', low, high);
  if (half !== undefined) narrow(...half);
  if (query.orClaimedOrgId === undefined) narrow('org_id = ?', query.orgId);
  else narrow('(org_id = ? OR claimed_org_id = ?)', query.orgId, query.orClaimedOrgId);
  narrow('team_id = ?', query.teamId);
  narrow('agent_id = ?', query.agentId);
  if (query.agentId !== undefined && query.agentId !== '') narrow(`agent_id <> ''`);
  narrow('event_type = ?', query.eventType);
  if (query.eventType !== undefined && isRare(query.eventType)) narrow(isRareEvent);
  narrow('decision = ?', query.decision);
  narrow('op_id = ?', query.opId);
  narrow('run = ?', query.run);
  narrow('at >= ?', query.from);
  narrow('at < ?', query.to);
  if (query.q !== undefined) {
    const text = asWritten(query.q);
    if (isAscii(text)) narrow('strpos(lower(canonical), ?) > 0', text);
    else narrow('canonical ~ ?', spelledInAnyCase(text));
  }
  const order = indexed ? `-seq ${newestFirst ? 'ASC' : 'DESC'}` : `seq ${newestFirst ? 'DESC' : 'ASC'}`;
  const sql = `SELECT seq, octet_length(canonical) AS size FROM audit WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  return { sql, values };
}

/** Whether an index finds the page faster than reading the log. */
function isIndexed(query: AuditQuery): boolean {
  return (
    query.opId !== undefined ||
    query.run !== undefined ||
    query.user !== undefined ||
    (query.agentId !== undefined && query.agentId !== '') ||
    (query.eventType !== undefined && isRare(query.eventType)) ||
    (query.orgId !== undefined && query.orClaimedOrgId === undefined)
  );
}

function isRare(eventType: string): boolean {
  return !frequentEvents.includes(eventType);
}

/** A text as it is written inside canonical JSON, in lower case. */
function asWritten(q: string): string {
  return JSON.stringify(q).slice(1, -1).toLowerCase();
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}
