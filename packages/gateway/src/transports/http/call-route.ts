import { hostOfAuthority } from '@reeve/contract/host-name';
import type { Route, Tenancy } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import type { Principal } from '@reeve/core';
import { ReeveError, requireLogin, requireScope, requireUnbound } from '@reeve/core';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { readerOf } from '../../evaluation/tenant-slots.ts';
import { AlternativeAnswer, HeadedAnswer, RawAnswer, StreamAnswer } from './handler.ts';
import { flowOf, isForPerson } from './flow-cookie.ts';
import type { Limits } from './limits.ts';
import type { StreamPorts } from './open-stream.ts';
import { openStream } from './open-stream.ts';
import { HttpError } from './problem.ts';
import { refreshTokenOf, requireOwnOrigin } from './refresh-cookie.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';
import type { UnsentAnswers } from './unsent-answers.ts';
import { validate } from './validate.ts';

export interface Authentication {
  /** Memory knows all that any gateway has answered before. Throws if that cannot be found out. */
  catchUp(): Promise<void>;
  authenticate(authorization: string | undefined): Promise<Principal>;
  authenticateKey(authorization: string | undefined): Promise<Principal>;
  /** The holder of a ticket. This does not use up the ticket. */
  authenticateTicket(ticket: string): Promise<Principal>;
  redeemTicket(ticket: string): Promise<void>;
  readonly onFailure: () => void;
  /** Whether there is an account store. */
  readonly hasAccounts: boolean;
  /** The origin of the dashboard. */
  readonly publicOrigin: () => string;
}

export interface RoutePorts extends Pick<StreamPorts, 'onOpen'> {
  readonly limits: Limits;
  readonly unsent: UnsentAnswers;
  readonly bodies: UnfinishedBodies;
}

/** The state of a call before its handler runs. */
interface Called {
  readonly requestId: string;
  readonly principal?: Principal;
}

type AnyHandler = (input: object, call: object) => unknown;

const noMembers = z.strictObject({});

/**
 * A route of the contract in Fastify. It checks the credential, the access and the rate limit, then the input by its
 * schemas, and then calls the handler. In this order, nobody learns what a route takes before showing who they are.
 */
export function callRoute(
  route: Route,
  handler: AnyHandler,
  authentication: Authentication,
  { limits, unsent, bodies, onOpen }: RoutePorts,
): RouteOptions {
  const callers = new WeakMap<FastifyRequest, Called>();
  const bodySchema = route.body ?? (route.method === 'GET' ? undefined : noMembers);
  return {
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    onRequest: async (request, reply) => {
      forgetTypeOfNothing(request);
      if (route.accounts === true && !authentication.hasAccounts) throw noAccounts();
      if (route.cookie === true) requireOwnOrigin(request, authentication.publicOrigin());
      const caller = await callerOf(route, request, reply, authentication, limits);
      // Only reads wait for unread answers, so that no tenant can keep others from stopping it.
      if (caller.principal !== undefined && route.method === 'GET') unsent.requireRead(readerOf(caller.principal));
      callers.set(request, caller);
      bodies.hold(ownerOf(caller), request.raw);
    },
    onSend: async (request, reply, payload) => {
      unsent.hold(ownerOf(callers.get(request)), payload, reply.raw);
      return payload;
    },
    handler: async (request, reply) => {
      const input = {
        params: route.params === undefined ? undefined : validate(route.params, request.params, '/path'),
        query: route.query === undefined ? undefined : validate(route.query, request.query, '/query'),
        headers: route.headers === undefined ? undefined : validate(route.headers, request.headers, '/headers'),
        body:
          bodySchema === undefined
            ? undefined
            : validate(bodySchema, request.body === undefined ? {} : request.body, ''),
      };
      const output = await handler(input, callers.get(request) ?? {});
      if (output instanceof StreamAnswer) {
        const ticket = ticketOf(route, request);
        const admit = async () => (ticket === undefined ? undefined : await authentication.redeemTicket(ticket));
        return await openStream(route, output, request, reply, { admit, onOpen });
      }
      const { status, alternative } = route.success;
      if (output instanceof AlternativeAnswer) {
        void reply.code(alternative?.status ?? status);
        return output.body as unknown;
      }
      void reply.code(status);
      if (output instanceof HeadedAnswer) return reply.headers(output.headers).send(output.body);
      if (!(output instanceof RawAnswer)) return output;
      return reply.type(output.type).headers(output.headers).send(output.body);
    },
  };
}

/** Whose rooms a call takes; undefined if it is a stranger's. */
function ownerOf(called: Called | undefined): string | undefined {
  return called?.principal === undefined ? undefined : readerOf(called.principal);
}

/** Forms without fields, and `fetch` with an empty text, give a type to no content. Nothing is left to parse. */
function forgetTypeOfNothing({ headers }: FastifyRequest): void {
  if (headers['content-length'] === '0') delete headers['content-type'];
}

async function callerOf(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  authentication: Authentication,
  limits: Limits,
): Promise<Called> {
  const requestId = request.id;
  const call = {
    requestId,
    from: { address: request.ip, userAgent: request.headers['user-agent'] ?? '', requestId },
    host: hostOfAuthority(request.headers.host ?? ''),
    hasLeft: () => reply.raw.destroyed,
    ...(route.cookie === true ? { refreshToken: refreshTokenOf(request) } : {}),
    ...(route.redirects === true ? { flow: flowOf(request), wantsPage: isForPerson(request) } : {}),
  };
  if (route.access === 'public') {
    limits.publicCall(route, request.ip, reply);
    if (!restsOnNothing.has(route)) await authentication.catchUp();
    return call;
  }
  // Whatever is answered rests on what was answered before, by whichever gateway.
  await authentication.catchUp();
  try {
    const authorization = onlyAuthorization(request);
    const ticket = ticketOf(route, request);
    const principal = { ...(await shownBy(route, authorization, ticket, authentication)), requestId };
    limits.credentialCall(principal.credentialId, reply);
    if (route.access !== 'any' && route.access !== 'api_key') requireScope(principal, route.access);
    requireTenancy[route.tenancy](principal);
    return { ...call, principal };
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'unauthenticated') {
      authentication.onFailure();
      // Guesses count against the limit like any public call.
      limits.publicCall({}, request.ip, reply);
    }
    throw error;
  }
}

/** Under `none` and `own` anybody may call: each use case finds only what its caller owns. */
const requireTenancy: Record<Tenancy, (principal: Principal) => void> = {
  none: () => {},
  own: () => {},
  unbound: requireUnbound,
  person: requireLogin,
};

/** Their answers rest on nothing that another gateway could have changed, or on the database alone. */
const restsOnNothing: ReadonlySet<Route> = new Set<Route>([
  routes.healthz,
  routes.readyz,
  routes.metrics,
  routes.openapi,
  routes.docs,
  routes.policySchema,
  routes.authMethods,
]);

function shownBy(
  { access }: Route,
  authorization: string | undefined,
  ticket: string | undefined,
  authentication: Authentication,
): Promise<Principal> {
  if (access === 'api_key') return authentication.authenticateKey(authorization);
  return ticket === undefined ? authentication.authenticate(authorization) : authentication.authenticateTicket(ticket);
}

function noAccounts(): HttpError {
  return new HttpError('accounts_unavailable', 'this deployment has no account store; log in with an API key');
}

/** The ticket that replaces the header, on routes that take one. */
function ticketOf(route: Route, request: FastifyRequest): string | undefined {
  if (route.stream === undefined || request.headers.authorization !== undefined) return undefined;
  const { ticket } = request.query as { readonly ticket?: unknown };
  return typeof ticket === 'string' && ticket !== '' ? ticket : undefined;
}

/** With two headers, choosing one would be a guess. */
function onlyAuthorization(request: FastifyRequest): string | undefined {
  const given = request.raw.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
  );
  if (given.length > 1) throw new ReeveError('unauthenticated', 'there is more than one Authorization header');
  return request.headers.authorization;
}
