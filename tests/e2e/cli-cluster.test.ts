import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import type { FakeAnswer } from '../harness/fake-server.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

interface Listed {
  readonly gateways: readonly Record<string, unknown>[];
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
const one = {
  id: 'gw-1',
  version: '0.1.0',
  started_at: hourAgo,
  state: 'active',
  agents: 12,
  ops_in_flight: 4,
  self: true,
};
const two = { ...one, id: 'gw-2', agents: 3, ops_in_flight: 0, self: false };
const three = { ...two, id: 'gw-3', state: 'lost' };

async function run(url: string, key: string, ...args: string[]) {
  using home = new TestHome();
  return await home.run(args, { env: { REEVE_API_URL: url, REEVE_API_KEY: key } });
}

describe('cluster', () => {
  test('lists a gateway alone, as the API does', async () => {
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
    const { gateways } = await home.json<Listed>(['cluster'], { env });
    const { body } = await gateway.api.get<Listed>('/api/v1/cluster', bootstrapKey);
    expect(gateways).toEqual(body.gateways);
    expect(gateways).toMatchObject([{ state: 'active', self: true, agents: 0, ops_in_flight: 0 }]);
    const { code, stdout } = await home.run(['cluster'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ID +STATE +VERSION +UP +AGENTS +IN FLIGHT +THIS ONE\n/);
    expect(stdout).toMatch(/^[0-9a-f-]{36} +active +\d+\.\d+\.\d+ +less than a minute +0 +0 +yes$/m);
  });

  test('lists several, each with its state', async () => {
    await using server = await FakeServer.start(() => ({ json: { gateways: [one, two, three] } }));
    const { code, stdout, stderr } = await run(server.url, bootstrapKey, 'cluster');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^gw-1 +active +0\.1\.0 +60 minutes +12 +4 +yes$/m);
    expect(stdout).toMatch(/^gw-2 +active +0\.1\.0 +60 minutes +3 +0 +-$/m);
    expect(stdout, 'nobody knows how long a lost one was up').toMatch(/^gw-3 +lost +0\.1\.0 +- +3 +0 +-$/m);
    const data = await run(server.url, bootstrapKey, 'cluster', '-o', 'json');
    expect(JSON.parse(data.stdout)).toEqual({ gateways: [one, two, three] });
  });

  test('says why, where a tenant asks', async () => {
    const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
    const { code, stderr } = await run(gateway.http, key, 'cluster');
    const said = await gateway.api.get<{ detail: string }>('/api/v1/cluster', key);
    expect([code, stderr]).toEqual([1, `error: ${said.body.detail}\n`]);
  });
});

describe('doctor', () => {
  async function cluster(answer: FakeAnswer): Promise<unknown> {
    await using server = await FakeServer.start(({ path }) => {
      if (path.startsWith('/api/v1/cluster')) return answer;
      if (path.startsWith('/api/v1/auth/me'))
        return { json: { kind: 'api_key', scopes: ['admin'], org_id: null, team_id: null } };
      return { json: { status: 'ok', version: '0.1.0', parts: {}, consistent: true, checked_entries: 0 } };
    });
    const { stdout } = await run(server.url, bootstrapKey, 'doctor', '--skip', 'chain', '-o', 'json');
    const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
    return findings.find(({ check }) => check === 'cluster');
  }
  const of = (...gateways: unknown[]): FakeAnswer => ({ json: { gateways } });

  test.each([
    ['one alone', of(one), 'ok', /^1 gateway, active$/, /^$/],
    ['several', of(one, two), 'ok', /^2 gateways, all active$/, /^$/],
    ['one that leaves', of(one, { ...two, state: 'leaving' }), 'ok', /^2 gateways: 1 active, 1 leaving$/, /^$/],
    ['a lost one', of(one, two, three), 'warning', /^3 gateways: 2 active, 1 lost \(gw-3\)$/, /Start it again/],
    [
      'an upgrade',
      of(one, { ...two, version: '0.2.0' }),
      'warning',
      /^2 gateways, all active; versions 0\.1\.0, 0\.2\.0$/,
      /Finish the upgrade/,
    ],
    [
      'a lost one of an older version',
      of(one, { ...three, version: '0.0.9' }),
      'warning',
      /^2 gateways: 1 active, 1 lost \(gw-3\)$/,
      /^Start it again[^.]*\.$/,
    ],
    ['an older gateway', { status: 404, json: { code: 'not_found' } }, 'skipped', /does not list/, /./],
    ['a refusal', { status: 403, json: { code: 'tenant_bound', detail: 'no' } }, 'skipped', /does not suffice/, /./],
    ['another form', { json: { nodes: [] } }, 'skipped', /does not list/, /./],
    ['a fault', { status: 500, json: { code: 'internal', detail: 'ouch' } }, 'failed', /ouch/, /log of the gateway/],
  ] as const)('finds %s', async (_what, answer, status, detail, advice) => {
    expect(await cluster(answer)).toMatchObject({
      status,
      detail: expect.stringMatching(detail),
      advice: expect.stringMatching(advice),
    });
  });
});
