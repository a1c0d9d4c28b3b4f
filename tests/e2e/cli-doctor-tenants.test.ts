import { expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

const unlimited = {
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_API_PER_MIN: '0',
};

interface Report {
  readonly findings: readonly { readonly check: string; readonly status: string; readonly detail: string }[];
}

// Thousands of calls, one after the other.
test('doctor probes with two canary orgs whether tenants are apart', { timeout: 400_000 }, async () => {
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: unlimited });
  using home = new TestHome();
  const env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
  const args = ['doctor', '-o', 'json', '--tenants', '--grpc', gateway.grpc];
  const { code, stdout } = await home.run(args, { env });
  const report = JSON.parse(stdout) as Report;
  expect(report.findings.find(({ check }) => check === 'tenants')).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/^cannot see or touch each other: \d+ calls tried$/),
  });
  expect(code).toBe(0);
});
