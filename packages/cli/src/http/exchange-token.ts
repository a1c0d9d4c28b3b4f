import type { RouteRequest, Routes } from '@reeve/contract/http';
import { CliError } from '../cli-error.ts';
import type { Session } from '../context/sessions.ts';
import { isObject } from '../is-object.ts';
import { sendRoute, successText } from './send-route.ts';

/** Exchanges an API key for a session. Without scopes the session has all scopes of the key. */
export async function exchangeToken(
  apiUrl: string,
  key: string,
  scopes: readonly string[] | undefined,
  timeoutMs: number,
): Promise<Session> {
  // The gateway judges what a file names as scopes.
  const request = scopes === undefined ? {} : ({ body: { scopes } } as RouteRequest<Routes['exchangeToken']>);
  const answer = await sendRoute(apiUrl, 'exchangeToken', request, { credential: key, timeoutMs });
  const text = await successText(answer, timeoutMs);
  return sessionOf(text, apiUrl, key);
}

function sessionOf(text: string, apiUrl: string, sourceKey: string): Session {
  const { token, expires_at: expiresAt, scopes } = membersOf(text);
  const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  const isGranted = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
  if (isToken && typeof expiresAt === 'number' && Number.isFinite(expiresAt) && isGranted) {
    return { token, expiresAt, scopes, sourceKey, apiUrl };
  }
  // Never include the text: it may hold a token.
  throw new CliError(`${apiUrl} answered, but not with a token. Is that the URL of a gateway?`);
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
