import { encodeRequest } from '@reeve/contract/encode-request';
import type { RouteName, RouteOutput, RouteRequest, Routes } from '@reeve/contract/http';
import { ApiError, unreachable } from './api-error.ts';

export interface SendOptions {
  readonly bearer?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly accept?: string;
  /** Survives leaving the page: the answer changes the cookie, which would be lost otherwise. */
  readonly isKept?: boolean;
}

export type Answer<Name extends RouteName> = RouteOutput<Routes[Name]>;
export type RequestOf<Name extends RouteName> = RouteRequest<Routes[Name]>;

/** One plain request: no refresh, no retry. */
export async function send<Name extends RouteName>(
  name: Name,
  request: RequestOf<Name>,
  options: SendOptions = {},
): Promise<Response> {
  const { path, headers, ...encoded } = encodeRequest(name, request);
  let response: Response;
  try {
    response = await fetch(path, {
      ...encoded,
      headers: {
        accept: options.accept ?? 'application/json',
        ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
        ...headers,
      },
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
