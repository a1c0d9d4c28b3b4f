import type { z } from 'zod';
import { scopes } from '../names.ts';
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
 * What a tenant's credential meets here. There is no default: a route without a value does not compile. The gateway
 * requires it before the handler runs, and the tenancy test tries every route against two tenants by it.
 */
export type Tenancy =
  /** Holds no data of any tenant. */
  | 'none'
  /** Shows and changes only what the caller owns. */
  | 'own'
  /** Reserved for credentials bound to no tenant. */
  | 'unbound'
  /** Concerns the account of the person who calls. An API key has none. */
  | 'person';

/** A public route has no caller whose tenant could be checked. */
type Admission =
  | { readonly access: 'public'; readonly tenancy: 'none' }
  | { readonly access: Exclude<Access, 'public'>; readonly tenancy: Tenancy };

export type Route = Admission & RouteDescription;

interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters are in braces, as in OpenAPI. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Needs an account store. Without one, the route answers 503 before anything else. */
  readonly accounts?: true;
  /** Uses the refresh cookie, so a page of another origin may not call it. */
  readonly cookie?: true;
  /** Answers a browser by leading it elsewhere, also after a failure. Reads the cookie of a single sign-on. */
  readonly redirects?: true;
  /** Does not end by itself. Takes a single-use ticket in its query if there is no `Authorization`. */
  readonly stream?: 'websocket' | 'sse';
  /** The rate limit that calls count against. `exempt` is for health and metrics. */
  readonly limit?: 'auth' | 'exempt';
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** The headers that the route reads, by lower-case name. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly body?: z.ZodType;
    /** The media types of the body, if not JSON. */
    readonly types?: readonly string[];
    /** Another status that may carry the same body. */
    readonly alternative?: { readonly status: number; readonly description: string };
  };
  /** Problems beyond the common ones of every route. */
  readonly problems: readonly ProblemCode[];
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The checked input of a route handler. */
export interface RouteInput<Definition extends Route> {
  readonly params: Parsed<Definition['params']>;
  readonly query: Parsed<Definition['query']>;
  readonly headers: Parsed<Definition['headers']>;
  readonly body: Parsed<Definition['body']>;
}

/** The answer of a route handler. */
export type RouteOutput<Definition extends Route> = Definition['success'] extends { body: infer Body }
  ? Body extends z.ZodType
    ? z.input<Body>
    : undefined
  : undefined;

type Sent<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;
type PartsOf<Definition extends Route, Part extends 'params' | 'query' | 'headers' | 'body'> = {
  [Name in Part as Definition[Name] extends z.ZodType ? Name : never]: Sent<Definition[Name]>;
};

/** The request of a caller: the parts that the route has. */
export type RouteRequest<Definition extends Route> = PartsOf<Definition, 'params'> &
  Partial<PartsOf<Definition, 'query' | 'headers' | 'body'>>;

/** The problems that follow from what every route of this kind does. */
export function commonProblems(route: Route): ProblemCode[] {
  // A head may be too long or too slow at any route.
  const problems: ProblemCode[] = ['internal', 'bad_request', 'headers_too_large', 'request_timeout'];
  if (route.access !== 'public') problems.push('unauthenticated', 'store_unavailable');
  if (scopes.some((scope) => scope === route.access)) problems.push('insufficient_scope');
  if (route.tenancy === 'unbound') problems.push('tenant_bound');
  if (route.tenancy === 'person') problems.push('account_required');
  if (route.accounts === true) problems.push('accounts_unavailable', 'store_unavailable');
  if (route.cookie === true) problems.push('cross_origin');
  if (route.stream !== undefined) problems.push('shutting_down');
  if (route.stream === 'websocket') problems.push('upgrade_required');
  if (route.limit !== 'exempt') problems.push('rate_limited', 'misdirected_request');
  // A caller can send a body to a route that takes none. The gateway reads and refuses it.
  const readsBody = route.method !== 'GET';
  const takesInput = route.params !== undefined || route.query !== undefined || route.headers !== undefined;
  if (takesInput || readsBody) problems.push('validation_failed');
  if (readsBody) problems.push('malformed_json', 'unsupported_media_type', 'payload_too_large');
  return problems;
}
