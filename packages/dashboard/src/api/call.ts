import { isPublicRoute } from '@reeve/contract/encode-request';
import type { RouteName } from '@reeve/contract/http';
import { ApiError } from './api-error.ts';
import type { Answer, RequestOf, SendOptions } from './send.ts';
import { readBody, send } from './send.ts';
import { session } from './session.ts';

/** Calls a route of the contract with the session's token, and returns the body of its answer. */
export async function callRoute<Name extends RouteName>(
  name: Name,
  request: RequestOf<Name> = {} as RequestOf<Name>,
  options: Omit<SendOptions, 'bearer'> = {},
): Promise<Answer<Name>> {
  return readBody<Name>(await openRoute(name, request, options));
}

/** The same for an answer that is read in pieces, or is not JSON. */
export async function openRoute<Name extends RouteName>(
  name: Name,
  request: RequestOf<Name> = {} as RequestOf<Name>,
  options: Omit<SendOptions, 'bearer'> = {},
): Promise<Response> {
  if (isPublicRoute(name)) return send(name, request, options);
  const bearer = await session.token();
  try {
    return await send(name, request, { ...options, bearer });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401 || bearer === undefined) throw error;
    // Retries once: the gateway does not refuse a new token for its age.
    const next = await session.replace(bearer);
    if (next === undefined) throw error;
    return send(name, request, { ...options, bearer: next });
  }
}
