import type { EncodedRequest } from '@reeve/contract/encode-request';
import { encodeRequest } from '@reeve/contract/encode-request';
import type { RouteName, RouteRequest, Routes } from '@reeve/contract/http';
import { CliError, UsageError } from '../cli-error.ts';
import { problemError } from './problem-error.ts';
import type { HttpAnswer } from './send.ts';
import { readText, send } from './send.ts';

export interface RouteOptions {
  readonly accept?: string;
  readonly credential?: string | undefined;
  readonly cookie?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** One call of a route, by its name in the contract. */
export async function sendRoute<Name extends RouteName>(
  apiUrl: string,
  name: Name,
  request: RouteRequest<Routes[Name]>,
  { accept = 'application/json', credential, cookie, ...options }: RouteOptions,
): Promise<HttpAnswer> {
  const { path, headers, ...encoded } = encodedAsTyped(name, request);
  const shown = { accept, ...bearerHeader(credential), ...(cookie === undefined ? {} : { cookie }) };
  return send({ ...encoded, ...options, url: `${apiUrl}${path}`, headers: { ...shown, ...headers } });
}

/** The header for a credential, or none. The gateway decides whether none is enough. */
function bearerHeader(credential: string | undefined): Readonly<Record<string, string>> {
  if (credential === undefined) return {};
  // A header cannot hold other characters. The message must not show them, because they belong to a credential.
  if (!/^[\x21-\x7e]+$/.test(credential)) {
    throw new CliError('the API key has characters that no API key has; was it copied whole?');
  }
  return { authorization: `Bearer ${credential}` };
}

function encodedAsTyped<Name extends RouteName>(name: Name, request: RouteRequest<Routes[Name]>): EncodedRequest {
  try {
    return encodeRequest(name, request);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** The text of a successful answer. */
export async function successText(answer: HttpAnswer, timeoutMs: number): Promise<string> {
  return readText(await requireSuccess(answer, timeoutMs), timeoutMs);
}

/** Throws the problem of an unsuccessful answer. */
export async function requireSuccess(answer: HttpAnswer, timeoutMs: number): Promise<HttpAnswer> {
  const { status, headers, url } = answer;
  if (status >= 200 && status < 300) return answer;
  throw problemError(status, await readText(answer, timeoutMs), headers.location, url);
}
