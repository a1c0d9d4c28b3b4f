import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { CheckActionRequest, CheckActionResponse, HeartbeatRequest, HeartbeatResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway } from '../harness/gateway.ts';
import type { Codec } from '../harness/grpc-client.ts';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A span in OTLP JSON. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** Just enough of an OpenTelemetry collector to see what it receives. */
class Collector {
  readonly #server: Server;
  received: Export[] = [];
  readonly paths = new Set<string>();

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#take(request).then(() => response.setHeader('content-type', 'application/json').end('{}'));
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get spans(): Span[] {
    return this.received.flatMap((sent) =>
      sent.resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans)),
    );
  }

  get resource(): Record<string, unknown> {
    return values(this.received[0]?.resourceSpans[0]?.resource.attributes ?? []);
  }

  async #take(request: IncomingMessage): Promise<void> {
    this.paths.add(`${request.method} ${request.url}`);
    expect(request.headers['content-type']).toBe('application/json');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.received.push(JSON.parse(Buffer.concat(chunks).toString()) as Export);
  }
}

function values(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** A unary call with a trace, as from any instrumented agent. */
async function callWith<Request, Response>(
  gateway: TestGateway,
  traceparent: string,
  path: string,
  codecs: readonly [Codec<Request>, Codec<Response>],
  message: Request,
): Promise<Response> {
  const client = new Client(gateway.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('traceparent', traceparent);
  try {
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        (value: Request) => Buffer.from(codecs[0].encode(value).finish()),
        (bytes: Buffer) => codecs[1].decode(bytes),
        message,
        metadata,
        (error: Error | null, answer?: Response) => (error === null ? resolve(answer as Response) : reject(error)),
      );
    });
  } finally {
    client.close();
  }
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parentId}-01`;

/** Reports each OpenTelemetry module that is loaded, however it is requested. */
const reporting = encodeURIComponent(
  `import { registerHooks } from 'node:module';
   registerHooks({ resolve(specifier, context, next) {
     const found = next(specifier, context);
     if (found.url.includes('/@opentelemetry/')) process.stderr.write('loaded ' + found.url + '\\n');
     return found;
   } });`,
);
const reportLoading = { NODE_OPTIONS: `--import=data:text/javascript,${reporting}` };
/** A bundle has no modules to report. */
const fromSources = true;

const collector = new Collector();
let endpoint: string;
beforeAll(async () => {
  endpoint = await collector.start();
});
afterAll(() => collector.stop());

describe('with an endpoint', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '50', ...reportLoading };
    gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env, fromSources });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  beforeEach(() => {
    collector.received = [];
  });

  function spanOf(name: string): Promise<Span> {
    return eventually(() => {
      const span = collector.spans.find((candidate) => candidate.name === name);
      if (span === undefined) throw new Error(`no span ${name} among ${collector.spans.map((s) => s.name).join(', ')}`);
      return span;
    });
  }

  test('an HTTP call continues the caller’s trace', async () => {
    await gateway.api.send('GET', '/api/v1/agents/acme/core/nobody?org_id=secretive', {
      bearer: bootstrapKey,
      headers: { traceparent },
    });
    const span = await spanOf('GET /api/v1/agents/:org/:team/:agent');
    expect(span).toMatchObject({ traceId, parentSpanId: parentId, kind: 2 });
    expect(span.spanId).not.toBe(parentId);
    expect(values(span.attributes)).toMatchObject({
      'http.route': '/api/v1/agents/:org/:team/:agent',
      'http.response.status_code': 404,
    });
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    expect(collector.paths).toEqual(new Set(['POST /v1/traces']));
    expect(collector.resource).toMatchObject({ 'service.name': 'reeve', 'service.version': expect.any(String) });
  });

  test('a gRPC call continues the caller’s trace', async () => {
    const agent = await gateway.register({ agentId: 'traced' });
    const codecs = [CheckActionRequest, CheckActionResponse] as const;
    const request = checkRequest(agent, { traceId: 'of-the-operation', spanId: 'not-of-the-call' });
    expect(await callWith(gateway, traceparent, paths.checkAction, codecs, request)).toMatchObject({ decision: 1 });
    const span = await spanOf('reeve.v1.PolicyService/CheckAction');
    expect(span).toMatchObject({ traceId, parentSpanId: parentId, kind: 2 });
    expect(values(span.attributes)).toMatchObject({ 'rpc.system': 'grpc' });
  });

  test('a call that fails is a span with an error', async () => {
    const request = { agentId: { orgId: 'acme', teamId: 'core', agentId: 'nobody' }, credentialToken: 'x' };
    const codecs = [HeartbeatRequest, HeartbeatResponse] as const;
    await expect(callWith(gateway, traceparent, paths.heartbeat, codecs, request)).rejects.toThrow();
    expect(await spanOf('reeve.v1.AgentService/Heartbeat')).toMatchObject({ traceId, status: { code: 2 } });
  });

  test.each([
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}`,
  ])('without a usable traceparent ("%s") a trace of its own begins', async (broken) => {
    await gateway.api.send('GET', '/api/v1/auth/methods', { headers: { traceparent: broken } });
    const span = await spanOf('GET /api/v1/auth/methods');
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span.traceId).not.toBe(traceId);
    expect(span.parentSpanId ?? '').toBe('');
  });

  test('an unknown path is one name, and no credential, query or tenant is sent along', async () => {
    const agent = await gateway.register({ orgId: 'confidential', agentId: 'quiet' });
    await gateway.check(agent);
    await gateway.api.get(`/made/up/${bootstrapKey}?key=${bootstrapKey}`);
    await gateway.api.get('/api/v1/logs?org_id=confidential', bootstrapKey);
    await spanOf('GET unknown');
    await spanOf('GET /api/v1/logs');
    await spanOf('reeve.v1.PolicyService/CheckAction');
    const sent = JSON.stringify(collector.received);
    for (const secret of [bootstrapKey, agent.token, 'confidential', 'made/up']) expect(sent).not.toContain(secret);
  });

  test('what is not sent yet is sent when the gateway stops', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_SERVICE_NAME: 'mine' };
    await using slow = await TestGateway.start({ env });
    await slow.api.get('/api/v1/auth/methods');
    expect(collector.spans).toEqual([]);
    expect(await slow.kill('SIGTERM')).toBe(0);
    expect(collector.spans.map((span) => span.name)).toEqual(['GET /api/v1/auth/methods']);
    expect(collector.resource).toMatchObject({ 'service.name': 'mine' });
  });

  test('the SDK is loaded for it', () => {
    expect(gateway.output().stderr).toMatch(/loaded .*@opentelemetry\/exporter-trace-otlp-http/);
    expect(gateway.output().stderr).toMatch(/loaded .*@opentelemetry\/sdk-trace/);
  });
});

test.each<[string, Record<string, string>]>([
  ['no OTEL_ variable is set', {}],
  ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_SERVICE_NAME: 'reeve' }],
])('nothing is loaded where %s', async (_what, env) => {
  await using quiet = await TestGateway.start({ env: { ...env, ...reportLoading }, fromSources });
  await quiet.api.send('GET', '/api/v1/auth/methods', { headers: { traceparent } });
  const loaded = quiet.output().stderr.match(/loaded \S+/g) ?? [];
  expect(loaded.filter((url) => !url.includes('/@opentelemetry/api/'))).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true' }],
  ['OTEL_TRACES_EXPORTER=none', { OTEL_TRACES_EXPORTER: 'none' }],
])('nothing is loaded or sent with %s, also where there is an endpoint', async (_what, env) => {
  collector.received = [];
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '10', ...env, ...reportLoading };
  await using quiet = await TestGateway.start({ env: given, fromSources });
  await quiet.api.send('GET', '/api/v1/auth/methods', { headers: { traceparent } });
  expect(await quiet.kill('SIGTERM')).toBe(0);
  expect(collector.received).toEqual([]);
  expect(quiet.output().stderr).not.toContain('exporter-trace-otlp-http');
});

test('what is recorded follows the standard sampler variables, and the caller’s own decision', async () => {
  collector.received = [];
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '10' };
  const call = async (env: Record<string, string>, flags: string) => {
    await using gateway = await TestGateway.start({ env: { ...given, ...env } });
    const headers = { traceparent: `00-${traceId}-${parentId}-${flags}` };
    await gateway.api.send('GET', '/api/v1/auth/methods', { headers });
    await gateway.kill('SIGTERM');
    return collector.spans.length;
  };
  expect(await call({}, '00')).toBe(0);
  expect(await call({ OTEL_TRACES_SAMPLER: 'always_off' }, '01')).toBe(0);
});

test('a collector that is not there keeps nobody waiting', async () => {
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  };
  await using alone = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  const agent = await alone.register({ agentId: 'a' });
  for (let i = 0; i < 20; i++) {
    expect(await alone.check(agent)).toMatchObject({ decision: 1 });
    expect((await alone.api.get('/healthz')).status).toBe(200);
  }
  expect(await alone.kill('SIGTERM')).toBe(0);
});
