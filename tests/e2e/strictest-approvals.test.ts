import type { ActionContext } from '@reeve/contract';
import { ActionType, Decision } from '@reeve/contract';
import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Approval = RouteOutput<Routes['getApproval']>;
type Grants = RouteOutput<Routes['listGrants']>;
type Simulation = RouteOutput<Routes['simulatePolicy']>;

/** The operator requires two people within ten minutes. The org's own document comes first by name. */
const house = `
name: house
default: allow
rules:
  - { name: two, effect: require_approval, tools: [wire], approvals: { count: 2, ttl_secs: 600, grants: false } }
  - { name: files, effect: require_approval, paths: ["/srv/files/*"] }
  - { name: commands, effect: require_approval, commands: ["deployer*"] }
`;
const own = `
name: a-first
scope: org:acme
rules:
  - { name: one, effect: require_approval, tools: [wire, post], approvals: { count: 1, ttl_secs: 86400 } }
`;

let gateway: TestGateway;
let agent: Registered;

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'house.yaml': house } });
  const admin = await makeKey(gateway, { label: 'acme', scopes: ['admin'], org_id: 'acme' });
  const put = await gateway.api.send('PUT', '/api/v1/policies/a-first', { bearer: admin.key, json: { source: own } });
  expect(put.status, put.text).toBe(200);
  agent = await gateway.register({ orgId: 'acme', agentId: 'payer' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function held(traceId: string, tool = 'wire'): Promise<Approval> {
  const answer = await gateway.check(agent, { traceId, spanId: 's', runId: 'r', context: toolCall(tool) });
  expect(answer).toMatchObject({ decision: Decision.PENDING });
  return (await gateway.api.get<Approval>(`/api/v1/approvals/${answer.approvalId}`, bootstrapKey)).body;
}

const approve = <Body = Approval>(id: string, bearer: string, body: object = {}) =>
  gateway.api.post<Body>(`/api/v1/approvals/${id}/approve`, bearer, body);

describe('where the rules of an org and of the operator ask about the same action', () => {
  test('the highest count and the shortest time count, and all rules that ask are shown', async () => {
    const approval = await held('t1');
    expect(approval).toMatchObject({ required: 2, grantable: false });
    expect(approval.rules.toSorted()).toEqual([expect.stringMatching(/a-first\/one$/), 'house/two']);
    expect(approval.rules[0]).toBe(approval.policy_rule);
    expect(Date.parse(approval.expires_at) - Date.parse(approval.requested_at)).toBe(600_000);
    const first = await approve(approval.id, bootstrapKey);
    expect(first.body).toMatchObject({ state: 'open', required: 2 });
    const other = await makeKey(gateway, { label: 'other', scopes: ['admin'] });
    expect((await approve(approval.id, other.key)).body.state).toBe('approved');
  });

  test('no standing grant is given where one of them allows none', async () => {
    const { id } = await held('t2');
    const refused = await approve<Problem>(id, bootstrapKey, { grant: { reach: 'run' } });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('allows no standing grants');
    const alone = await held('t3', 'post');
    expect(alone).toMatchObject({ required: 1, grantable: true });
    const granted = await approve(alone.id, bootstrapKey, { grant: { reach: 'run' } });
    expect(granted.body.grant_id).toMatch(/^grt_/);
  });

  test('a simulation tells the terms, and the explanation both rules', async () => {
    const body = {
      agent: { org_id: 'acme', team_id: 'core', agent_id: 'payer' },
      action_type: 'tool_call',
      context: { tool_name: 'wire' },
    };
    const found = await gateway.api.post<Simulation>('/api/v1/policies/simulate', bootstrapKey, body);
    expect(found.body).toMatchObject({ decision: 'pending', approvals: { count: 2, ttl_secs: 600, grants: false } });
    expect(found.body.approvals?.rules).toHaveLength(2);
    await held('t4');
    const explained = await gateway.api.get('/api/v1/decisions/t4:s/explain', bootstrapKey);
    expect(explained.text).toContain('it decided: ');
    expect(explained.text).toContain('it asks, too: ');
  });
});

describe('a standing grant', () => {
  const fileOp = (operation: string): ActionContext => ({
    action: { $case: 'fileOp', value: { operation, path: '/srv/files/a' } },
  });
  const exec = (...args: string[]): ActionContext => ({
    action: { $case: 'processExec', value: { command: 'deployer', args, workingDir: '' } },
  });
  const ask = (actionType: ActionType, context: ActionContext) =>
    gateway.check(agent, { runId: 'g', actionType, context });
  const grantOf = async (actionType: ActionType, context: ActionContext) => {
    const { approvalId } = await ask(actionType, context);
    expect((await approve(approvalId, bootstrapKey, { grant: { reach: 'run' } })).status).toBe(200);
  };

  test('to read a file lets no deletion of it through, and names what it covers', async () => {
    await grantOf(ActionType.FILE_OPERATION, fileOp('read'));
    expect(await ask(ActionType.FILE_OPERATION, fileOp('read'))).toMatchObject({ decision: Decision.ALLOW });
    expect(await ask(ActionType.FILE_OPERATION, fileOp('delete'))).toMatchObject({ decision: Decision.PENDING });
    const { body } = await gateway.api.get<Grants>('/api/v1/grants', bootstrapKey);
    expect(body.items[0]).toMatchObject({
      covers: 'read /srv/files/a',
      rules: ['house/files'],
      resource: '/srv/files/a',
    });
  });

  test('of a command covers its arguments', async () => {
    await grantOf(ActionType.PROCESS_EXEC, exec('--dry-run'));
    expect(await ask(ActionType.PROCESS_EXEC, exec('--dry-run'))).toMatchObject({ decision: Decision.ALLOW });
    expect(await ask(ActionType.PROCESS_EXEC, exec('--force'))).toMatchObject({ decision: Decision.PENDING });
  });

  test('does not cover a rule that asks only since', async () => {
    await grantOf(ActionType.FILE_OPERATION, fileOp('stat'));
    const late = 'name: late\nrules: [{ name: too, effect: require_approval, paths: ["/srv/**"] }]';
    const put = await gateway.api.send('PUT', '/api/v1/policies/late', {
      bearer: bootstrapKey,
      json: { source: late },
    });
    expect(put.status, put.text).toBe(200);
    expect(await ask(ActionType.FILE_OPERATION, fileOp('stat'))).toMatchObject({ decision: Decision.PENDING });
    await gateway.api.send('DELETE', '/api/v1/policies/late', { bearer: bootstrapKey });
    expect(await ask(ActionType.FILE_OPERATION, fileOp('stat'))).toMatchObject({ decision: Decision.ALLOW });
  });
});

test('what asks and on which terms outlives a restart', async () => {
  const before = await held('t5');
  gateway = await gateway.restart('SIGKILL');
  const after = await gateway.api.get<Approval>(`/api/v1/approvals/${before.id}`, bootstrapKey);
  expect(after.body).toEqual(before);
});
