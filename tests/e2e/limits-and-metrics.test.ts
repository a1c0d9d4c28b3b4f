import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem, Route } from '@reeve/contract/http';
import { commonProblems, problemStatus, routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey, tokenOf } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const me = '/api/v1/auth/me';
const jwks = '/.well-known/jwks.json';
const policy = [
  'name: everyone\ndefault: allow\nrules:\n  - {name: no, effect: deny, tools: [forbidden]}\n',
  'name: acme\nscope: org:acme\nrules:\n  - {name: nor-this, effect: deny, tools: [acme_forbids]}\n',
].join('---\n');

describe('rate limits', () => {
  let limited: TestGateway;
  let proxied: TestGateway;
  beforeAll(async () => {
    const env = { SVC_RATE_LIMIT_API_PER_MIN: '4', SVC_RATE_LIMIT_PUBLIC_PER_MIN: '4' };
    limited = await TestGateway.start({ env });
    proxied = await TestGateway.start({ env: { ...env, SVC_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' } });
  });
  afterAll(async () => {
    await limited[Symbol.asyncDispose]();
    await proxied[Symbol.asyncDispose]();
  });

  /** A call from an address, as reported by a trusted proxy. */
  function from(address: string, path: string, bearer?: string, gateway = proxied) {
    const headers = { 'x-forwarded-for': address };
    return gateway.api.send<Problem>('GET', path, { headers, ...(bearer === undefined ? {} : { bearer }) });
  }

  test('a key and the tokens made from it count as one, and others are not concerned', async () => {
    const { key } = await makeKey(limited);
    const token = await tokenOf(limited, key);
    const remaining: string[] = [];
    for (const bearer of [key, token, key]) {
      const { status, headers } = await limited.api.get(me, bearer);
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"api";q=4;w=60');
      remaining.push(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? '');
    }
    expect(remaining).toEqual(['2', '1', '0']);
    for (const bearer of [key, token]) {
      const answer = await limited.api.get<Problem>(me, bearer);
      expect(answer.status).toBe(429);
      expect(answer.body).toMatchObject({ code: 'rate_limited' });
      const wait = Number(answer.headers.get('retry-after'));
      expect(Number.isInteger(wait)).toBe(true);
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(wait).toBeLessThanOrEqual(60);
      expect(answer.headers.get('ratelimit')).toBe(`"api";r=0;t=${wait}`);
      expect(answer.body.detail).toContain(`${wait} seconds`);
    }
    expect((await limited.api.post('/api/v1/auth/token', key)).status).toBe(429);
    expect((await limited.api.get(me, bootstrapKey)).status).toBe(200);
    const { text } = await limited.api.get('/metrics');
    expect(text).toMatch(/^reeve_rate_limited_total\{limit="api"\} 3$/m);
  });

  test('what is refused for its number is refused before it is read, and does nothing', async () => {
    const { key } = await makeKey(limited, { scopes: ['admin'] });
    for (let call = 0; call < 4; call++) expect((await limited.api.get(me, key)).status).toBe(200);
    const entries = limited.audit().length;
    const body = { label: 'x', scopes: ['read'] };
    expect((await limited.api.post('/api/v1/iam/api-keys', key, body)).status).toBe(429);
    expect((await limited.api.post('/api/v1/iam/api-keys', key, { bad: true })).status).toBe(429);
    expect(limited.audit()).toHaveLength(entries);
  });

  test('public routes are limited per address, and who only claims another address gains nothing', async () => {
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4']) {
      const { status, headers } = await from(address, jwks, undefined, limited);
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"public";q=4;w=60');
    }
    for (const path of [jwks, '/api/v1/auth/methods', '/openapi.json', '/docs', '/nothing']) {
      expect(await from('5.5.5.5', path, undefined, limited), path).toMatchObject({ status: 429 });
    }
    const wait = Number((await limited.api.get(jwks)).headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      for (let call = 0; call < 6; call++) {
        const answer = await limited.api.get(path);
        expect(answer.status, path).toBe(200);
        expect(answer.headers.has('ratelimit'), path).toBe(false);
      }
    }
  });

  test('a trusted proxy is believed: each address behind it has its own limit', async () => {
    for (let call = 0; call < 4; call++) expect((await from('203.0.113.1', jwks)).status).toBe(200);
    expect((await from('203.0.113.1', jwks)).status).toBe(429);
    expect((await from('203.0.113.2', jwks)).status).toBe(200);
    expect((await from('2001:db8::1', jwks)).status).toBe(200);
  });

  test('all addresses of an IPv6 network of 64 bits count as one, and IPv4 in IPv6 as IPv4', async () => {
    for (const end of ['1', 'ffff', 'a:b:c']) expect((await from(`2001:db8:7:7::${end}`, jwks)).status).toBe(200);
    expect((await from('2001:db8:7:7:1:2:3:4', jwks)).status).toBe(200);
    expect((await from('2001:db8:7:7::2', jwks)).status).toBe(429);
    expect((await from('2001:db8:7:8::2', jwks)).status).toBe(200);
    for (const address of ['203.0.113.77', '::ffff:203.0.113.77', '::ffff:cb00:714d', '203.0.113.77']) {
      expect((await from(address, jwks)).status).toBe(200);
    }
    expect((await from('::ffff:203.0.113.77', jwks)).status).toBe(429);
  });

  test('only the address that the last trusted proxy saw counts, whatever the caller puts before it', async () => {
    for (let call = 0; call < 4; call++) {
      expect((await from(`198.51.100.${call}, 203.0.113.3, 10.1.2.3`, jwks)).status).toBe(200);
    }
    expect((await from('198.51.100.9, 203.0.113.3', jwks)).status).toBe(429);
    expect((await from('203.0.113.3, 198.51.100.9', jwks)).status).toBe(200);
  });

  test('credentials that fail are limited per address; a good one from there still works', async () => {
    const wrong = bootstrapKey.replace('abcdefghijkl', 'abcdefghijkm');
    for (const bearer of [wrong, 'nonsense', undefined, 'a.b.c']) {
      expect((await from('203.0.113.4', me, bearer)).status).toBe(401);
    }
    for (const bearer of [wrong, undefined]) {
      const answer = await from('203.0.113.4', me, bearer);
      expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      expect(answer.headers.has('retry-after')).toBe(true);
    }
    expect((await from('203.0.113.4', me, bootstrapKey)).status).toBe(200);
    expect((await from('203.0.113.5', me, wrong)).status).toBe(401);
  });

  test('a path that leads nowhere counts, too', async () => {
    for (let call = 0; call < 4; call++) expect((await from('203.0.113.6', `/nothing/${call}`)).status).toBe(404);
    expect((await from('203.0.113.6', '/nothing')).status).toBe(429);
  });

  test('the 31st try within a minute is one too many, however long the others took', async () => {
    await using gateway = await TestGateway.start();
    const ask = (path: string) => gateway.api.post(`/api/v1/auth/${path}`, undefined, { email: 'nobody@example.com' });
    for (let call = 1; call <= 30; call++) {
      if (call === 20) await sleep(4000);
      const { status, headers } = await ask('password/reset');
      expect([call, status]).toEqual([call, 202]);
      expect(headers.get('ratelimit')).toContain(`"auth";r=${30 - call};`);
    }
    for (const path of ['login', 'register', 'invite/accept', 'password/reset', 'password/reset/confirm']) {
      const { status, headers } = await ask(path);
      expect([path, status]).toEqual([path, 429]);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    expect((await gateway.api.get('/api/v1/auth/methods')).status).toBe(200);
  });

  test('0 switches a limit off', async () => {
    const env = {
      SVC_RATE_LIMIT_API_PER_MIN: '0',
      SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
      SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
    };
    await using open = await TestGateway.start({ env });
    for (let round = 0; round < 14; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => open.api.get('/api/v1/auth/methods')));
      expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
      expect(answers[0]?.headers.has('ratelimit')).toBe(false);
    }
    expect((await open.api.get(me, bootstrapKey)).headers.has('ratelimit')).toBe(false);
  });
});

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the text format of Prometheus, strictly. */
function parseMetrics(text: string): { samples: Sample[]; types: Map<string, string> } {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const helped = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, comment, about = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (comment === 'HELP') helped.add(about);
    if (comment === 'TYPE') types.set(about, rest);
    if (comment !== undefined) continue;
    const [whole, name = '', labels = '', value = ''] =
      /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|NaN|Nan|[+-]Inf)$/.exec(line) ?? [];
    expect(whole, line).toBe(line);
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [
      label,
      text,
    ]);
    const family = name.replace(/_(bucket|sum|count)$/, '');
    const type = types.get(name) ?? types.get(family);
    expect(type, line).toBeDefined();
    expect(helped.has(name) || helped.has(family), line).toBe(true);
    samples.push({ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) });
  }
  return { samples, types };
}

describe('the service itself', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'all.yaml': policy } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  async function metrics() {
    const { status, text, headers } = await gateway.api.get('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const { samples, types } = parseMetrics(text);
    const value = (name: string, labels: Record<string, string> = {}) =>
      samples.find((sample) => sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
    return { samples, types, value, text };
  }

  test('metrics count decisions by outcome and tier, and how long they took', async () => {
    const agent = await gateway.register({ agentId: 'counted' });
    const before = await metrics();
    expect(before.samples.filter((sample) => sample.name === 'reeve_decisions_total')).toEqual([]);
    for (let i = 0; i < 3; i++) await gateway.check(agent);
    await gateway.check(agent, { context: toolCall('forbidden') });
    for (let i = 0; i < 2; i++) await gateway.check(agent, { context: toolCall('acme_forbids') });
    await gateway.check({ ...agent, token: 'x'.repeat(40) });
    const { samples, types, value } = await metrics();
    const decisions = samples.filter((sample) => sample.name === 'reeve_decisions_total');
    const total = (outcome: string, tier: string) =>
      decisions.find(({ labels }) => labels['outcome'] === outcome && labels['tier'] === tier)?.value;
    expect(total('allow', 'default')).toBe(3);
    expect(total('deny', 'global')).toBe(1);
    expect(total('deny', 'org')).toBe(2);
    expect(total('deny', 'identity')).toBe(1);
    expect(decisions).toHaveLength(4);
    expect(types.get('reeve_decisions_total')).toBe('counter');
    expect(value('reeve_decision_seconds_count')).toBe(7);
  });

  test.each(['reeve_decision_seconds', 'reeve_store_commit_seconds', 'reeve_http_request_seconds'])(
    '%s is a histogram: its buckets grow to its count, and its sum lies within them',
    async (name) => {
      const { samples, types, value } = await metrics();
      expect(types.get(name)).toBe('histogram');
      const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
      const bounds = buckets.map(({ labels }) =>
        labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']),
      );
      expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
      expect(bounds.at(-1)).toBe(Number.POSITIVE_INFINITY);
      const counts = buckets.map((bucket) => bucket.value);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(counts.at(-1)).toBe(value(`${name}_count`));
      expect(counts.at(-1)).toBeGreaterThan(0);
      let least = 0;
      for (const [i, count] of counts.entries()) least += (count - (counts[i - 1] ?? 0)) * (bounds[i - 1] ?? 0);
      expect(value(`${name}_sum`)).toBeGreaterThanOrEqual(least);
    },
  );

  test('metrics show operations by state, agents, the audit log and its indexes', async () => {
    const agent = await gateway.register({ orgId: 'globex', agentId: 'busy' });
    const before = await metrics();
    await gateway.check(agent);
    const { opId } = await gateway.check(agent);
    await gateway.complete(agent, opId);
    await gateway.check(agent, { context: toolCall('forbidden') });
    const after = await metrics();
    const grown = (state: string) =>
      (after.value('reeve_ops', { state }) ?? 0) - (before.value('reeve_ops', { state }) ?? 0);
    expect(['pending', 'running', 'paused', 'completing', 'terminated'].map(grown)).toEqual([0, 1, 0, 1, 1]);
    expect(after.value('reeve_agents')).toBe(2);
    expect(after.value('reeve_audit_seq')).toBe(gateway.audit().at(-1)?.seq);
    expect(after.value('reeve_audit_index_lag_entries')).toBeLessThanOrEqual(gateway.audit().length);
    await eventually(async () => expect((await metrics()).value('reeve_audit_index_lag_entries')).toBe(0));
    expect(after.value('reeve_websocket_clients')).toBe(0);
    expect(after.value('reeve_store_commit_failures_total')).toBe(0);
    expect(after.types.get('reeve_ops')).toBe('gauge');
  });

  test('metrics count failed authentications and answers by route, never by what a caller made up', async () => {
    const before = await metrics();
    for (let i = 0; i < 3; i++) await gateway.api.get(`/invented/${i}`);
    await gateway.api.get(me);
    await gateway.api.get(me, 'nonsense');
    await gateway.api.get('/api/v1/agents/invented/by/somebody', bootstrapKey);
    await eventually(async () => {
      const after = await metrics();
      const grown = (name: string, labels?: Record<string, string>) =>
        (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
      expect(grown('reeve_auth_failures_total')).toBe(2);
      expect(grown('reeve_http_requests_total', { route: 'unknown', status: '404' })).toBe(3);
      expect(grown('reeve_http_requests_total', { route: me, status: '401' })).toBe(2);
      const agentRoute = { route: '/api/v1/agents/:org/:team/:agent', status: '404' };
      expect(grown('reeve_http_requests_total', agentRoute)).toBe(1);
    });
    const { text } = await metrics();
    for (const word of ['invented', 'acme', 'globex', 'busy', bootstrapKey]) expect(text).not.toContain(word);
  });

  test('metrics tell of the process', async () => {
    const { value } = await metrics();
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'nodejs_heap_size_used_bytes',
    ]) {
      expect(value(name), name).toBeGreaterThan(0);
    }
    expect(value('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
  });

  test('healthz says that the process lives, readyz how each part is', async () => {
    expect((await gateway.api.get('/healthz')).body).toEqual({ status: 'ok' });
    const ok = { status: 'ok', detail: '' };
    const ready = await gateway.api.get('/readyz');
    expect(ready.body).toEqual({
      status: 'ok',
      draining: false,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      parts: { store: ok, policy: ok },
    });
    gateway.writePolicy('bad.yaml', 'rules: [nonsense');
    const policy = { status: 'degraded', detail: expect.stringContaining('bad.yaml') };
    await eventually(async () => {
      expect(await gateway.api.get('/readyz')).toMatchObject({
        status: 200,
        body: { status: 'degraded', parts: { store: ok, policy } },
      });
    });
    gateway.writePolicy('bad.yaml', 'name: fine\n');
    await eventually(async () => expect((await gateway.ready()).body.status).toBe('ok'));
  });

  test('the reference is a page that its own security policy lets through', async () => {
    const { status, headers, text } = await gateway.api.get('/docs');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
    const styles = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style = '']) => style);
    expect(styles).toHaveLength(1);
    const policy = headers.get('content-security-policy') ?? '';
    for (const style of styles) {
      expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    }
    expect(text).not.toMatch(/<script|<link|<img|<iframe|\sstyle=|\son\w+=|javascript:/i);
    for (const [name, route] of Object.entries<Route>(routes)) {
      expect(text, name).toContain(`<code>${route.path}</code>`);
      expect(text, name).toContain(`<article id="${name}">`);
    }
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });
});

describe('the OpenAPI document', () => {
  type Json = { [member: string]: unknown };
  type Operation = {
    operationId: string;
    security: Json[];
    parameters: { name: string; in: string; required: boolean; schema: Json }[];
    requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
    responses: Record<string, { description: string; content?: Record<string, { schema?: Json }> }>;
  };
  let document: { openapi: string; info: Json; paths: Record<string, Record<string, Operation>>; components: Json };
  beforeAll(async () => {
    await using gateway = await TestGateway.start({ args: ['--database', 'memory:'] });
    const answer = await gateway.api.get<typeof document>('/openapi.json');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    document = answer.body;
  });

  function* nodes(value: unknown): Generator<Json> {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) yield value as Json;
    for (const member of Object.values(value)) yield* nodes(member);
  }

  test('is OpenAPI 3.1 with a title and a version, and names nothing that JSON Schema does not know', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'Reeve', version: expect.any(String) });
    expect(Object.keys(document.paths).every((path) => path.startsWith('/'))).toBe(true);
    const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
    const { schemas } = document.components as { schemas: Json };
    for (const node of nodes(schemas)) {
      if (typeof node['type'] === 'string') expect(types).toContain(node['type']);
      expect(node).not.toHaveProperty('$schema');
      expect(node).not.toHaveProperty('$defs');
      expect(node).not.toHaveProperty('nullable');
    }
  });

  test('has every reference resolved within itself', () => {
    const references = [...nodes(document)].flatMap((node) => (typeof node['$ref'] === 'string' ? [node['$ref']] : []));
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) {
      expect(reference).toMatch(/^#\//);
      const parts = reference.slice(2).split('/');
      const found = parts.reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document);
      expect(found, reference).toBeDefined();
    }
  });

  test('has every route of the contract and no other, with its access, its parameters and its answers', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const contracted = Object.values<Route>(routes).map((route) => `${route.method} ${route.path}`);
    expect(described.toSorted()).toEqual(contracted.toSorted());
    const ids = new Set<string>();
    for (const [name, route] of Object.entries<Route>(routes)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      if (operation === undefined) throw new Error(`${name} is not described`);
      expect(operation.operationId).toBe(name);
      ids.add(operation.operationId);
      const byTicket = route.stream === undefined ? [] : [{ ticket: [] }];
      expect(operation.security, name).toEqual(route.access === 'public' ? [] : [{ bearer: [] }, ...byTicket]);
      const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
      const templated = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
      expect(inPath.map((parameter) => parameter.name).toSorted(), name).toEqual(templated.toSorted());
      for (const parameter of inPath) expect(parameter, name).toMatchObject({ required: true });
      for (const parameter of operation.parameters)
        expect(Object.keys(parameter.schema).length, name).toBeGreaterThan(0);
      expect(operation.requestBody !== undefined, name).toBe(route.body !== undefined);
      const statuses = new Set(
        [...commonProblems(route), ...route.problems].map((code) => String(problemStatus[code])),
      );
      const { status: usual, alternative } = route.success;
      const successes = alternative === undefined ? [usual] : [usual, alternative.status];
      expect(Object.keys(operation.responses).toSorted(), name).toEqual(
        [...statuses, ...successes.map(String)].toSorted(),
      );
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description, name).not.toBe('');
        const media = Object.keys(response.content ?? {});
        if (Number(status) >= 400) expect(media, name).toEqual(['application/problem+json']);
      }
    }
    expect(ids.size).toBe(Object.keys(routes).length);
    expect(document.components).toMatchObject({ securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } });
  });

  test('says what the server enforces: scopes, lengths, unknown members', () => {
    const create = document.paths['/api/v1/iam/api-keys']?.['post'];
    const schema = create?.requestBody?.content['application/json']?.schema;
    expect(schema).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['label', 'scopes'],
      properties: { scopes: { items: { enum: ['read', 'write', 'admin'] } }, label: { maxLength: 128 } },
    });
    const paging = document.paths['/api/v1/logs']?.['get']?.parameters.find(({ name }) => name === 'per_page');
    expect(paging).toMatchObject({ required: false, schema: { minimum: 1, maximum: 1000, default: 50 } });
  });
});
