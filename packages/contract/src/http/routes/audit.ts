import { z } from 'zod';
import type { Route } from '../route.ts';
import { agentIdJson, auditEntryJson, logFilters, paging, timestamp, userJson, wholeNumber } from '../schemas.ts';

const personJson = z.object({
  user: userJson,
  last_at: timestamp,
  allow: z.int(),
  deny: z.int(),
  pending: z.int(),
  /** At most five, those that acted last. */
  agents: z.array(agentIdJson),
  agent_count: z.int(),
});

/** The audit log. */
export const auditRoutes = {
  listLogs: {
    method: 'GET',
    path: '/api/v1/logs',
    tag: 'Audit log',
    summary: 'Audit entries, newest first.',
    access: 'read',
    tenancy: 'own',
    query: z.object({ ...logFilters, seq: wholeNumber(1).optional(), ...paging }),
    success: {
      status: 200,
      description: 'A page. With "q" a page may hold fewer entries than asked for and still have a next one.',
      body: z.object({ items: z.array(auditEntryJson), next_cursor: z.string().nullable() }),
    },
    problems: [],
  },
  exportLogs: {
    method: 'GET',
    path: '/api/v1/logs/export',
    tag: 'Audit log',
    summary: 'Audit entries, oldest first, of any number, as JSON lines or CSV.',
    access: 'read',
    tenancy: 'own',
    query: z.object({ ...logFilters, format: z.enum(['jsonl', 'csv']).default('jsonl') }),
    success: { status: 200, description: 'The entries, streamed.', types: ['application/x-ndjson', 'text/csv'] },
    problems: [],
  },
  listPeople: {
    method: 'GET',
    path: '/api/v1/people',
    tag: 'Audit log',
    summary:
      'The users for whom agents acted, who was seen last first: how many of their checks were allowed, denied and held for approval, and by which agents. A page counts a bounded number of entries, and "since" says how far back that reaches. The next page counts older entries, so a user may come again there: add the numbers up.',
    access: 'read',
    tenancy: 'own',
    query: z.object({
      org_id: logFilters.org_id,
      team_id: logFilters.team_id,
      user: logFilters.user,
      from: logFilters.from,
      to: logFilters.to,
      ...paging,
    }),
    success: {
      status: 200,
      description:
        'A page. It may hold fewer users than asked for, or none, and still have a next one. "since" is null if no older entry is left to count.',
      body: z.object({
        items: z.array(personJson),
        next_cursor: z.string().nullable(),
        since: timestamp.nullable(),
      }),
    },
    problems: [],
  },
} as const satisfies Record<string, Route>;
