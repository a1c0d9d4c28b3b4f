import type { FastifyRequest } from 'fastify';
import { HttpError } from './problem.ts';

const name = 'reeve_refresh';
const attributes = 'Path=/api/v1/auth; HttpOnly; Secure; SameSite=Strict';

/** The refresh token goes to the browser in this cookie, which its pages cannot read and other sites cannot send. */
export function refreshCookie(token: string, maxAgeSecs: number): string {
  return `${name}=${token}; ${attributes}; Max-Age=${maxAgeSecs}`;
}

export const clearedCookie = `${name}=; ${attributes}; Max-Age=0`;

export function refreshTokenOf(request: FastifyRequest): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, ...value] = pair.trim().split('=');
    if (key === name) return value.join('=');
  }
  return undefined;
}

/**
 * Refuses what a browser sends from a page that is not of this gateway. Browsers say where a request comes from; what
 * says nothing is no browser, and holds no cookie that it was not given.
 */
export function requireOwnOrigin(request: FastifyRequest, publicOrigin: string): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const own = origin === publicOrigin || origin === `${request.protocol}://${host}`;
  const foreign = origin === undefined ? site === 'cross-site' || site === 'same-site' : !own;
  if (foreign) throw new HttpError('cross_origin', 'a page of another origin may not call this');
}
