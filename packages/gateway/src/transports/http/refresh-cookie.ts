import type { FastifyRequest } from 'fastify';
import { cookieOf } from './cookie-of.ts';
import { HttpError } from './problem.ts';

const name = 'reeve_refresh';
const attributes = 'Path=/api/v1/auth; HttpOnly; Secure; SameSite=Strict';

/** The browser gets the refresh token in this cookie, which pages cannot read and other sites cannot send. */
export function refreshCookie(token: string, maxAgeSecs: number): string {
  return `${name}=${token}; ${attributes}; Max-Age=${maxAgeSecs}`;
}

export const clearedCookie = `${name}=; ${attributes}; Max-Age=0`;

export function refreshTokenOf(request: FastifyRequest): string | undefined {
  return cookieOf(request, name);
}

/**
 * Refuses requests that a browser sends from a foreign page. Browsers say where a request comes from. A client that
 * does not is no browser, and has only cookies that it was given.
 */
export function requireOwnOrigin(request: FastifyRequest, publicOrigin: string): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const own = origin === publicOrigin || origin === `${request.protocol}://${host}`;
  const foreign = origin === undefined ? site === 'cross-site' || site === 'same-site' : !own;
  if (foreign) throw new HttpError('cross_origin', 'a page of another origin may not call this');
}
