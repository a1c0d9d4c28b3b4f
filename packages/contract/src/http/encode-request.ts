import { routeTable } from '../gen/route-table.ts';
import type { RouteRequest } from './route.ts';
import type { RouteName, Routes } from './routes.ts';

/** The WHATWG query writer, which every platform has. The contract compiles without a platform's types. */
declare const URLSearchParams: new () => { set(name: string, value: string): void; toString(): string };

/** A call of a route as HTTP sends it. */
export interface EncodedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A call of a route by its name. Clients write no method and no path. Throws a `RangeError` for what no path can hold. */
export function encodeRequest<Name extends RouteName>(name: Name, request: RouteRequest<Routes[Name]>): EncodedRequest {
  const [method, path] = routeTable[name];
  const { params = {}, query = {}, headers, body }: Parts = request;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, member: string) => pathPart(member, params[member] ?? ''));
  const search = new URLSearchParams();
  for (const [member, value] of Object.entries(query)) {
    // An empty org or team counts, too.
    if (value !== undefined && value !== null) search.set(member, String(value));
  }
  const asked = search.toString();
  return {
    method,
    path: asked === '' ? filled : `${filled}?${asked}`,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

/** URLs take these out of a path, with or without percent signs, so that the call would be one of another route. */
const takenOut: ReadonlySet<string> = new Set(['', '.', '..']);

function pathPart(member: string, value: string): string {
  if (takenOut.has(value)) throw new RangeError(`the ${member} must not be "${value}"`);
  return encodeURIComponent(value);
}

/** Whether a call of the route carries no credential. */
export function isPublicRoute(name: RouteName): boolean {
  return routeTable[name][2];
}
