import { z } from 'zod';
import type { Route } from '../route.ts';
import { auditEntryJson, logFilters, paging, wholeNumber } from '../schemas.ts';

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
} as const satisfies Record<string, Route>;
