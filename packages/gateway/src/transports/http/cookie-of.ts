import type { FastifyRequest } from 'fastify';

/** The value of a cookie. The first counts: browsers send the one with the longest path first. */
export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, ...value] = pair.trim().split('=');
    if (key === name) return value.join('=');
  }
  return undefined;
}
