import { z } from 'zod';
import type { Route } from '../route.ts';

const targetLag = z.object({
  target: z.int(),
  kind: z.enum(['otlp', 'syslog', 'https', 'file']),
  lag_entries: z.int(),
  lag_seconds: z.number(),
});

/** Whether the gateway lives, what it measures and how it describes itself. */
export const serviceRoutes = {
  healthz: {
    method: 'GET',
    path: '/healthz',
    tag: 'Service',
    summary: 'Whether the process lives.',
    access: 'public',
    tenancy: 'none',
    limit: 'exempt',
    success: { status: 200, description: 'It does.', body: z.object({ status: z.literal('ok') }) },
    problems: [],
  },
  readyz: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Whether the gateway can answer calls, with the state of each part. 503 if it cannot.',
    access: 'public',
    tenancy: 'none',
    limit: 'exempt',
    success: {
      status: 200,
      description: 'It can; "degraded" if something needs attention.',
      body: z.object({
        status: z.enum(['ok', 'degraded', 'failing']),
        draining: z.boolean(),
        version: z.string(),
        parts: z.record(
          z.string(),
          z.object({
            status: z.enum(['ok', 'degraded', 'failing']),
            detail: z.string(),
            /** How far each target of the audit log is behind, by its place in the configuration. */
            targets: z.array(targetLag).optional(),
          }),
        ),
      }),
    },
    problems: ['store_unavailable', 'shutting_down'],
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'Service',
    summary: 'Metrics in the text format of Prometheus.',
    access: 'public',
    tenancy: 'none',
    limit: 'exempt',
    success: { status: 200, description: 'The metrics.', types: ['text/plain'] },
    problems: [],
  },
  connection: {
    method: 'GET',
    path: '/api/v1/connection',
    tag: 'Service',
    summary: 'Where agents reach this gateway.',
    access: 'read',
    tenancy: 'none',
    success: {
      status: 200,
      description: 'The address for gRPC, and whether it takes TLS.',
      body: z.object({ grpc_addr: z.string(), tls: z.boolean() }),
    },
    problems: [],
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This description of the API, as OpenAPI 3.1.',
    access: 'public',
    tenancy: 'none',
    success: { status: 200, description: 'The document.', body: z.record(z.string(), z.unknown()) },
    problems: [],
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This description of the API, to read.',
    access: 'public',
    tenancy: 'none',
    success: { status: 200, description: 'A page.', types: ['text/html'] },
    problems: [],
  },
} as const satisfies Record<string, Route>;
