import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Span } from '@opentelemetry/api';
import type { Route } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import type { Rooms } from '@reeve/grpc-server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import type { Logger } from '../../telemetry/logger.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import { allowedMethods } from './allowed-methods.ts';
import type { Authentication, RoutePorts } from './call-route.ts';
import { callRoute } from './call-route.ts';
import type { DashboardFile } from './dashboard-files.ts';
import type { Handlers } from './handler.ts';
import { parseJsonBody } from './json-body.ts';
import type { Limits } from './limits.ts';
import { HttpError, problemOf } from './problem.ts';
import { securityHeaders } from './security-headers.ts';
import { prefersPage } from './prefers-page.ts';
import { dashboardPage, serveDashboard } from './serve-dashboard.ts';
import { UnfinishedBodies } from './unfinished-bodies.ts';
import { UnsentAnswers } from './unsent-answers.ts';
import { acceptUpgrades, mayUpgrade } from './upgrades.ts';

export interface HttpOptions {
  readonly handlers: Handlers;
  readonly authentication: Authentication;
  readonly limits: Limits;
  /** What clients leave unread or unfinished counts here, together with that of other transports. */
  readonly rooms: Rooms;
  readonly logger: Logger;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly trustedProxies: readonly string[];
  readonly hosts: AllowedHosts;
  readonly tracing: Tracing | undefined;
  /** The files of the dashboard by path; undefined if it is not built. */
  readonly dashboard: ReadonlyMap<string, DashboardFile> | undefined;
  /** How long closing waits for calls in flight. */
  readonly drainMs: number;
  readonly onAnswer: (route: string, status: number, seconds: number) => void;
}

const largestBody = 1024 * 1024;

/** Schemas limit the parameters of a path; Node limits the whole head of a request. */
const longestParameter = 16_384;

/** The routes have no schemas for Fastify, which would load compilers for them all the same, at every start. */
const neverCompiled = () => () => {
  throw new Error('no route has a schema for Fastify');
};
const noCompilers = { buildValidator: neverCompiled, buildSerializer: neverCompiled };

type Headers = ReturnType<typeof securityHeaders>;
type OnOpen = RoutePorts['onOpen'];
type SendError = ReturnType<typeof errorSender>;

/** The HTTP side of the gateway: the routes of the contract, with the same rules for all of them. */
export function createHttpApp(options: HttpOptions): FastifyInstance {
  const headers = securityHeaders(options.tls !== undefined);
  const sendError = errorSender(options, headers);
  const app = newServer(options, headers, sendError);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  readJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ ...headers, 'x-request-id': request.id });
    done();
  });
  const onOpen = noteAnswers(app, options);
  refuseEarly(app, options);
  app.addHook('preClose', (done) => {
    // Clients that have not finished by then are cut off.
    setTimeout(() => app.server.closeAllConnections(), options.drainMs).unref();
    done();
  });
  acceptUpgrades(app);

  const unsent = new UnsentAnswers(options.rooms.unsent);
  const bodies = new UnfinishedBodies(options.rooms.unfinished, largestBody);
  for (const [name, route] of Object.entries<Route>(routes)) {
    const handler = options.handlers[name as keyof Handlers] as never;
    app.route(callRoute(route, handler, options.authentication, { limits: options.limits, unsent, bodies, onOpen }));
  }
  serveDashboard(app, options.dashboard);
  return app;
}

function newServer({ tls, trustedProxies }: HttpOptions, headers: Headers, sendError: SendError): FastifyInstance {
  // A request without a Host is refused later, as a problem; Node would refuse it without one.
  const serverOptions = {
    requireHostHeader: false,
    connectionsCheckingInterval: 5000,
    shouldUpgradeCallback: mayUpgrade,
  };
  const app = fastify({
    bodyLimit: largestBody,
    requestTimeout: 30_000,
    // Requests on a connection that is still open are answered as usual.
    return503OnClosing: false,
    routerOptions: { maxParamLength: longestParameter },
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: noCompilers },
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: (request) => requestId(request.headers['x-request-id']),
    clientErrorHandler: refuseBytes(headers),
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply);
    },
    ...(tls === undefined ? { http: serverOptions } : { https: { ...tls, ...serverOptions } }),
  }) as FastifyInstance;
  // An unknown expectation is ignored, as RFC 9110 allows. By default, Node would answer without a problem document.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  return app;
}

/** Errors are problems. A person with a browser gets a page for an address that does not exist. */
function errorSender({ logger, dashboard }: HttpOptions, headers: Headers) {
  const sendPage = dashboardPage(dashboard);
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const report = (unforeseen: unknown) =>
      logger.error({ err: unforeseen, request_id: request.id }, 'a request failed unexpectedly');
    const { problem, headers: extra } = problemOf(error, pathOf(request.url), report);
    // The rest of the body is discarded as it comes, up to the time limit of a request. Ending the connection at once
    // would lose the answer.
    if (problem.code === 'payload_too_large') void reply.removeHeader('connection');
    void reply.code(problem.status).headers({ ...headers, 'x-request-id': request.id, ...extra });
    if (problem.code === 'not_found' && isBrowsing(request)) return sendPage(request, reply);
    return (
      reply
        .type('application/problem+json')
        // Sent as bytes: Fastify adds a charset to JSON text, which this media type does not have.
        .send(Buffer.from(JSON.stringify(problem)))
    );
  };
}

function readJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJsonBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser('*', ({ headers }, payload, done) => {
    const refusal = new HttpError('unsupported_media_type', 'the body must be application/json');
    if (headers['transfer-encoding'] === undefined) return done(refusal);
    // Whether chunks hold anything shows only once they come.
    const accept = () => done(null);
    const refuse = () => {
      payload.off('end', accept);
      done(refusal);
    };
    payload.once('end', accept).once('data', refuse);
  });
}

/**
 * Traces, counts and logs every answer. A stream counts as answered when it is opened, however long it stays open: the
 * function that this returns is to be called then.
 */
function noteAnswers(app: FastifyInstance, { tracing, onAnswer, logger }: HttpOptions): OnOpen {
  const spans = new WeakMap<FastifyRequest, Span>();
  const streams = new WeakSet<FastifyRequest>();
  const answered: OnOpen = (request, reply) => {
    const path = routeOf(request);
    spans.get(request)?.setAttribute('http.response.status_code', reply.statusCode).end();
    onAnswer(path, reply.statusCode, reply.elapsedTime / 1000);
    const { method, id: request_id } = request;
    logger.debug({ method, path, status: reply.statusCode, request_id }, 'answered');
  };
  app.addHook('onRequest', (request, _reply, done) => {
    const path = routeOf(request);
    const span = tracing?.start(`${request.method} ${path}`, traceparentOf(request), { 'http.route': path });
    if (span !== undefined) spans.set(request, span);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (!streams.has(request)) answered(request, reply);
    done();
  });
  return (request, reply) => {
    streams.add(request);
    answered(request, reply);
  };
}

/** Refuses before the body is read what needs no body to be refused. */
function refuseEarly(app: FastifyInstance, { hosts, limits }: HttpOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    try {
      if (!hasHost(request)) throw new HttpError('bad_request', 'the request has no Host');
      if (!servedUnderAnyName.has(routeOf(request))) hosts.require(request.raw);
    } catch (error) {
      return done(error as HttpError);
    }
    if (!request.is404 && !hasEmptyName(request)) return done();
    limits.publicCall({}, request.ip, reply);
    return done(notFound(request));
  });
}

/** Probes and scrapers use addresses or any name they know. These routes tell nothing that others may not know. */
const servedUnderAnyName: ReadonlySet<string> = new Set(
  Object.values<Route>(routes).flatMap(({ path, limit }) => (limit === 'exempt' ? [path] : [])),
);

/** The path of a route as the contract writes it. */
function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

/** The caller's own id for a request if it is harmless, else a new one. */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

/** HTTP/1.1 requires a Host. */
function hasHost({ raw }: FastifyRequest): boolean {
  return raw.headers.host !== undefined || raw.httpVersion !== '1.1';
}

/** The router lets nothing be the name of something: a slash at the end of a list would be a record without one. */
function hasEmptyName({ params }: FastifyRequest): boolean {
  return Object.entries(params as object).some(([name, value]) => name !== '*' && value === '');
}

function traceparentOf(request: FastifyRequest): string | undefined {
  const { traceparent } = request.headers;
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/** A person who mistyped an address outside the API. */
function isBrowsing({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && !/^\/api(\/|$)/.test(pathOf(url)) && prefersPage(headers.accept);
}

/** The path without the query, which may hold secrets that belong in no log or answer. */
function pathOf(url: string): string {
  return url.split('?')[0] ?? url;
}

function notFound(request: FastifyRequest): HttpError {
  const path = pathOf(request.url);
  const allow = allowedMethods(path).join(', ');
  if (allow === '') return new HttpError('not_found', `there is nothing at ${path}; see /docs`);
  return new HttpError('method_not_allowed', `${path} takes ${allow}, not ${request.method}`, {}, { allow });
}

/** Bytes that are not HTTP never become a request, but still get a problem. */
function refuseBytes(headers: Headers) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
    const { problem } = problemOf(Object.assign(new Error('malformed'), { statusCode: status }), '', () => undefined);
    const body = JSON.stringify(problem);
    const head = {
      ...headers,
      'x-request-id': randomUUID(),
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${problem.status} ${problem.title}`, ...lines, '', body].join('\r\n'));
  };
}
