import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentsByToken } from '../front/agents-by-token.ts';
import type { HostCheck } from '../front/host-check.ts';
import { actAs } from './act-as.ts';
import type { SendUpstream, UpstreamConnections } from './call-upstream.ts';
import { carryOut } from './carry-out.ts';
import { agentTokenOf } from './credential.ts';
import { requestHeaders } from './forward-headers.ts';
import type { GovernOptions } from './govern-call.ts';
import { governCall } from './govern-call.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { JsonRequest } from './json-request.ts';
import { parseRequest } from './json-request.ts';
import { listModels } from './list-models.ts';
import type { ToolMemory } from './results/judge-tool-messages.ts';
import { judgedRequest, noteCalls } from './results/judged-request.ts';
import { requireClearMessages } from './results/require-clear-messages.ts';
import type { CallBody, ModelCall } from './model-call.ts';
import { askedBy, runIdOf, subjectTokenOf, traceOf, upstreamFor } from './model-call.ts';
import type { Upstream } from './model-config.ts';
import type { BodyReader, HeldBody } from './read-body.ts';
import { Refusal } from './refusal.ts';
import { refusalOf } from './refusal-of.ts';
import type { CallRoute } from './routes.ts';
import { callRouteOf, kindOf, modelsPath } from './routes.ts';
import { sendRefusal } from './send-refusal.ts';
import type { CallOperation } from './settlement.ts';
import { upstreamPath } from './upstream-path.ts';

export interface ProxyContext extends GovernOptions {
  readonly hosts: HostCheck;
  readonly bodies: BodyReader;
  /** What is held of the answers of upstreams. */
  readonly answers: HeldBytes;
  /** What masking prompts takes, by organization: an agent can make itself delegates, each with a token of its own. */
  readonly prompts: HeldBytes;
  readonly agents: AgentsByToken;
  /** Of one agent at once. */
  readonly callsPerAgent: number;
  readonly upstreams: readonly Upstream[];
  readonly connections: UpstreamConnections;
  /** Whether calls happen although no gateway answers. */
  readonly failOpen: boolean;
  readonly toolMemory: ToolMemory;
  /** Says something to whoever runs the proxy. */
  readonly tell: (line: string) => void;
}

const healthPath = '/healthz';

/** Answers a request, whatever it is. Never throws. */
export async function handleRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path, query] = targetOf(request.url ?? '');
  try {
    if (path === healthPath) return sendJson(response, { status: 'ok' });
    context.hosts.require(request);
    const route = callRouteOf(path);
    if (route !== undefined) return await handleCall(context, route, query, request, response);
    if (path !== modelsPath) throw new Refusal('unknown_url', `there is no ${path.slice(0, 200)} here`);
    requireMethod(request, 'GET');
    return await handleModels(context, request, response);
  } catch (error) {
    if (response.destroyed) return;
    const refusal = refusalOf(error);
    if (refusal.code === 'internal_error') context.tell(`the proxy has failed: ${describe(error)}`);
    sendRefusal(response, kindOf(path, request.headers), refusal);
  }
}

async function handleCall(
  context: ProxyContext,
  route: CallRoute,
  query: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  requireMethod(request, 'POST');
  const token = agentTokenOf(request.headers);
  // An address is written into logs on the way.
  if (query.includes(token)) throw new Refusal('invalid_request', 'the token must not stand in the address');
  const subjectToken = subjectTokenOf(request);
  if (subjectToken !== undefined && subjectToken !== '' && query.includes(subjectToken)) {
    throw new Refusal('invalid_request', 'the token of the user must not stand in the address');
  }
  let given: GivenCall | undefined;
  const reading = async () => (given ??= await readCall(context, route, request, token));
  const answerRoom = context.answers.roomFor(token);
  const parts = { route, query, request, response, token, answerRoom, gone: goneSignal(response) };
  try {
    await actAs(context.agents, token, context.callsPerAgent, async (agent, revoked) => {
      const read = await reading();
      const { upstream } = read;
      const ids = { ...traceOf(request), runId: upstream.isRunFixed ? undefined : runIdOf(request), subjectToken };
      const judged = await judgedRequest(
        { agent, context, ids, upstream, gone: parts.gone },
        route.dialect,
        read.parsed,
      );
      // Without a gateway it goes on as what was decided of it so far.
      given = { ...read, parsed: judged };
      const opId = `${ids.traceId}:${ids.spanId}`;
      const noteAnswer = (answer: unknown) => noteCalls(context.toolMemory, agent, route.dialect, answer);
      const promptRoom = context.prompts.roomFor(agent.id.orgId);
      const call = makeCall(context, { ...parts, opId, revoked, noteAnswer, promptRoom }, given);
      await governCall(agent, call, ids, context);
      await untilTaken(response);
    });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.code === 'invalid_api_key') context.agents.forget(token);
    if (refusal.code !== 'gateway_unavailable' || !context.failOpen) throw error;
    const { parsed } = await reading();
    if (context.knownMasks.has(parsed.model)) throw error;
    context.tell(`fail-open: a call of ${route.path} goes to its upstream unchecked. ${refusal.message}`);
    const promptRoom = context.prompts.roomFor('');
    const revoked = new AbortController().signal;
    const ungovernedParts = { ...parts, opId: '', revoked, noteAnswer: () => {}, promptRoom };
    await carryOut(makeCall(context, ungovernedParts, await reading()), ungoverned(), context);
    await untilTaken(response);
  } finally {
    answerRoom.release();
    given?.held.release();
  }
}

type CallParts = Omit<ModelCall, 'upstream' | 'asked' | 'reader' | 'passed' | 'body' | 'outgoing'>;

/** A call as its client has sent it, or as what its model may read of it. */
interface GivenCall {
  readonly held: HeldBody;
  readonly parsed: JsonRequest;
  readonly upstream: Upstream;
}

async function readCall(
  { bodies, upstreams }: ProxyContext,
  { dialect }: CallRoute,
  request: IncomingMessage,
  token: string,
): Promise<GivenCall> {
  const held = await bodies.read(request, token);
  try {
    const parsed = parseRequest(held.bytes);
    requireClearMessages(parsed);
    const upstream = upstreamFor(upstreams, dialect.kind, parsed.model);
    if (upstream !== undefined) return { held, parsed, upstream };
    throw new Refusal('model_not_found', `no upstream serves the model ${JSON.stringify(parsed.model)} here`);
  } catch (error) {
    held.release();
    throw error;
  }
}

function makeCall({ connections }: ProxyContext, parts: CallParts, { held, parsed, upstream }: GivenCall): ModelCall {
  const { route } = parts;
  const body = bodyOf(held, parsed, route.dialect.bodyFor(parsed));
  return {
    ...parts,
    upstream,
    asked: askedBy(route, parsed, upstream),
    reader: route.dialect.readerFor(parsed),
    passed: { isStream: false, last: undefined, textBytes: 0 },
    body,
    outgoing: outgoing(connections, upstream, parts),
  };
}

function outgoing(
  connections: UpstreamConnections,
  upstream: Upstream,
  { route, query, request, token }: Pick<CallParts, 'route' | 'query' | 'request' | 'token'>,
): (bytes: number) => SendUpstream {
  let ready: { readonly bytes: number; readonly send: SendUpstream } | undefined;
  return (bytes) => {
    if (ready?.bytes === bytes) return ready.send;
    const path = upstreamPath(upstream, route.path, query);
    const headers = requestHeaders(request, token, upstream, bytes);
    ready = { bytes, send: connections.prepare(upstream, { method: 'POST', path, headers }) };
    return ready.send;
  };
}

function bodyOf(held: HeldBody, request: JsonRequest, bytes: Buffer): CallBody {
  let left: { readonly request: JsonRequest; readonly bytes: Buffer } | undefined = { request, bytes };
  let { length } = bytes;
  const present = () => {
    if (left === undefined) throw new Error('the body was sent already');
    return left;
  };
  return {
    get length() {
      return length;
    },
    get isTaken() {
      return left === undefined;
    },
    get request() {
      return present().request;
    },
    replace: (other, itsBytes) => {
      left = { request: other, bytes: itsBytes };
      ({ length } = itsBytes);
    },
    take: () => {
      const taken = present().bytes;
      left = undefined;
      return taken;
    },
    release: held.release,
  };
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) gone.abort(new Error('the client went away'));
  };
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  return gone.signal;
}

async function handleModels(context: ProxyContext, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const token = agentTokenOf(request.headers);
  const gone = goneSignal(response);
  await actAs(context.agents, token, context.callsPerAgent, async () => {
    const patience = AbortSignal.any([gone, AbortSignal.timeout(context.upstreamTimeoutMs)]);
    sendJson(response, await listModels(context.upstreams, context.connections, patience));
    await untilTaken(response);
  });
}

function requireMethod(request: IncomingMessage, method: string): void {
  if (request.method === method) return;
  throw new Refusal('method_not_allowed', `only ${method} is possible here`);
}

function sendJson(response: ServerResponse, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'for no reason';
}

/** The path and the query of a request's target, which may be a whole address. */
function targetOf(target: string): [path: string, query: string] {
  const bare = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(bare) ?? [];
  return [path === '' ? '/' : path, query];
}

/** Resolves when the client has taken all that was sent, or is gone. Until then it stays in memory. */
async function untilTaken(response: ServerResponse): Promise<void> {
  if (!response.writableEnded || response.writableFinished || response.destroyed) return;
  await new Promise<void>((resolve) => response.once('finish', resolve).once('close', resolve));
}

/** Stands for the operation of a call that is not checked, because no gateway answers. */
function ungoverned(): CallOperation {
  return {
    state: 'running',
    signal: new AbortController().signal,
    answer: { judgeResult: false, judgePrompt: false },
    checkpoint: async () => {},
    checkResult: async (result) => result,
    checkPrompt: async (prompt) => prompt,
    checkStreamed: async () => undefined,
    used: () => {},
    spent: () => {},
    ended: () => {},
    note: () => {},
  };
}
