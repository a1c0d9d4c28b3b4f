import type { RouteName, RouteOutput, RouteRequest, Routes } from '@reeve/contract/http';
import { routeTable } from 'virtual:route-table';
import { ApiError, unreachable } from './api-error.ts';

interface Wire {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface SendOptions {
  readonly bearer?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly accept?: string;
  /** Survives leaving the page: the answer changes the cookie, which would be lost otherwise. */
  readonly isKept?: boolean;
}

export type Answer<Name extends RouteName> = RouteOutput<Routes[Name]>;
export type Asked<Name extends RouteName> = RouteRequest<Routes[Name]>;

/** One plain request: no refresh, no retry. */
export async function send<Name extends RouteName>(
  name: Name,
  request: Asked<Name>,
  options: SendOptions = {},
): Promise<Response> {
  const [method] = routeTable[name];
  const wire = request as Wire;
  let response: Response;
  try {
    response = await fetch(urlOf(name, request), {
      method,
      headers: {
        accept: options.accept ?? 'application/json',
        ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
        ...(wire.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...wire.headers,
      },
      ...(wire.body === undefined ? {} : { body: JSON.stringify(wire.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.isKept === true ? { keepalive: true } : {}),
      cache: 'no-store',
    });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw unreachable(error);
  }
  if (response.ok) return response;
  throw new ApiError(response.status, await problemOf(response), retryAfterOf(response));
}

/** The body of an answer, if there is one. Its details are not checked: a newer gateway may send more. */
export async function readBody<Name extends RouteName>(response: Response): Promise<Answer<Name>> {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error);
  });
  return (text === '' ? undefined : JSON.parse(text)) as Answer<Name>;
}

export function urlOf<Name extends RouteName>(name: Name, request: Asked<Name>): string {
  const [, path] = routeTable[name];
  const { params = {}, query = {} } = request as Wire;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, member: string) => encodeURIComponent(params[member] ?? ''));
  const search = new URLSearchParams();
  for (const [member, value] of Object.entries(query)) {
    // An empty org or team counts, too.
    if (value !== undefined && value !== null) search.set(member, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

/** The gateway sends seconds. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}

async function problemOf(response: Response): Promise<ApiError['problem']> {
  try {
    const problem: unknown = await response.json();
    return typeof problem === 'object' && problem !== null ? (problem as ApiError['problem']) : {};
  } catch {
    return {};
  }
}
