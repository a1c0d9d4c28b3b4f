import { expect, test } from 'vitest';
import { FakeGateway } from './fake/fake-gateway.ts';
import type { Leak } from './fake/leaks.ts';
import { leaks } from './fake/leaks.ts';
import { formatReport } from './format-report.ts';
import type { TenantReport } from './notebook.ts';
import { probeTenants } from './probe-tenants.ts';

async function probe(leak?: Leak): Promise<TenantReport> {
  return probeTenants(new FakeGateway(leak).options);
}

test('a gateway that holds its tenants apart has no findings, and every operation was tried', async () => {
  const gateway = new FakeGateway();
  await using options = await gateway.listen();
  const report = await probeTenants(options);
  expect(report.findings, formatReport(report)).toEqual([]);
  expect(Object.values(report.tried.operations).every((calls) => calls > 0)).toBe(true);
  expect(formatReport(report)).toContain('Tenants cannot see or touch each other.');
  expect(gateway.agents).toEqual([]);
  expect(gateway.invites.open).toEqual([]);
  expect(inForce(gateway)).toEqual(['admin']);
});

test('a gateway without accounts invites nobody, which is no finding', async () => {
  const report = await probeTenants(new FakeGateway(undefined, { hasAccounts: false }).options);
  expect(report.findings, formatReport(report)).toEqual([]);
});

test('a leak in headers is caught over the wire, too', async () => {
  await using options = await new FakeGateway('a header shows others').listen();
  const { findings } = await probeTenants(options);
  expect(findings).toContainEqual(
    expect.objectContaining({ operation: 'GET /api/v1/agents', credential: 'org read key' }),
  );
});

function inForce({ keys }: FakeGateway): string[] {
  return keys.filter((key) => key.revoked_at === null).map((key) => key.label);
}

/** Where the probe must find each leak, and in what words. */
const caught: Readonly<Record<Leak, readonly [operation: string, credential: string, what: RegExp]>> = {
  'a list ignores the binding': ['GET /api/v1/agents', 'org read key', /^shows "canary-.*asked for its own$/],
  'a total counts others': ['GET /api/v1/agents', 'org read key', /^has the total 8 where it owns 4$/],
  'a number counts others': ['GET /api/v1/topology/stats', 'org read key', /^counts 8 agents where it owns 4/],
  'a filter by org is ignored': [
    'GET /api/v1/agents',
    'org read key',
    /^answers with something instead of nothing, asked for another org by org_id in the query/,
  ],
  'a binding to a team is ignored': ['GET /api/v1/agents', 'team read key', /^shows "canary-.*asked for its own$/],
  'a forbidden record instead of a missing one': [
    'GET /api/v1/agents/{org}/{team}/{agent}',
    'org read key',
    /^answers something else than 404, .*: 403 tenant_bound$/,
  ],
  'a telling detail': [
    'GET /api/v1/agents/{org}/{team}/{agent}',
    'org read key',
    /^tells it from one that does not exist by the body .* for you/,
  ],
  'a telling header': [
    'GET /api/v1/agents/{org}/{team}/{agent}',
    'org read key',
    /^tells it from one that does not exist by the headers .*x-found/,
  ],
  'no tenancy': ['GET /api/v1/new', '-', /^has no x-reeve-tenancy/],
  'a tenancy nobody knows': ['GET /api/v1/new', '-', /^has an x-reeve-tenancy that is not known: "some"$/],
  'an id nobody knows': ['GET /api/v1/new/{id}', '-', /^takes "id", and the probe does not know what that names$/],
  'a filter nobody knows': ['GET /api/v1/new', '-', /^takes "session_id"/],
  'a header shows others': ['GET /api/v1/auth/me', 'org read key', /^shows "canary-.*-b" of another tenant/],
  'a cursor holds others': ['GET /api/v1/agents', 'org read key', /^shows "canary-.* on page 1$/],
  'an unbound route is open': [
    'POST /api/v1/iam/signing-keys/rotate',
    'org admin key',
    /^answers 201 {2}to a tenant instead of 403 tenant_bound$/,
  ],
  'a public route shows tenants': ['GET /healthz', 'no credential', /^shows "canary-.*where nothing of any tenant/],
  'a refusal that acts all the same': [
    'GET /api/v1/agents/{org}/{team}/{agent}',
    'admin of the other org',
    /^changed while only another tenant was at work: .*active.* became .*suspended/,
  ],
  'keys for others': [
    'POST /api/v1/iam/api-keys',
    'org admin key',
    /^does not refuse what is not its own, asked for another org by org_id in the body: 201$/,
  ],
  'keys of others can be revoked': [
    'POST /api/v1/iam/api-keys/{id}/revoke',
    'org admin key',
    /^answers something else than 404, asked for another org by id in the path: 200$/,
  ],
  'invites into others': [
    'POST /api/v1/auth/invite',
    'org admin key',
    /^does not refuse what is not its own, asked for another org by org_id in the body: 201$/,
  ],
  'invites of others are listed': ['GET /api/v1/auth/invites', 'team admin key', /^shows "canary-.*asked for its own$/],
  'invites of others can be sent again': [
    'POST /api/v1/auth/invites/{id}/resend',
    'team admin key',
    /^answers something else than 404, asked for an invite into the whole org by id in the path: 201$/,
  ],
  'invites of others can be revoked': [
    'DELETE /api/v1/auth/invites/{id}',
    'org admin key',
    /^answers something else than 404, asked for another org by id in the path: 204$/,
  ],
  'invites cannot be revoked': ['clean-up', 'admin', /^invite \w+ is not revoked: 409$/],
  'impersonations for everybody': [
    'GET /api/v1/logs',
    'org read key',
    /^shows "canary-.*asked for event_type=A2AImpersonationAttempted$/,
  ],
  'impersonations for nobody': [
    'GET /api/v1/logs/export',
    'org admin key',
    /^shows 0 impersonations of its agents by another org instead of 2, .*format=csv$/,
  ],
  'agents register anywhere': ['RegisterAgent', 'org write key', /^registers an agent in another org$/],
  'its own is refused': [
    'POST /api/v1/iam/api-keys',
    'org admin key',
    /^refuses what is its own, asked for its own: 403 tenant_bound$/,
  ],
  'keys cannot be revoked': ['clean-up', 'admin', /^API key \w+ is not revoked: 409$/],
  'operations for agents of others': [
    'POST /api/v1/ops',
    'org write key',
    /^does not refuse what is not its own, asked for another org by org_id, team_id, agent_id in the body: 201$/,
  ],
  'an id of others is ambiguous': [
    'GET /api/v1/ops/{id}',
    'second team read key',
    /^refuses what is its own, asked for its own: 409 ambiguous_op$/,
  ],
  'receipts for everybody': [
    'GET /api/v1/control/{id}',
    'org read key',
    /^answers something else than 404, asked for another org by id in the path: 200$/,
  ],
  'all means everybody': [
    'POST /api/v1/control',
    'team admin key',
    /^finds \d+ operations where \d+ are its own, asked what all would be/,
  ],
  'a control counts others': [
    'POST /api/v1/control',
    'org admin key',
    /^finds \d+ operations where \d+ are its own, asked what all would be/,
  ],
};

test.each(leaks)('caught: %s', async (leak) => {
  const report = await probe(leak);
  const [operation, credential, what] = caught[leak];
  const here = report.findings.filter((finding) => finding.operation === operation);
  const words = here.filter((finding) => finding.credential === credential).map((finding) => finding.what);
  expect(words, formatReport(report)).toContainEqual(expect.stringMatching(what));
  expect(formatReport(report)).toMatch(/\d+ findings?:/);
});

test.each([
  ['is wrong', 'nobody', /the credential was refused: 401/],
  ['is bound to a tenant', 'bound', /needs a credential with admin scope and no tenant/],
])('a credential that %s is told before anything is made', async (_what, bearer, message) => {
  const gateway = new FakeGateway();
  const { options } = gateway;
  const bound = {
    id: 'bound',
    key: 'bound',
    label: '',
    scopes: ['read', 'write', 'admin'],
    org_id: 'acme',
    team_id: null,
  };
  gateway.keys.push({ ...bound, revoked_at: null });
  await expect(probeTenants({ ...options, adminCredential: bearer })).rejects.toThrow(message);
  expect(gateway.keys).toHaveLength(2);
  expect(gateway.agents).toEqual([]);
});

test('what was made is taken back although the probe cannot go on', async () => {
  const gateway = new FakeGateway();
  const { options } = gateway;
  const agents = { ...options.agents, check: () => Promise.reject(new Error('no route to the gateway')) };
  await expect(probeTenants({ ...options, agents })).rejects.toThrow('no route to the gateway');
  expect(gateway.agents).toEqual([]);
  expect(inForce(gateway)).toEqual(['admin']);
});
