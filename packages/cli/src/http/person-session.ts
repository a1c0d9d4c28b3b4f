import { CliError } from '../cli-error.ts';
import type { Session } from '../context/sessions.ts';
import { isObject } from '../is-object.ts';
import { bearerHeader } from './bearer-header.ts';
import { problemError } from './problem-error.ts';
import type { HttpAnswer } from './send.ts';
import { readText, send } from './send.ts';

/** The session of a person who signed in by the browser, or with a password. Its source is a refresh token, which works once. */
export function isOfPerson({ sourceKey }: Pick<Session, 'sourceKey'>): boolean {
  return sourceKey.startsWith('rvr_');
}

/** Exchanges the code of a browser for a session. */
export async function openPersonSession(
  apiUrl: string,
  code: { readonly code: string; readonly verifier: string },
  timeoutMs: number,
): Promise<Session> {
  return granted(apiUrl, await post(apiUrl, '/api/v1/auth/cli/session', { body: code, timeoutMs }), timeoutMs);
}

/** Opens a session with email and password. */
export async function openPasswordSession(
  apiUrl: string,
  person: { readonly email: string; readonly password: string },
  timeoutMs: number,
): Promise<Session> {
  return granted(apiUrl, await post(apiUrl, '/api/v1/auth/login', { body: person, timeoutMs }), timeoutMs);
}

/** Exchanges the refresh token for the next one and another access token. */
export async function refreshPersonSession({ apiUrl, sourceKey }: Session, timeoutMs: number): Promise<Session> {
  return granted(apiUrl, await post(apiUrl, '/api/v1/auth/refresh', { cookie: sourceKey, timeoutMs }), timeoutMs);
}

/** Ends the session at the gateway. */
export async function endPersonSession({ apiUrl, sourceKey }: Session, timeoutMs: number): Promise<void> {
  await post(apiUrl, '/api/v1/auth/logout', { cookie: sourceKey, timeoutMs });
}

interface Posted {
  readonly body?: unknown;
  readonly cookie?: string;
  readonly timeoutMs: number;
}

async function post(apiUrl: string, path: string, { body, cookie, timeoutMs }: Posted) {
  const url = `${apiUrl}${path}`;
  const answer = await send({
    method: 'POST',
    url,
    headers: {
      accept: 'application/json',
      ...(cookie === undefined ? {} : { cookie: `reeve_refresh=${cookie}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs,
  });
  const text = await readText(answer, url, timeoutMs);
  if (answer.status < 200 || answer.status > 299) {
    throw problemError(answer.status, text, answer.headers.location, url);
  }
  return { answer, text };
}

async function granted(
  apiUrl: string,
  { answer, text }: { readonly answer: HttpAnswer; readonly text: string },
  timeoutMs: number,
): Promise<Session> {
  const { access_token: token, expires_in: expiresIn } = membersOf(text);
  const cookies = answer.headers['set-cookie'] ?? [];
  const sourceKey = cookies.map((cookie) => /^reeve_refresh=(rvr_[\w-]+);/.exec(cookie)?.[1]).find(Boolean);
  const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  if (!isToken || typeof expiresIn !== 'number' || sourceKey === undefined) throw notAGateway(apiUrl);
  const expiresAt = Math.floor(Date.now() / 1000) + expiresIn;
  return { token, expiresAt, scopes: await scopesOf(apiUrl, token, timeoutMs), sourceKey, apiUrl };
}

async function scopesOf(apiUrl: string, token: string, timeoutMs: number): Promise<string[]> {
  const url = `${apiUrl}/api/v1/auth/me`;
  const headers = { accept: 'application/json', ...bearerHeader(token) };
  const answer = await send({ method: 'GET', url, headers, timeoutMs });
  const { scopes } = membersOf(await readText(answer, url, timeoutMs));
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')) return scopes;
  throw notAGateway(apiUrl);
}

/** Never includes the answer: it may hold a token. */
function notAGateway(apiUrl: string): CliError {
  return new CliError(`${apiUrl} answered, but not with a session. Is that the URL of a gateway?`);
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
