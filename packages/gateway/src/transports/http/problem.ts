import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** An error as RFC 9457 shows it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
}

export function problem(code: string, status: number, detail: string): Problem {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code };
}

export function sendProblem(reply: FastifyReply, request: FastifyRequest, known: Problem): FastifyReply {
  return reply
    .code(known.status)
    .type('application/problem+json')
    .send({ ...known, instance: request.url.split('?')[0] });
}
