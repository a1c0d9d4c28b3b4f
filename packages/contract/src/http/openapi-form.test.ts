import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';

interface Operation {
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } };
}

const { paths } = openApiDocument('') as { readonly paths: Readonly<Record<string, { readonly post: Operation }>> };
const ajv = new Ajv2020({ strict: false, validateFormats: false });

function takes(path: string, body: unknown): boolean {
  return ajv.validate(paths[path]?.post.requestBody.content['application/json'].schema ?? {}, body);
}

describe('the OpenAPI document is as strict as the gateway', () => {
  const password = 'four unrelated words here';
  test.each([
    ['', false],
    ['nobody', false],
    ['a b@example.com', false],
    ['"quoted"@example.com', false],
    [`${'x'.repeat(65)}@example.com`, false],
    [`name@${'x'.repeat(64)}.com`, false],
    ['name@-x.com', false],
    [`n@${'abcdefgh.'.repeat(30)}com`, false],
    ['name@example.com', true],
    [' name@example.com ', true],
    ['ünï@münchen.example', true],
    ['n\u200bame@example.com', false],
  ])('about the email %j', (email, good) => {
    expect(takes('/api/v1/auth/register', { email, password })).toBe(good);
    expect(takes('/api/v1/auth/password/reset', { email })).toBe(true);
  });

  test.each([
    ['', false],
    ['x'.repeat(11), false],
    ['x'.repeat(12), true],
    ['x'.repeat(1025), false],
  ])('about the new password %j', (given, good) => {
    expect(takes('/api/v1/auth/register', { email: 'name@example.com', password: given })).toBe(good);
    expect(takes('/api/v1/auth/invite/accept', { token: 't', password: given })).toBe(good);
    expect(takes('/api/v1/auth/password/reset/confirm', { token: 't', password: given })).toBe(good);
    expect(takes('/api/v1/auth/password', { current_password: 'x', password: given })).toBe(good);
    expect(takes('/api/v1/auth/login', { email: 'name@example.com', password: given })).toBe(true);
  });

  const bot = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
  test.each([
    [{ agent: bot }, true],
    [{ org_id: 'acme' }, true],
    [{ org_id: 'acme', team_id: 'core' }, true],
    [{}, false],
    [{ team_id: 'core' }, false],
    [{ agent: bot, org_id: 'acme' }, false],
    [{ agent: bot, team_id: 'core' }, false],
    [{ agent: bot, org_id: 'acme', team_id: 'core' }, false],
  ])('about the budget of %j', (whose, good) => {
    expect(takes('/api/v1/budgets/correct', { ...whose, amount_usd: '-1.50', reason: 'double' })).toBe(good);
  });

  test.each([
    ['-0.000001', true],
    ['+10', true],
    ['0', false],
    ['-0.00', false],
    ['000000000000.000000', false],
  ])('about the amount %j', (amount_usd, good) => {
    expect(takes('/api/v1/budgets/correct', { agent: bot, amount_usd, reason: 'double' })).toBe(good);
  });

  test.each([
    [{ all: true }, true],
    [{ org_id: 'acme', run_id: 'r' }, true],
    [{ org_id: '' }, true],
    [{}, false],
    [{ all: true, org_id: 'acme' }, false],
    [{ all: false }, false],
    [{ org_id: 'acme', other: 1 }, false],
  ])('about the scope %j', (scope, good) => {
    expect(takes('/api/v1/control', { action: 'pause', scope, reason: '' })).toBe(good);
  });

  test.each([
    [{}, true],
    [{ org_id: 'acme', team_id: 'core' }, true],
    [{ org_id: null, team_id: null }, true],
    [{ team_id: null }, true],
    [{ team_id: 'core' }, false],
    [{ org_id: null, team_id: 'core' }, false],
    [{ label: '  ' }, false],
  ])('about a key for %j', (members, good) => {
    expect(takes('/api/v1/iam/api-keys', { label: 'ci', scopes: ['read'], ...members })).toBe(good);
  });

  test.each([
    ['tool_call', { tool_name: 't', args: { a: 1 } }, true],
    ['TOOL_CALL', { toolCall: { toolName: 't' } }, true],
    ['tool_call', {}, true],
    ['tool_call', { tool_name: 't', bogus: 1 }, false],
    ['tool_call', { tool_name: 't', tool: 't' }, false],
    ['tool_call', { tool_name: 'x'.repeat(513) }, false],
    ['tool_call', { llm_call: { model: 'm' } }, false],
    ['network_call', { host: 'h', port: 65_536 }, false],
    ['agent_spawn', { process_exec: { command: 'ls', args: ['-l'] } }, true],
    ['agent_spawn', { process_exec: { command: 'ls', args: [1] } }, false],
  ])('about the context of a %s, %j', (action_type, context, good) => {
    expect(takes('/api/v1/policies/simulate', { agent: { agent_id: 'a' }, action_type, context })).toBe(good);
  });

  test.each([
    ['', '', true],
    ['t', 's', true],
    ['t', '', false],
    ['', 's', false],
  ])('about the ids %j and %j', (trace_id, span_id, good) => {
    const agent = { org_id: '', team_id: '', agent_id: 'a' };
    expect(takes('/api/v1/ops', { agent, trace_id, span_id })).toBe(good);
  });
});
