import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostCheck } from '../../front/host-check.ts';
import { WrongHost } from '../../front/host-check.ts';
import { envelopeFault, statedVersion } from '../protocol/envelope.ts';
import { contradicts, lacksHeaders, passedHeaders } from '../protocol/mcp-headers.ts';
import type { Message, Request } from '../protocol/message.ts';
import { asRequest, asResponse, isBatch, longestMessage, parseMessage, partsOf } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import type { ServerSpec } from '../server-spec.ts';
import { isCommand } from '../server-spec.ts';
import type { AllowedOrigins } from './allowed-origins.ts';
import type { Doorman } from './authenticate.ts';
import { authenticate } from './authenticate.ts';
import type { Caller } from './caller.ts';
import type { FrontSession } from './front-session.ts';
import type { FrontSessions } from './front-sessions.ts';
import { endWithToken } from './end-with-token.ts';
import { HttpExchange } from './http-exchange.ts';
import { badGateway } from '../transport/http-refusal.ts';
import { ProtectedResource } from './protected-resource.ts';
import { refuseRequest } from './refuse-request.ts';
import type { RequestRoom } from './request-room.ts';

export interface Front {
  readonly servers: ReadonlyMap<string, ServerSpec>;
  readonly hosts: HostCheck;
  readonly origins: AllowedOrigins;
  readonly doorman: Doorman;
  readonly sessions: FrontSessions;
  readonly room: RequestRoom;
}

/** A request that may reach its server. */
interface Admitted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly name: string;
  readonly spec: ServerSpec;
  readonly caller: Caller;
  readonly runId: string | undefined;
}

const place = /^\/mcp\/([^/?]+)\/?(?:\?.*)?$/;
const noRoom = 'too many requests are under way';
const runIdForm = /^[\x21-\x7e]{1,128}$/;

/** Answers a request of a client over Streamable HTTP. */
export async function answerRequest(front: Front, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/healthz') return answerHealth(response);
  const wrong = objectionOf(front.hosts, request);
  if (wrong !== undefined) return refuseRequest(response, wrong.status, wrong.message);
  if (!front.origins.include(request))
    return refuseRequest(response, 403, 'this origin may not call; see --allow-origin');
  if (request.headers.origin !== undefined) permitOrigin(request.headers.origin, response);
  if (request.method === 'OPTIONS') return answerPreflight(request, response);
  const described = ProtectedResource.nameIn(request.url ?? '');
  if (described !== undefined) return describe(front, decoded(described), request, response);
  const name = decoded(place.exec(request.url ?? '')?.[1] ?? '');
  const spec = name === undefined ? undefined : front.servers.get(name);
  const caller = await authenticate(front.doorman, name ?? '', request, response);
  // Nobody would notice the end of what is begun for a client that has left.
  if (caller === undefined || response.destroyed) return;
  if (name === undefined || spec === undefined) return refuseRequest(response, 404, 'there is no such MCP server');
  const run = spec.hasFixedRun ? undefined : request.headers['x-reeve-run-id'];
  const runId = typeof run === 'string' && run !== '' ? run : undefined;
  if (runId !== undefined && !runIdForm.test(runId)) {
    return refuseRequest(response, 400, 'x-reeve-run-id must be up to 128 visible ASCII characters');
  }
  const admitted = { request, response, name, spec, caller, runId };
  if (request.method === 'POST') return post(front, admitted);
  if (request.method === 'GET' || request.method === 'DELETE') return streamOrEnd(front, admitted);
  refuseRequest(response, 405, 'only POST, GET and DELETE are served', { headers: { allow: 'POST, GET, DELETE' } });
}

function objectionOf(hosts: HostCheck, request: IncomingMessage): WrongHost | undefined {
  try {
    hosts.require(request);
    return undefined;
  } catch (error) {
    if (error instanceof WrongHost) return error;
    throw error;
  }
}

async function post(front: Front, admitted: Admitted): Promise<void> {
  const { request, response, name, spec, caller } = admitted;
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    return refuseRequest(response, 415, 'the content type must be application/json');
  }
  const body = await front.room.read(request, response, caller);
  if ('refused' in body) {
    const why = body.refused === 503 ? noRoom : `the body has more than ${longestMessage} bytes`;
    return refuseRequest(response, body.refused, why);
  }
  const message = parseMessage(body.text);
  if (message === undefined) return refuseRequest(response, 400, 'the body is no message', { code: -32_700 });
  const requests = partsOf(message)
    .map(asRequest)
    .filter((each) => each !== undefined);
  const headers = passedHeaders(request.headers);
  const isWrong = (each: Request) => contradicts(headers, each) || (isCommand(spec) && lacksHeaders(headers, each));
  if (requests.some(isWrong)) {
    const what = 'the headers do not say what the message says';
    return refuseRequest(response, 400, what, { code: -32_020, id: requests[0]?.id });
  }
  const id = sessionIdOf(request);
  if (id !== undefined) {
    const found = front.sessions.find(id, name, spec, caller);
    if (found === undefined) return refuseRequest(response, 404, 'there is no such session', { code: -32_001 });
    return throughSession(front, admitted, found, message, requests);
  }
  // The stateless revision has no such method, so that is the server's to say.
  const hello = requests.find(({ method, params }) => method === 'initialize' && statedVersion(params) === undefined);
  if (hello !== undefined) {
    const opened = front.sessions.open(name, spec, caller, isObject(hello.params) ? hello.params : {});
    if (opened === undefined) return refuseRequest(response, 503, 'there are too many sessions');
    return throughSession(front, admitted, opened, message, requests);
  }
  const isStateless = !isCommand(spec) || requests.some(({ params }) => statedVersion(params) !== undefined);
  const about = { id: requests[0]?.id };
  // Ids and tokens are told apart message by message, and the stateless revision has no batches.
  if (isCommand(spec) && isBatch(message)) return refuseRequest(response, 400, 'batches need a session', about);
  const [first] = requests;
  const fault = isCommand(spec) && first !== undefined ? envelopeFault(headers, first) : undefined;
  if (fault !== undefined) return refuseRequest(response, 400, fault.text, { ...about, ...fault });
  if (!isStateless) return refuseRequest(response, 400, 'the session is missing: send Mcp-Session-Id', about);
  await withoutSession(front, admitted, message, requests);
}

async function throughSession(
  front: Front,
  { request, response, caller, runId }: Admitted,
  found: FrontSession,
  message: Message,
  requests: readonly Request[],
): Promise<void> {
  const isHello = requests.some(({ method }) => method === 'initialize');
  let isRefused = false;
  const exchange = new HttpExchange({
    response,
    headers: passedHeaders(request.headers),
    person: caller.person,
    holdAnswer: (bytes) => front.room.holdAnswer(caller, response, bytes),
    requests,
    positions: found.positions,
    answerHeaders: () => (found.isOver ? {} : { 'mcp-session-id': found.publicId() }),
    statusOf: (answer) => {
      isRefused = isHello && asResponse(answer)?.error !== undefined;
      return 200;
    },
  });
  response.once('close', () => {
    // The server has ended the session, or never began it.
    const isLost = response.statusCode === 404 || (isHello && (isRefused || response.statusCode >= 400));
    if (isLost) void front.sessions.close(found);
  });
  found.opened(exchange, false);
  if (!(await isReady(found))) return exchange.refuse(badGateway('the MCP server does not start anew here'), []);
  if (front.sessions.areShared) await found.tellReady(message);
  await found.session.fromClient(message, exchange, runId ?? found.runId);
  if (requests.length === 0) exchange.accept();
}

async function withoutSession(
  front: Front,
  { request, response, name, spec, caller, runId }: Admitted,
  message: Message,
  requests: readonly Request[],
): Promise<void> {
  const server = front.sessions.stateless(name, spec, caller);
  if (server === undefined) return refuseRequest(response, 503, 'there are too many sessions');
  const exchange = new HttpExchange({
    response,
    headers: passedHeaders(request.headers),
    person: caller.person,
    holdAnswer: (bytes) => front.room.holdAnswer(caller, response, bytes),
    requests,
    answerHeaders: () => ({}),
    statusOf: requests.some(({ params }) => statedVersion(params) !== undefined) ? statusOfAnswer : () => 200,
  });
  // In this revision it takes the place of a stream.
  if (requests.some(({ method }) => method === 'subscriptions/listen')) endWithToken(caller, exchange, response);
  const session = server.session();
  response.once('close', () => void server.ended(session));
  await session.fromClient(message, exchange, runId ?? server.runId);
  if (requests.length === 0) exchange.accept();
}

/** Whether the server can be spoken to. Where another replica began the session, that takes a moment. */
async function isReady(found: FrontSession): Promise<boolean> {
  return found.ready.then(
    () => true,
    () => false,
  );
}

function streamOrEnd(front: Front, { request, response, name, spec, caller }: Admitted): void {
  const id = sessionIdOf(request);
  const found = id === undefined ? undefined : front.sessions.find(id, name, spec, caller);
  if (id !== undefined && found === undefined) {
    return refuseRequest(response, 404, 'there is no such session', { code: -32_001 });
  }
  if (found !== undefined && request.method === 'DELETE') {
    void front.sessions.close(found);
    response.writeHead(204).end();
    return;
  }
  const lastEventId = request.headers['last-event-id'];
  // Outside of a session nobody knows which answers are held back.
  const isReplay = typeof lastEventId === 'string' && found !== undefined;
  if (found === undefined && (isCommand(spec) || request.method === 'DELETE')) {
    return refuseRequest(response, 405, 'there are streams in sessions only', { headers: { allow: 'POST' } });
  }
  if (!front.room.hold(caller, response)) return refuseRequest(response, 503, noRoom);
  const exchange = new HttpExchange({
    response,
    headers: passedHeaders(request.headers),
    person: caller.person,
    holdAnswer: (bytes) => front.room.holdAnswer(caller, response, bytes),
    requests: 'stream',
    isReplay,
    isForeign: isReplay && !found.positions.has(lastEventId),
    ...(found === undefined ? {} : { positions: found.positions }),
    answerHeaders: () => (found === undefined ? {} : { 'mcp-session-id': found.publicId() }),
    statusOf: () => 200,
  });
  endWithToken(caller, exchange, response);
  const position = isReplay ? lastEventId : undefined;
  if (found !== undefined) {
    found.opened(exchange, true);
    found.session.listen(exchange, position);
    return found.flush(exchange);
  }
  const server = front.sessions.stateless(name, spec, caller);
  if (server === undefined) return refuseRequest(response, 503, 'there are too many sessions');
  const session = server.session();
  response.once('close', () => void server.ended(session));
  session.listen(exchange, position);
}

/** The statuses that revision 2026-07-28 has for errors of the protocol itself. */
function statusOfAnswer(message: Message): number {
  const error = asResponse(message)?.error;
  const code = isObject(error) ? error['code'] : undefined;
  if (code === -32_601) return 404;
  return code === -32_020 || code === -32_021 || code === -32_022 ? 400 : 200;
}

function sessionIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['mcp-session-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** What the server is as a resource of OAuth. Anybody may know that. */
function describe(front: Front, name: string | undefined, request: IncomingMessage, response: ServerResponse): void {
  const { oauth } = front.doorman;
  if (oauth === undefined || name === undefined || !front.servers.has(name)) {
    return refuseRequest(response, 404, 'there is no such MCP server');
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuseRequest(response, 405, 'a document is read with GET', { headers: { allow: 'GET, HEAD' } });
  }
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=300' });
  response.end(request.method === 'HEAD' ? '' : JSON.stringify(oauth.document(name)));
}

function answerHealth(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{"status":"ok"}');
}

function permitOrigin(origin: string, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate');
  response.setHeader('vary', 'origin');
}

function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'POST, GET, DELETE');
  response.setHeader('access-control-allow-headers', headers['access-control-request-headers'] ?? 'authorization');
  response.writeHead(204).end();
}

function decoded(text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
