import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly status: string;
    readonly detail: string;
    readonly advice: string;
  }[];
}

/** Many commands come from one address. */
const unlimited = {
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_API_PER_MIN: '0',
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: unlimited });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function examine(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | null; report: Report }> {
  using home = new TestHome();
  const { code, stdout, stderr } = await home.run(['doctor', '-o', 'json', ...args], { env });
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) as Report };
}

const statuses = ({ findings }: Report) => Object.fromEntries(findings.map(({ check, status }) => [check, status]));

describe('doctor', () => {
  test('finds everything in order, line by line', async () => {
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http };
    await home.run(['login', '--api-key', bootstrapKey], { env });
    const { code, stdout, stderr } = await home.run(['doctor'], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`no contexts; using ${gateway.http}\n`);
    for (const check of [
      'configuration',
      'session',
      'disk',
      'tls',
      'gateway',
      'clock',
      'store',
      'policy',
      'version',
      'credential',
      'cluster',
      'chain',
      'ledger',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ok +${check} +\\S`, 'm'));
    }
    expect(stdout).toMatch(/^skipped +tenants +not probed\n +Run with --tenants/m);
    expect(stdout).toMatch(/^13 in order, 0 to look at, 0 failed, 1 skipped\.$/m);
  });

  test('has the same findings as data', async () => {
    const { code, report } = await examine(
      { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey },
      '--skip',
      'disk,chain',
    );
    expect([code, report.healthy]).toEqual([0, true]);
    expect(statuses(report)).toEqual({
      configuration: 'ok',
      session: 'ok',
      tls: 'ok',
      gateway: 'ok',
      clock: 'ok',
      store: 'ok',
      policy: 'ok',
      version: 'ok',
      credential: 'ok',
      cluster: 'ok',
      ledger: 'ok',
      tenants: 'skipped',
    });
  });

  test('says what to do without a credential', async () => {
    const { code, report } = await examine({ REEVE_API_URL: gateway.http });
    expect([code, report.healthy]).toEqual([1, false]);
    expect(statuses(report)).toMatchObject({ session: 'warning', credential: 'failed' });
    expect(report.findings.find(({ check }) => check === 'credential')?.advice).toContain('reeve login');
  });

  test('says what to do where the gateway does not answer', async () => {
    const { code, report } = await examine({ REEVE_API_URL: 'http://127.0.0.1:9', REEVE_API_KEY: bootstrapKey });
    expect(code).toBe(1);
    expect(report.findings.at(-1)).toMatchObject({
      check: 'gateway',
      status: 'failed',
      advice: expect.stringContaining('reeve serve'),
    });
  });

  test('says what is wrong with the configuration', async () => {
    using home = new TestHome();
    home.writeConfig('contexts: [');
    const { code, stdout } = await home.run(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILED +configuration +.*config\.yaml is not YAML.*\n +Mend the file/m);
  });

  test('shows what the gateway says of its parts', async () => {
    await using degraded = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    degraded.writePolicy('bad.yaml', 'name: [');
    await eventually(async () => expect((await degraded.ready()).body.status).toBe('degraded'));
    const { code, report } = await examine({ REEVE_API_URL: degraded.http, REEVE_API_KEY: bootstrapKey });
    expect(code).toBe(0);
    expect(report.findings.find(({ check }) => check === 'policy')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('bad.yaml'),
    });
  });

  test.each([
    ['behind', 3600, /3(599|600|601) s behind/],
    ['ahead of', -3600, /3(599|600|601) s ahead of/],
  ])('sees a clock that is %s the gateway’s', async (_where, offset, words) => {
    await using server = await FakeServer.start(() => ({
      json: { status: 'ok', version: '0.0.1', parts: {} },
      headers: { date: new Date(Date.now() + offset * 1000).toUTCString() },
    }));
    const { report } = await examine({ REEVE_API_URL: server.url });
    expect(report.findings.find(({ check }) => check === 'clock')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(words),
    });
    expect(report.findings.find(({ check }) => check === 'version')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('0.0.1'),
    });
  });

  test('warns of a credential that travels unencrypted', async () => {
    const { report } = await examine({ REEVE_API_URL: 'http://reeve.invalid' });
    expect(report.findings.find(({ check }) => check === 'tls')).toMatchObject({
      status: 'warning',
      advice: expect.stringContaining('https'),
    });
  });

  test('of a tenant’s credential says that gateways, chain and ledger were not checkable', async () => {
    const { key } = await makeKey(gateway, { org_id: 'acme' });
    const { code, report } = await examine({ REEVE_API_URL: gateway.http, REEVE_API_KEY: key }, '--tenants');
    expect(code).toBe(0);
    expect(statuses(report)).toMatchObject({
      cluster: 'skipped',
      chain: 'skipped',
      ledger: 'skipped',
      tenants: 'skipped',
    });
  });

  test('finds a chain that was broken', async () => {
    await using server = await FakeServer.start(({ path }) => {
      if (path.startsWith('/api/v1/auth/me'))
        return { json: { kind: 'api_key', scopes: ['read'], org_id: null, team_id: null } };
      if (path.startsWith('/api/v1/logs/export'))
        return { body: `{"seq":1,"prev_hash":"${'0'.repeat(64)}","hash":"00"}\n` };
      return { json: { status: 'ok', version: '0.1.0', parts: {}, keys: [] } };
    });
    const { code, report } = await examine({ REEVE_API_URL: server.url });
    expect(code).toBe(1);
    expect(report.findings.find(({ check }) => check === 'chain')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('Entry 1 is broken'),
    });
  });

  test('does not probe tenants where gRPC does not answer, and says how to name it', async () => {
    const { code, report } = await examine(
      { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey },
      '--tenants',
      '--grpc',
      '127.0.0.1:9',
      '--skip',
      'chain',
    );
    expect(code).toBe(0);
    expect(report.findings.at(-1)).toMatchObject({
      check: 'tenants',
      status: 'skipped',
      advice: expect.stringContaining('--grpc'),
    });
  });
});
