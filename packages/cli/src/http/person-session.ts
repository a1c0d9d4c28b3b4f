import { CliError } from '../cli-error.ts';
import type { Session } from '../context/sessions.ts';
import { isObject } from '../is-object.ts';
import type { HttpAnswer } from './send.ts';
import { readText } from './send.ts';
import { sendRoute, successText } from './send-route.ts';

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
  return granted(await sendRoute(apiUrl, 'openCliSession', { body: code }, { timeoutMs }), apiUrl, timeoutMs);
}

/** Opens a session with email and password. */
export async function openPasswordSession(
  apiUrl: string,
  person: { readonly email: string; readonly password: string },
  timeoutMs: number,
): Promise<Session> {
  return granted(await sendRoute(apiUrl, 'logIn', { body: person }, { timeoutMs }), apiUrl, timeoutMs);
}

/** Exchanges the refresh token for the next one and another access token. */
export async function refreshPersonSession({ apiUrl, sourceKey }: Session, timeoutMs: number): Promise<Session> {
  const options = { cookie: `reeve_refresh=${sourceKey}`, timeoutMs };
  return granted(await sendRoute(apiUrl, 'refreshSession', {}, options), apiUrl, timeoutMs);
}

/** Ends the session at the gateway. */
export async function endPersonSession({ apiUrl, sourceKey }: Session, timeoutMs: number): Promise<void> {
  const options = { cookie: `reeve_refresh=${sourceKey}`, timeoutMs };
  await successText(await sendRoute(apiUrl, 'logOut', {}, options), timeoutMs);
}

async function granted(answer: HttpAnswer, apiUrl: string, timeoutMs: number): Promise<Session> {
  const { access_token: token, expires_in: expiresIn } = membersOf(await successText(answer, timeoutMs));
  const cookies = answer.headers['set-cookie'] ?? [];
  const sourceKey = cookies.map((cookie) => /^reeve_refresh=(rvr_[\w-]+);/.exec(cookie)?.[1]).find(Boolean);
  const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  if (!isToken || typeof expiresIn !== 'number' || sourceKey === undefined) throw notAGateway(apiUrl);
  const expiresAt = Math.floor(Date.now() / 1000) + expiresIn;
  return { token, expiresAt, scopes: await scopesOf(apiUrl, token, timeoutMs), sourceKey, apiUrl };
}

async function scopesOf(apiUrl: string, token: string, timeoutMs: number): Promise<string[]> {
  const answer = await sendRoute(apiUrl, 'me', {}, { credential: token, timeoutMs });
  const { scopes } = membersOf(await readText(answer, timeoutMs));
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
