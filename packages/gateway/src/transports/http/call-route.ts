import type { Route } from '@reeve/contract/http';
import type { ApiKeyRecord, Principal } from '@reeve/core';
import { ReeveError, requireScope } from '@reeve/core';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { RawAnswer } from './handler.ts';
import type { Limits } from './limits.ts';
import { validate } from './validate.ts';

export interface Authentication {
  authenticate(authorization: string | undefined): Promise<Principal>;
  authenticateKey(authorization: string | undefined): ApiKeyRecord;
  readonly onFailure: () => void;
}

type AnyHandler = (input: object, call: object) => unknown;

const noMembers = z.strictObject({});

/**
 * A route of the contract as Fastify runs it: who calls, whether it may, whether it asks too much; then what it sent,
 * checked by the schemas; then the handler. In this order, so that nobody learns what a route takes before showing who
 * they are.
 */
export function callRoute(
  route: Route,
  handler: AnyHandler,
  authentication: Authentication,
  limits: Limits,
): RouteOptions {
  const callers = new WeakMap<FastifyRequest, object>();
  const bodySchema = route.body ?? (route.method === 'GET' ? undefined : noMembers);
  return {
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    onRequest: async (request, reply) => {
      callers.set(request, await callerOf(route, request, reply, authentication, limits));
    },
    handler: async (request, reply) => {
      const input = {
        params: route.params === undefined ? undefined : validate(route.params, request.params, '/path'),
        query: route.query === undefined ? undefined : validate(route.query, request.query, '/query'),
        body:
          bodySchema === undefined
            ? undefined
            : validate(bodySchema, request.body === undefined ? {} : request.body, ''),
      };
      const output = await handler(input, callers.get(request) ?? {});
      void reply.code(route.success.status);
      if (!(output instanceof RawAnswer)) return output;
      return reply.type(output.type).headers(output.headers).send(output.body);
    },
  };
}

async function callerOf(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  authentication: Authentication,
  limits: Limits,
): Promise<object> {
  const requestId = request.id;
  if (route.access === 'public') {
    limits.publicCall(route, request.ip, reply);
    return { requestId };
  }
  try {
    const authorization = onlyAuthorization(request);
    if (route.access === 'api_key') {
      const key = authentication.authenticateKey(authorization);
      limits.credentialCall(key.id, reply);
      return { requestId, key };
    }
    const principal = { ...(await authentication.authenticate(authorization)), requestId };
    limits.credentialCall(principal.keyId, reply);
    if (route.access !== 'any') requireScope(principal, route.access);
    return { requestId, principal };
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'unauthenticated') {
      authentication.onFailure();
      // Guessing is limited like any other public call.
      limits.publicCall({}, request.ip, reply);
    }
    throw error;
  }
}

/** Of two headers, which one is meant would be a guess. */
function onlyAuthorization(request: FastifyRequest): string | undefined {
  const given = request.raw.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
  );
  if (given.length > 1) throw new ReeveError('unauthenticated', 'there is more than one Authorization header');
  return request.headers.authorization;
}
