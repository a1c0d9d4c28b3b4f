/** The OpenAPI document of the fake gateway, as small as a test of the probe allows. */
export function fakeDocument(leak: string | undefined): object {
  const agent = [path('org'), path('team'), path('agent')];
  const reason = { type: 'object', properties: { reason: { type: 'string' } }, additionalProperties: false };
  const grant = {
    type: 'object',
    properties: {
      label: { type: 'string', minLength: 1 },
      scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: ['read', 'write', 'admin'] } },
      org_id: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      team_id: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['label', 'scopes'],
  };
  const paging = [query('per_page'), query('cursor')];
  const log = ['org_id', 'team_id', 'agent_id', 'q', 'event_type'].map(query);
  const name = { type: 'string', minLength: 1 };
  const triple = { type: 'object', properties: { org_id: name, team_id: name, agent_id: name } };
  const newOp = {
    type: 'object',
    properties: { agent: { ...triple, required: ['org_id', 'team_id', 'agent_id'] }, trace_id: name, span_id: name },
    required: ['agent', 'trace_id', 'span_id'],
  };
  const scope = {
    ...triple,
    properties: { ...triple.properties, run_id: name, all: { const: true } },
    minProperties: 1,
  };
  const control = {
    type: 'object',
    properties: {
      action: { enum: ['pause', 'resume', 'terminate'] },
      scope,
      reason: { type: 'string' },
      dry_run: { type: 'boolean' },
    },
    required: ['action', 'scope', 'reason'],
  };
  const nullable = { anyOf: [{ type: 'string' }, { type: 'null' }] };
  const invite = {
    type: 'object',
    properties: { email: { type: 'string', format: 'idn-email' }, org_id: nullable, team_id: nullable },
    required: ['email'],
  };
  const format = { ...query('format'), schema: { type: 'string', enum: ['jsonl', 'csv'] } };
  return {
    openapi: '3.1.0',
    paths: {
      '/healthz': { get: operation('none', undefined) },
      '/api/v1/auth/me': { get: operation('own', 'any') },
      '/api/v1/iam/api-keys': {
        get: operation('own', 'admin', [query('org_id'), ...paging]),
        post: operation('own', 'admin', [], grant),
      },
      '/api/v1/iam/api-keys/{id}/revoke': { post: operation('own', 'admin', [path('id')]) },
      '/api/v1/auth/invite': { post: { ...operation('own', 'admin', [], invite), 'x-reeve-accounts': true } },
      '/api/v1/auth/invites': { get: { ...operation('own', 'admin', paging), 'x-reeve-accounts': true } },
      '/api/v1/auth/invites/{id}': {
        delete: { ...operation('own', 'admin', [path('id')]), 'x-reeve-accounts': true },
      },
      '/api/v1/auth/invites/{id}/resend': {
        post: { ...operation('own', 'admin', [path('id')]), 'x-reeve-accounts': true },
      },
      '/api/v1/iam/signing-keys/rotate': { post: operation('unbound', 'admin') },
      '/api/v1/logs': { get: operation('own', 'read', [...log, ...paging]) },
      '/api/v1/logs/export': { get: operation('own', 'read', [...log, format]) },
      '/api/v1/topology/stats': { get: operation('own', 'read', [query('org_id')]) },
      '/api/v1/agents': { get: operation('own', 'read', [query('org_id'), query('team_id'), ...paging]) },
      '/api/v1/agents/{org}/{team}/{agent}': { get: operation('own', 'read', agent) },
      '/api/v1/agents/{org}/{team}/{agent}/suspend': { post: operation('own', 'write', agent, reason) },
      '/api/v1/agents/{org}/{team}/{agent}/resume': { post: operation('own', 'write', agent, reason) },
      '/api/v1/ops': {
        get: operation('own', 'read', [...['state', 'org_id', 'team_id', 'agent_id', 'run_id'].map(query), ...paging]),
        post: operation('own', 'write', [], newOp),
      },
      '/api/v1/ops/{id}': { get: operation('own', 'read', [path('id')]) },
      '/api/v1/ops/{id}/pause': { post: operation('own', 'write', [path('id')], reason) },
      '/api/v1/ops/{id}/terminate': { post: operation('own', 'write', [path('id')], reason) },
      '/api/v1/control': { post: operation('own', 'write', [], control) },
      '/api/v1/control/{id}': { get: operation('own', 'read', [path('id')]) },
      ...(leak === 'no tenancy' ? { '/api/v1/new': { get: operation(undefined, 'read') } } : {}),
      ...(leak === 'a tenancy nobody knows' ? { '/api/v1/new': { get: operation('some', 'read') } } : {}),
      ...(leak === 'an id nobody knows' ? { '/api/v1/new/{id}': { get: operation('own', 'read', [path('id')]) } } : {}),
      ...(leak === 'a filter nobody knows'
        ? { '/api/v1/new': { get: operation('own', 'read', [query('session_id')]) } }
        : {}),
    },
  };
}

function operation(tenancy: string | undefined, access: string | undefined, parameters: object[] = [], body?: object) {
  return {
    ...(tenancy === undefined ? {} : { 'x-reeve-tenancy': tenancy }),
    ...(access === undefined ? {} : { 'x-reeve-access': access }),
    parameters,
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: body } } } }),
  };
}

function path(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

function query(name: string) {
  return { name, in: 'query', required: false, schema: { type: 'string' } };
}
