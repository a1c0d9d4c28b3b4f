import type { RouteName } from '@reeve/contract/http';
import type { World } from './world.ts';
import {
  aliases,
  dearConditions,
  manyConditions,
  manyGlobs,
  worstBodies,
  worstTexts,
  worstYaml,
} from './worst-texts.ts';

/** A call in wire form. */
export interface Call {
  readonly path: string;
  readonly bearer?: string;
  readonly body?: string;
  /** The call does not end by itself. Its start is enough. */
  readonly isStream?: boolean;
}

type Worst = (world: World) => readonly Call[];

const source = 128 * 1024;
const org = 'scope: org:acme\nrules:\n';
const numbers = Array.from({ length: 600 }, (_, at) => at);
const cursor = Buffer.from('9'.repeat(380)).toString('base64url');
const dear = {
  agent: { agent_id: 'bot' },
  action_type: 'tool_call',
  context: { tool_name: 'x', args: { a: numbers } },
};

/** A call without long members. The gateway refuses its body, but reads it first. */
function simple(path: (world: World) => string, who: 'operator' | 'tenant' | 'person' = 'tenant'): Worst {
  return (world) => [
    { path: path(world), bearer: world[who] },
    ...worstBodies('reason').map((body) => ({ path: path(world), bearer: world[who], body })),
  ];
}

function read(path: string, who: 'operator' | 'tenant' | 'person' = 'tenant'): Worst {
  return (world) => [{ path, bearer: world[who] }];
}

function list(path: string, who: 'operator' | 'tenant' | 'person' = 'tenant'): Worst {
  return (world) => [
    { path: `${path}?per_page=1000`, bearer: world[who] },
    { path: `${path}?per_page=1000&cursor=${cursor}`, bearer: world[who] },
  ];
}

/** Each text in turn, at its maximum length. */
function withTexts(
  path: (world: World) => string,
  length: number,
  bodyOf: (text: string) => object,
  who: 'operator' | 'tenant' | 'person' = 'tenant',
): Worst {
  return (world) => [
    ...worstTexts(length).map((text) => ({
      path: path(world),
      bearer: world[who],
      body: JSON.stringify(bodyOf(text)),
    })),
    ...worstBodies(Object.keys(bodyOf(''))[0] ?? 'reason').map((body) => ({
      path: path(world),
      bearer: world[who],
      body,
    })),
  ];
}

function sources(path: string, bodyOf: (text: string) => object, who: 'operator' | 'tenant' = 'tenant'): Worst {
  const texts = [
    manyConditions(source, org),
    manyGlobs(source, org),
    aliases(org),
    dearConditions(org).slice(0, source),
    ...worstYaml(source - 100),
  ];
  return (world) => texts.map((text) => ({ path, bearer: world[who], body: JSON.stringify(bodyOf(text)) }));
}

const filters = (path: string): Worst => {
  const texts = worstTexts(200).map((text) => encodeURIComponent(text.slice(0, 200)));
  return ({ tenant, operator }) =>
    [tenant, operator].flatMap((bearer) => [
      ...texts.slice(0, 6).map((q) => ({ path: `${path}?per_page=1000&q=${q}`, bearer })),
      { path: `${path}?per_page=1000&cursor=${cursor}`, bearer },
    ]);
};

const opPath =
  (action: string) =>
  ({ opId }: World) =>
    `/api/v1/ops/${encodeURIComponent(opId)}${action}`;
const approvalPath =
  (action: string) =>
  ({ approvalId }: World) =>
    `/api/v1/approvals/${approvalId}${action}`;
/** Texts in the place of a token, and one that has its form. */
const links = [...worstTexts(256), `rvl_apr_${'a'.repeat(24)}.approve.1.${'x'.repeat(43)}`].map((token) => ({
  path: `/api/v1/approval-link?token=${encodeURIComponent(token.slice(0, 256))}`,
}));
const nobody = '/api/v1/iam/api-keys/nobody';
const agent = '/api/v1/agents/acme/core/bot';
/** A thread hashes the password. The work before that is on the main thread. */
const secret = 900_000;

/** The worst request of each route. A route without an entry does not compile, and fails the test. */
export const worstCalls: Readonly<Record<RouteName, Worst>> = {
  healthz: read('/healthz'),
  readyz: read('/readyz'),
  metrics: read('/metrics'),
  connection: read('/api/v1/connection'),
  openapi: read('/openapi.json'),
  docs: read('/docs'),
  jwks: read('/.well-known/jwks.json'),
  authMethods: read('/api/v1/auth/methods'),
  exchangeToken: (world) => [
    ...worstBodies('scopes').map((body) => ({ path: '/api/v1/auth/token', bearer: world.tenant, body })),
    {
      path: '/api/v1/auth/token',
      bearer: world.tenant,
      body: JSON.stringify({ scopes: Array.from({ length: 140_000 }, () => 'read') }),
    },
  ],
  me: read('/api/v1/auth/me'),
  wsTicket: simple(() => '/api/v1/auth/ws-ticket'),
  listApiKeys: list('/api/v1/iam/api-keys'),
  createApiKey: withTexts(
    () => '/api/v1/iam/api-keys',
    128,
    (label) => ({ label, scopes: ['read'] }),
  ),
  rotateApiKey: simple(() => `${nobody}/rotate`),
  revokeApiKey: simple(() => `${nobody}/revoke`),
  revokeApiKeyUnversioned: simple(() => '/iam/api-keys/nobody/revoke'),
  rotateSigningKey: read('/api/v1/iam/signing-keys/rotate', 'operator'),
  register: withTexts(
    () => '/api/v1/auth/register',
    secret,
    (password) => ({ email: 'a@example.com', password }),
  ),
  logIn: withTexts(
    () => '/api/v1/auth/login',
    secret,
    (password) => ({ email: 'a@example.com', password }),
  ),
  refreshSession: simple(() => '/api/v1/auth/refresh'),
  logOut: simple(() => '/api/v1/auth/logout'),
  startSignOn: () => [{ path: `/api/v1/auth/oidc/start?return_to=/${'%2e/'.repeat(500)}` }],
  finishSignOn: () => [{ path: `/api/v1/auth/oidc/callback?state=${'a'.repeat(500)}&code=${'a'.repeat(8000)}` }],
  makeCliCode: withTexts(
    () => '/api/v1/auth/cli/code',
    64,
    (challenge) => ({ challenge }),
  ),
  openCliSession: withTexts(
    () => '/api/v1/auth/cli/session',
    512,
    (code) => ({ code, verifier: code }),
  ),
  createInvite: withTexts(
    () => '/api/v1/auth/invite',
    1024,
    (email) => ({ email }),
    'operator',
  ),
  acceptInvite: withTexts(
    () => '/api/v1/auth/invite/accept',
    secret,
    (token) => ({ token, password: token }),
  ),
  listInvites: list('/api/v1/auth/invites', 'operator'),
  revokeInvite: read('/api/v1/auth/invites/nobody', 'operator'),
  resendInvite: simple(() => '/api/v1/auth/invites/nobody/resend', 'operator'),
  requestReset: withTexts(
    () => '/api/v1/auth/password/reset',
    secret,
    (email) => ({ email }),
  ),
  confirmReset: withTexts(
    () => '/api/v1/auth/password/reset/confirm',
    secret,
    (token) => ({ token, password: token }),
  ),
  changePassword: withTexts(
    () => '/api/v1/auth/password',
    secret,
    (text) => ({ current_password: text, password: text }),
    'person',
  ),
  listSessions: list('/api/v1/auth/sessions', 'person'),
  revokeSession: read('/api/v1/auth/sessions/nobody', 'person'),
  listAccounts: list('/api/v1/accounts', 'operator'),
  changeAccount: simple(() => '/api/v1/accounts/nobody', 'operator'),
  listLogs: filters('/api/v1/logs'),
  exportLogs: ({ tenant, operator }) =>
    [tenant, operator].flatMap((bearer) => [
      { path: '/api/v1/logs/export?format=csv', bearer },
      { path: `/api/v1/logs/export?format=csv&q=${encodeURIComponent('a\u0301'.repeat(100))}`, bearer },
    ]),
  listApprovals: list('/api/v1/approvals'),
  showApprovalLink: () => links,
  useApprovalLink: () => links,
  getApproval: simple(approvalPath('')),
  approve: withTexts(approvalPath('/approve'), 1000, (reason) => ({ reason }), 'operator'),
  reject: withTexts(approvalPath('/reject'), 1000, (reason) => ({ reason }), 'operator'),
  listGrants: list('/api/v1/grants'),
  revokeGrant: simple(() => '/api/v1/grants/nobody/revoke'),
  listPolicies: list('/api/v1/policies'),
  policySchema: read('/api/v1/policy-schema'),
  getPolicy: read('/api/v1/policies/big'),
  putPolicy: sources('/api/v1/policies/worst', (text) => ({ source: text })),
  deletePolicy: read('/api/v1/policies/worst'),
  policyVersions: list('/api/v1/policies/big/versions'),
  rollbackPolicy: ({ tenant }) => [
    { path: '/api/v1/policies/big/rollback', bearer: tenant, body: '{"version": 1}' },
    { path: '/api/v1/policies/big/rollback', bearer: tenant, body: '{"version": 2}' },
  ],
  validatePolicy: sources('/api/v1/policies/validate', (text) => ({ source: text })),
  testPolicies: sources(
    '/api/v1/policies/test',
    (text) => ({
      cases: `cases: [{case: a, agent: acme/core/bot, action: {type: tool_call, tool: x}, arguments: {a: [${numbers.join()}]}, decision: deny, before: [{agent: acme/core/bot, action: {type: tool_call, tool: x}, times: 9000}]}]\n`,
      candidate: text,
    }),
    'operator',
  ),
  simulatePolicy: (world) => [
    ...sources('/api/v1/policies/simulate', (text) => ({ ...dear, candidate: text }))(world),
    ...worstBodies('args').map((args) => ({
      path: '/api/v1/policies/simulate',
      bearer: world.tenant,
      body: `{"agent":{"agent_id":"bot"},"action_type":"tool_call","context":${args}}`,
    })),
    ...worstBodies('x').map((args) => ({
      path: '/api/v1/policies/simulate',
      bearer: world.tenant,
      body: `{"agent":{"agent_id":"bot"},"action_type":"tool_call","context":{"args":${args}}}`,
    })),
  ],
  backtestPolicy: sources('/api/v1/policies/backtest', (text) => ({ candidate: text, changes: 10_000 })),
  explainDecision: ({ opId, tenant }) => [
    { path: `/api/v1/decisions/${encodeURIComponent(opId)}/explain`, bearer: tenant },
    { path: `/api/v1/decisions/${'a'.repeat(700)}/explain`, bearer: tenant },
  ],
  listBudgets: list('/api/v1/budgets'),
  budgetHistory: read('/api/v1/budgets/history'),
  verifyBudgets: read('/api/v1/budgets/verify', 'operator'),
  correctBudget: withTexts(
    () => '/api/v1/budgets/correct',
    8192,
    (reason) => ({ reason, org_id: 'acme', amount_usd: '0.000001' }),
    'operator',
  ),
  createBackup: simple(() => '/api/v1/backup', 'operator'),
  listGateways: read('/api/v1/cluster', 'operator'),
  decisionStats: read('/api/v1/stats/decisions'),
  topologyOverview: read('/api/v1/topology/overview', 'operator'),
  topologyTree: read('/api/v1/topology/tree/acme/core/bot'),
  topologyTeam: read('/api/v1/topology/team/acme/core'),
  topologyLineage: read('/api/v1/topology/lineage/acme/core/bot'),
  topologyStats: read('/api/v1/topology/stats', 'operator'),
  listAgents: list('/api/v1/agents'),
  registerAgent: withTexts(
    () => '/api/v1/agents',
    512,
    (name) => ({ name, agent_id: 'worst', replace: true }),
  ),
  getAgent: read(agent),
  suspendAgent: withTexts(
    () => '/api/v1/agents/acme/core/nobody/suspend',
    1000,
    (reason) => ({ reason }),
  ),
  resumeAgent: withTexts(
    () => '/api/v1/agents/acme/core/nobody/resume',
    1000,
    (reason) => ({ reason }),
  ),
  listOps: list('/api/v1/ops'),
  getOp: simple(opPath('')),
  registerOp: withTexts(
    () => '/api/v1/ops',
    4096,
    (summary) => ({
      agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
      trace_id: `t${summary.codePointAt(0)}`,
      span_id: 's',
      summary,
    }),
  ),
  pauseOp: withTexts(opPath('/pause'), 1000, (reason) => ({ reason })),
  resumeOp: withTexts(opPath('/resume'), 1000, (reason) => ({ reason })),
  terminateOp: withTexts(
    () => '/api/v1/ops/nobody/terminate',
    1000,
    (reason) => ({ reason }),
  ),
  completeOp: withTexts(opPath('/complete'), 1000, (detail) => ({ detail })),
  controlScope: ({ tenant }) => [
    { path: '/api/v1/control', bearer: tenant, body: '{"action":"pause","scope":{"org_id":"acme"},"reason":"x"}' },
    { path: '/api/v1/control', bearer: tenant, body: '{"action":"resume","scope":{"org_id":"acme"},"reason":"x"}' },
    { path: '/api/v1/control', bearer: tenant, body: '{"action":"pause","scope":{"run_id":"r"},"reason":"x"}' },
    { path: '/api/v1/control', bearer: tenant, body: '{"action":"resume","scope":{"run_id":"r"},"reason":"x"}' },
    ...worstBodies('scope').map((body) => ({ path: '/api/v1/control', bearer: tenant, body })),
  ],
  listRunControls: list('/api/v1/runs/controls'),
  getControl: simple(() => '/api/v1/control/nobody'),
  eventSocket: read('/api/v1/ws/events?since=0'),
  eventStream: ({ tenant }) => [{ path: '/api/v1/events?since=0', bearer: tenant, isStream: true }],
};
