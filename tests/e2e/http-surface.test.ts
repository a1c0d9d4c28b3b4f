import type { Problem, Route } from '@reeve/contract/http';
import { problemSchema, routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { rawRequest, sendRaw } from '../harness/raw-http.ts';

/** What every route does alike (RFC 9457, RFC 9110), tried at every route of the table. */

let gateway: TestGateway;
beforeAll(async () => {
  const unlimited = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0' };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: unlimited });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const every = Object.entries<Route>(routes);
/** Without those for people, which an API key is refused at before anything is read. */
const reachable = every.filter(([, { tenancy }]) => tenancy !== 'person');
const authorized = `Authorization: Bearer ${bootstrapKey}`;

function pathOf({ path }: Pick<Route, 'path'>): string {
  return path.replaceAll(/\{\w+\}/g, 'nothing');
}

async function problemAt(
  method: string,
  path: string,
  headers: readonly string[] = [],
  body = '',
  authorization = authorized,
) {
  const answer = await sendRaw(gateway.http, rawRequest(method, path, [authorization, ...headers], body));
  expect(answer.headers.get('content-type'), `${method} ${path}`).toBe('application/problem+json');
  const problem: Problem = problemSchema.parse(JSON.parse(answer.text));
  expect(problem.status).toBe(answer.status);
  return { ...answer, problem };
}

describe('methods', () => {
  test.each(every.map(([name, route]) => [name, pathOf(route)]))(
    '%s: OPTIONS and TRACE are 405 with Allow',
    async (_, path) => {
      for (const method of ['OPTIONS', 'TRACE']) {
        const { status, headers, problem } = await problemAt(method, path);
        expect(status, method).toBe(405);
        expect(problem.code).toBe('method_not_allowed');
        expect(headers.get('allow')).not.toContain(method);
      }
    },
  );

  test.each([
    ['/api/v1/policies/anything', 'GET, HEAD, PUT, DELETE'],
    ['/api/v1/policies/te%2Fst', 'GET, HEAD, PUT, DELETE'],
    ['/api/v1/policies/test', 'GET, HEAD, PUT, DELETE, POST'],
    ['/api/v1/policies/%74est', 'GET, HEAD, PUT, DELETE, POST'],
    ['/api/v1/%70olicies', 'GET, HEAD'],
  ])('the Allow of %s names what is answered there: %s', async (path, allow) => {
    const { status, headers } = await problemAt('OPTIONS', path);
    expect([status, headers.get('allow')]).toEqual([405, allow]);
    for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
      const answer = await sendRaw(gateway.http, rawRequest(method, path, [authorized]));
      expect(answer.status === 405, method).toBe(!allow.includes(method));
    }
  });

  test.each(every.filter(([, { method, stream }]) => method === 'GET' && stream === undefined))(
    '%s: HEAD has the status and the type of GET, and no body',
    async (_, route) => {
      const get = await sendRaw(gateway.http, rawRequest('GET', pathOf(route), [authorized]));
      const head = await sendRaw(gateway.http, rawRequest('HEAD', pathOf(route), [authorized]));
      expect(head.text).toBe('');
      expect(head.status).toBe(get.status);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    },
  );
});

describe('paths', () => {
  test.each(every)('%s: a slash more is another path', async (_, route) => {
    const { status, problem } = await problemAt(route.method, `${pathOf(route)}/`);
    expect([status, problem.code]).toEqual([404, 'not_found']);
  });

  test.each(every.filter(([, { path }]) => path.includes('{')))('%s: an empty name is no name', async (_, route) => {
    const path = route.path.replace(/\{\w+\}/, '').replaceAll(/\{\w+\}/g, 'nothing');
    const { status } = await problemAt(route.method, path);
    expect(status).toBe(404);
  });
});

describe('tenancy', () => {
  let tenant: string;
  beforeAll(async () => {
    const grant = JSON.stringify({ label: 'tenant', scopes: ['admin'], org_id: 'acme' });
    const request = rawRequest('POST', routes.createApiKey.path, [authorized, 'Content-Type: application/json'], grant);
    const { key } = z.object({ key: z.string() }).parse(JSON.parse((await sendRaw(gateway.http, request)).text));
    tenant = `Authorization: Bearer ${key}`;
  });
  const refusals = {
    unbound: ['tenant_bound', 'this belongs to credentials that are bound to no org'],
    person: ['account_required', 'this is about your own account; log in as a person'],
  } as const;

  test.each(
    every.flatMap(([name, route]) => {
      const { tenancy } = route;
      return tenancy === 'unbound' || tenancy === 'person' ? [[name, route, refusals[tenancy]] as const] : [];
    }),
  )('%s: an admin of a tenant is refused before anything is read', async (_, route, refusal) => {
    const json = route.method === 'GET' ? [] : ['Content-Type: application/json', `Origin: ${gateway.http}`];
    const body = route.method === 'GET' ? '' : '{"a":';
    const { status, problem } = await problemAt(route.method, `${pathOf(route)}?per_page=x`, json, body, tenant);
    expect([status, problem.code, problem.detail]).toEqual([403, ...refusal]);
  });
});

describe('queries', () => {
  const parameters = reachable.flatMap(([name, route]) =>
    Object.entries(route.query?.shape ?? {}).map(([parameter, schema]) => ({ name, route, parameter, schema })),
  );
  const isNumber = (schema: unknown) =>
    z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }).type === 'integer';

  test.each(parameters)('$name: $parameter twice is a 422 that points at it', async ({ route, parameter }) => {
    const { status, problem } = await problemAt(route.method, `${pathOf(route)}?${parameter}=1&${parameter}=2`);
    if (status === 401) return expect(parameter).toBe('ticket');
    expect(status).toBe(422);
    return expect(problem.errors?.map(({ pointer }) => pointer)).toContain(`/query/${parameter}`);
  });

  test.each(parameters.filter(({ schema }) => isNumber(schema)))(
    '$name: $parameter takes a whole number in digits, and nothing like one',
    async ({ route, parameter }) => {
      const texts = [
        '',
        'x',
        '1.5',
        '1e1',
        '0x10',
        '%2010',
        '10%20',
        '+10',
        '-1',
        '١',
        'true',
        '99999999999999999999',
        'NaN',
      ];
      for (const text of texts) {
        const { status, problem } = await problemAt(
          route.method,
          `${pathOf(route)}?${parameter}=${encodeURI(decodeURI(text))}`,
        );
        expect(status, text).toBe(422);
        expect(problem.errors?.[0]?.pointer, text).toBe(`/query/${parameter}`);
      }
    },
  );
});

test.each([
  'to=2026-01-01T00:00:00Z',
  'state=open&decided_by=ada',
  'decided_by=ada',
  'state=pending&from=2026-01-01T00:00:00Z',
])('approvals by ?%s need a state that is decided, and the problem points at it', async (query) => {
  const { status, problem } = await problemAt('GET', `/api/v1/approvals?${query}`);
  expect([status, problem.errors?.[0]?.pointer]).toEqual([422, '/query/state']);
});

describe('bodies', () => {
  test.each(reachable.filter(([, { method }]) => method !== 'GET'))(
    '%s: other types than JSON are 415',
    async (_, route) => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonx',
        'text/json',
      ]) {
        const { status, problem } = await problemAt(route.method, pathOf(route), [`Content-Type: ${type}`], '{}');
        expect([status, problem.code], type).toEqual([415, 'unsupported_media_type']);
      }
    },
  );

  test.each(reachable.filter(([, { method }]) => method !== 'GET'))(
    '%s: what is no JSON is 400, and no object 422',
    async (_, route) => {
      const json = ['Content-Type: application/json'];
      const broken = await problemAt(route.method, pathOf(route), json, '{"a":');
      expect([broken.status, broken.problem.code]).toEqual([400, 'malformed_json']);
      const twice = await problemAt(route.method, pathOf(route), json, '{"a":1,"a":2}');
      expect([twice.status, twice.problem.code]).toEqual([400, 'malformed_json']);
      for (const body of ['null', '[]', '"x"', '1']) {
        const { status, problem } = await problemAt(route.method, pathOf(route), json, body);
        expect([status, problem.code], body).toEqual([422, 'validation_failed']);
      }
    },
  );
});
