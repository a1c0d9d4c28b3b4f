import type { z } from 'zod';
import type { ProblemCode } from './problem.ts';

/** Who may call a route. */
export type Access =
  | 'public'
  /** An API key itself, not a JWT made from one. */
  | 'api_key'
  /** Any credential. */
  | 'any'
  | 'read'
  | 'write'
  | 'admin';

/**
 * What a tenant's credential meets here. There is no default: a route without an answer does not compile, and the tenancy
 * test tries every route against two tenants by this word.
 */
export type Tenancy =
  /** Holds nothing of any tenant. */
  | 'none'
  /** Shows and touches only what is the caller's own. */
  | 'own'
  /** Belongs to credentials that are bound to no tenant. */
  | 'unbound';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces, as OpenAPI writes it. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly tenancy: Tenancy;
  /** Which limit its calls count against; `exempt` for health and metrics. */
  readonly limit?: 'auth' | 'exempt';
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly body?: z.ZodType;
    /** The media types it may come in, where it is not JSON. */
    readonly types?: readonly string[];
  };
  /** Problems beyond those that every route may answer. */
  readonly problems: readonly ProblemCode[];
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** What a handler of a route is given, already checked. */
export interface RouteInput<Definition extends Route> {
  readonly params: Parsed<Definition['params']>;
  readonly query: Parsed<Definition['query']>;
  readonly body: Parsed<Definition['body']>;
}

/** What it answers with. */
export type RouteOutput<Definition extends Route> = Definition['success'] extends { body: infer Body }
  ? Body extends z.ZodType
    ? z.input<Body>
    : undefined
  : undefined;

/** The problems that a route may answer with because of what every such route does. */
export function commonProblems(route: Route): ProblemCode[] {
  const problems: ProblemCode[] = ['internal', 'bad_request'];
  if (route.access !== 'public') problems.push('unauthenticated', 'store_unavailable');
  if (['read', 'write', 'admin'].includes(route.access)) problems.push('insufficient_scope');
  if (route.tenancy === 'unbound') problems.push('tenant_bound');
  if (route.limit !== 'exempt') problems.push('rate_limited');
  // A body can be sent to a route that takes none; it is read, and refused.
  const readsBody = route.method !== 'GET';
  if (route.params !== undefined || route.query !== undefined || readsBody) problems.push('validation_failed');
  if (readsBody) problems.push('malformed_json', 'unsupported_media_type', 'payload_too_large', 'request_timeout');
  return problems;
}
