import type { RouteInput, Routes } from '@reeve/contract/http';
import type { AuditReader, LogFilter, Principal } from '@reeve/core';
import { entryJson, latestLogs, oldestLogs } from '@reeve/core';
import { readerOf, TenantSlots } from '../../../evaluation/tenant-slots.ts';
import { cursorOf, placeOf } from '../cursor.ts';
import { csvHeader, csvLine } from '../csv.ts';
import type { Handlers } from '../handler.ts';
import { RawAnswer } from '../handler.ts';
import { patienceMs, patientStream } from '../patient-stream.ts';

/** An export keeps one page of the log in memory, however slowly its client reads. */
const entriesPerStep = 200;
/** An export is sent in pieces of about so many characters. */
const pieceLength = 64 * 1024;
/** How many exports of a tenant may run at a time. */
const mostExports = 4;
const retryAfterSecs = 10;

export function logHandlers(log: AuditReader, newest: () => number): Pick<Handlers, 'listLogs' | 'exportLogs'> {
  const exports = new TenantSlots({ slots: mostExports, waitMs: 0, waiting: 0, what: 'exports', retryAfterSecs });
  return {
    listLogs: async ({ query }, { principal }) => {
      const { entries, next } =
        query.seq === undefined
          ? await latestLogs(log, principal, pageOf(query))
          : await oneEntry(log, principal, filterOf(query), query.seq);
      const items = entries.map(entryJson).join(',');
      return new RawAnswer(
        'application/json; charset=utf-8',
        `{"items":[${items}],"next_cursor":${JSON.stringify(cursorOf(next))}}`,
      );
    },
    exportLogs: async ({ query }, { principal }) => {
      const reader = readerOf(principal);
      await exports.take(reader);
      const filter = { ...filterOf(query), before: newest() + 1 };
      const csv = query.format === 'csv';
      const body = patientStream(lines(log, principal, filter, csv), patienceMs, () => exports.give(reader));
      const headers = { 'content-disposition': `attachment; filename="reeve-audit.${csv ? 'csv' : 'jsonl'}"` };
      return new RawAnswer(csv ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8', body, headers);
    },
  };
}

function pageOf(query: RouteInput<Routes['listLogs']>['query']): LogFilter {
  const before = placeOf(query.cursor);
  return { ...filterOf(query), ...(before === undefined ? {} : { before }), limit: query.per_page };
}

/** The entry with this sequence, if it fits the filter. */
async function oneEntry(log: AuditReader, by: Principal, filter: Omit<LogFilter, 'limit'>, seq: number) {
  const { entries } = await latestLogs(log, by, { ...filter, before: seq + 1, limit: 1 });
  return { entries: entries.filter((entry) => entry.seq === seq), next: null };
}

/** Reads page after page as the client takes them, so memory does not grow with the log. */
async function* lines(
  log: AuditReader,
  by: Principal,
  filter: Omit<LogFilter, 'limit'>,
  csv: boolean,
): AsyncGenerator<string> {
  if (csv) yield csvHeader;
  let after: number | null = 0;
  while (after !== null) {
    const { entries, next }: Awaited<ReturnType<typeof oldestLogs>> = await oldestLogs(log, by, {
      ...filter,
      after,
      limit: entriesPerStep,
    });
    let piece = '';
    for (const entry of entries) {
      piece += `${csv ? csvLine(entry) : entryJson(entry)}\n`;
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = '';
    }
    if (piece !== '') yield piece;
    after = next;
  }
}

type LogQuery = Omit<RouteInput<Routes['exportLogs']>['query'], 'format'>;

function filterOf(query: LogQuery): Omit<LogFilter, 'limit'> {
  return {
    ...(query.org_id === undefined ? {} : { orgId: query.org_id }),
    ...(query.team_id === undefined ? {} : { teamId: query.team_id }),
    ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }),
    ...(query.event_type === undefined ? {} : { eventType: query.event_type }),
    ...(query.decision === undefined ? {} : { decision: query.decision }),
    ...(query.op_id === undefined ? {} : { opId: query.op_id }),
    ...(query.user === undefined ? {} : { user: query.user }),
    ...(query.from === undefined ? {} : { from: Date.parse(query.from) }),
    ...(query.to === undefined ? {} : { to: Date.parse(query.to) }),
    ...(query.q === undefined ? {} : { q: query.q }),
  };
}
