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
  | 'unbound'
  /** About the account of the person who calls; an API key has none. */
  | 'person';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces, as OpenAPI writes it. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly tenancy: Tenancy;
  /** Needs an account store: without one it answers 503 before anything else. */
  readonly accounts?: true;
  /** Works with the refresh cookie, so a page of another origin may not call it. */
  readonly cookie?: true;
  /** Does not end by itself, and takes a single-use ticket in its query where there is no `Authorization`. */
  readonly stream?: 'websocket' | 'sse';
  /** Which limit its calls count against; `exempt` for health and metrics. */
  readonly limit?: 'auth' | 'exempt';
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** The headers that mean something here, by name in lower case. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly body?: z.ZodType;
    /** The media types it may come in, where it is not JSON. */
    readonly types?: readonly string[];
    /** The other status that the same body may come with. */
    readonly alternative?: { readonly status: number; readonly description: string };
  };
  /** Problems beyond those that every route may answer. */
  readonly problems: readonly ProblemCode[];
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** What a handler of a route is given, already checked. */
export interface RouteInput<Definition extends Route> {
  readonly params: Parsed<Definition['params']>;
  readonly query: Parsed<Definition['query']>;
  readonly headers: Parsed<Definition['headers']>;
  readonly body: Parsed<Definition['body']>;
}

/** What it answers with. */
export type RouteOutput<Definition extends Route> = Definition['success'] extends { body: infer Body }
  ? Body extends z.ZodType
    ? z.input<Body>
    : undefined
  : undefined;

type Sent<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;
type PartsOf<Definition extends Route, Part extends 'params' | 'query' | 'headers' | 'body'> = {
  [Name in Part as Definition[Name] extends z.ZodType ? Name : never]: Sent<Definition[Name]>;
};

/** What a caller sends: the parts that the route has. */
export type RouteRequest<Definition extends Route> = PartsOf<Definition, 'params'> &
  Partial<PartsOf<Definition, 'query' | 'headers' | 'body'>>;

/** The problems that a route may answer with because of what every such route does. */
export function commonProblems(route: Route): ProblemCode[] {
  const problems: ProblemCode[] = ['internal', 'bad_request'];
  if (route.access !== 'public') problems.push('unauthenticated', 'store_unavailable');
  if (['read', 'write', 'admin'].includes(route.access)) problems.push('insufficient_scope');
  if (route.tenancy === 'unbound') problems.push('tenant_bound');
  if (route.tenancy === 'person') problems.push('account_required');
  if (route.accounts === true) problems.push('accounts_unavailable', 'store_unavailable');
  if (route.cookie === true) problems.push('cross_origin');
  if (route.stream !== undefined) problems.push('shutting_down');
  if (route.stream === 'websocket') problems.push('upgrade_required');
  if (route.limit !== 'exempt') problems.push('rate_limited', 'misdirected_request');
  // A body can be sent to a route that takes none; it is read, and refused.
  const readsBody = route.method !== 'GET';
  const takesInput = route.params !== undefined || route.query !== undefined || route.headers !== undefined;
  if (takesInput || readsBody) problems.push('validation_failed');
  if (readsBody) problems.push('malformed_json', 'unsupported_media_type', 'payload_too_large', 'request_timeout');
  return problems;
}
