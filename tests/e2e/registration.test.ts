import { afterAll, beforeAll, expect, test } from 'vitest';
import { RegisterAgentRequest, RegisterAgentResponse, paths } from '@reeve/contract';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // Nobody here confirms a control or sends heartbeats, and no alert about that comes between the entries.
  const env = { SVC_CONTROL_ACK_SECS: '3600', SVC_OPS_STALE_SECS: '3600' };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const code = { invalidArgument: 3, alreadyExists: 6, permissionDenied: 7, unauthenticated: 16 };

function register(
  request: Partial<RegisterAgentRequest>,
  authorization: string | readonly string[] = `Bearer ${bootstrapKey}`,
) {
  const full: RegisterAgentRequest = {
    agentId: { orgId: 'acme', teamId: 'core', agentId: 'reg' },
    credentialToken: '',
    name: '',
    framework: '',
    version: '',
    parentAgentId: undefined,
    metadata: {},
    toolNames: [],
    ...request,
  };
  return gateway.client.call(paths.registerAgent, RegisterAgentRequest, RegisterAgentResponse, full, { authorization });
}

test('an empty token is issued by the gateway with 256 bits, and the heartbeat interval is told', async () => {
  const answer = await register({});
  expect(answer.credentialToken).toMatch(/^rva_[A-Za-z0-9_-]{43}$/);
  expect(answer).toMatchObject({ heartbeatIntervalSecs: 30, created: true });
});

test('registering again replaces the token: the old one stops at once', async () => {
  const first = await gateway.register({ agentId: 'twice' });
  const second = await gateway.register({ agentId: 'twice' });
  expect(second.token).not.toBe(first.token);
  expect(await gateway.check(first)).toMatchObject({ decision: 2, reason: 'credential token mismatch' });
  expect(await gateway.check(second)).toMatchObject({ decision: 1 });
});

test('an agent that must be new is refused if it is registered, and its token goes on to work', async () => {
  const agentId = { orgId: 'acme', teamId: 'core', agentId: 'once' };
  const token = 'a-token-of-once-with-more-than-32-characters';
  const ask = (credentialToken: string) => register({ agentId, credentialToken, onlyIfNew: true });
  expect(await ask(token)).toMatchObject({ created: true });
  await expect(ask('another-token-of-once-with-32-characters')).rejects.toMatchObject({ code: code.alreadyExists });
  await expect(ask('')).rejects.toMatchObject({ code: code.alreadyExists });
  // Who did not hear the answer asks the same again.
  expect(await ask(token)).toMatchObject({ created: false, credentialToken: token });
  expect(await gateway.check({ id: agentId, token })).toMatchObject({ decision: 1 });
});

test('a supplied token must be long enough and unused by anyone else', async () => {
  const token = 'a-token-of-my-own-with-forty-characters';
  await expect(register({ credentialToken: 'short' })).rejects.toMatchObject({
    code: code.invalidArgument,
    details: expect.stringContaining('at least 32'),
  });
  const mine = { orgId: 'acme', teamId: 'core', agentId: 'own-token' };
  expect(await register({ agentId: mine, credentialToken: token })).toMatchObject({ credentialToken: token });
  expect(await register({ agentId: mine, credentialToken: token })).toMatchObject({ created: false });
  const other = { orgId: 'globex', teamId: 'core', agentId: 'thief' };
  await expect(register({ agentId: other, credentialToken: token })).rejects.toMatchObject({
    code: code.alreadyExists,
  });
});

test('registration needs a valid bearer', async () => {
  const wrong = `${bootstrapKey.slice(0, -7)}0${bootstrapKey.slice(-6)}`;
  for (const authorization of [[], 'Bearer nonsense', `Bearer ${wrong}`, bootstrapKey]) {
    await expect(register({}, authorization)).rejects.toMatchObject({ code: code.unauthenticated });
  }
});

test.each([
  ['no agent id', { agentId: { orgId: 'acme', teamId: 'core', agentId: '' } }],
  ['no triple', { agentId: undefined }],
  ['a slash in an id', { agentId: { orgId: 'a/b', teamId: '', agentId: 'x' } }],
  ['an id that starts with a dot', { agentId: { orgId: 'acme', teamId: '', agentId: '.x' } }],
  ['an id of 129 characters', { agentId: { orgId: 'acme', teamId: '', agentId: 'x'.repeat(129) } }],
  ['an unknown parent', { parentAgentId: { orgId: 'acme', teamId: 'core', agentId: 'nobody' } }],
  ['itself as parent', { parentAgentId: { orgId: 'acme', teamId: 'core', agentId: 'reg' } }],
  ['a name of 513 characters', { name: 'x'.repeat(513) }],
])('%s is refused with INVALID_ARGUMENT', async (_what, request) => {
  await expect(register(request)).rejects.toMatchObject({ code: code.invalidArgument });
});

test('a parent in another org is refused, and one in the same org gives the lineage', async () => {
  await gateway.register({ orgId: 'globex', agentId: 'foreign' });
  const root = await gateway.register({ agentId: 'root' });
  await gateway.register({ agentId: 'middle' }, { parentAgentId: root.id });
  const middle = { orgId: 'acme', teamId: 'core', agentId: 'middle' };
  const leaf = await gateway.register({ teamId: 'other', agentId: 'leaf' }, { parentAgentId: middle });
  await expect(
    register({ parentAgentId: { orgId: 'globex', teamId: 'core', agentId: 'foreign' } }),
  ).rejects.toMatchObject({
    code: code.invalidArgument,
  });
  await expect(register({ agentId: root.id, parentAgentId: leaf.id })).rejects.toMatchObject({
    code: code.invalidArgument,
  });
  await gateway.check(leaf);
  expect(gateway.audit().at(-1)?.lineage).toEqual({
    org_id: 'acme',
    team_id: 'other',
    agent_id: 'leaf',
    parent_agent_id: 'middle',
    root_agent_id: 'root',
    depth: 2,
  });
});

test('org and team may be empty; the audit entry then has no org', async () => {
  const lone = await gateway.register({ orgId: '', teamId: '', agentId: 'lone' });
  expect(await gateway.check(lone)).toMatchObject({ decision: 1 });
  expect(gateway.audit().at(-1)?.lineage).toMatchObject({ org_id: null, team_id: '', agent_id: 'lone' });
});

test('a heartbeat tells whether the agent is suspended and which policies are in force', async () => {
  const agent = await gateway.register({ agentId: 'alive' });
  expect(await gateway.heartbeat(agent)).toEqual({
    suspended: false,
    policyVersion: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  await expect(gateway.heartbeat({ ...agent, token: 'wrong' })).rejects.toMatchObject({ code: code.unauthenticated });
});

test('a deregistered agent is unknown, and what it had in flight is terminated', async () => {
  const agent = await gateway.register({ agentId: 'leaving' });
  const { opId } = await gateway.check(agent);
  await expect(gateway.deregister({ ...agent, token: 'wrong' })).rejects.toMatchObject({ code: code.unauthenticated });
  await gateway.deregister(agent, 'the work is done');
  expect(await gateway.check(agent)).toMatchObject({ decision: 2, reason: 'agent is not registered' });
  await expect(gateway.heartbeat(agent)).rejects.toMatchObject({ code: code.unauthenticated });
  const [terminated, left] = gateway.audit().slice(-3);
  expect(terminated).toMatchObject({ event_type: 'OpStateChanged', op_id: opId, reason: 'agent deregistered' });
  expect(terminated?.payload).toMatchObject({ from: 'running', to: 'terminated', trigger: 'terminate' });
  expect(left).toMatchObject({ event_type: 'AgentDeregistered', reason: 'the work is done' });
});

test('operations of an agent that has left are shown as terminated, at their id and in lists', async () => {
  const agent = await gateway.register({ orgId: 'leavers', agentId: 'leaving' });
  const { opId } = await gateway.check(agent);
  await gateway.deregister(agent);
  const read = (path: string) => gateway.api.get(`/api/v1/ops${path}`, bootstrapKey);
  expect(await read(`/${opId}`)).toMatchObject({ status: 200, body: { state: 'terminated' } });
  const list = await read('?state=terminated&org_id=leavers');
  expect(list).toMatchObject({ body: { items: [{ op_id: opId }], total: 1 } });
  expect(await read('?state=running&org_id=leavers')).toMatchObject({ body: { items: [], total: 0 } });
  const pause = await gateway.api.post(`/api/v1/ops/${opId}/pause`, bootstrapKey, {});
  expect(pause).toMatchObject({ status: 409, body: { code: 'invalid_transition', state: 'terminated' } });
});

test('registrations, tokens and lineage survive kill -9', async () => {
  await using first = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const root = await first.register({ agentId: 'root' });
  const child = await first.register({ agentId: 'child' }, { parentAgentId: root.id, name: 'Child' });
  await using second = await first.restart('SIGKILL');
  expect(await second.check(child)).toMatchObject({ decision: 1 });
  expect(second.audit().at(-1)).toMatchObject({
    lineage: { root_agent_id: 'root', depth: 1 },
    actor: { label: 'Child' },
  });
});

test('no token and no key is found anywhere in the data folder', async () => {
  const { readdirSync, readFileSync } = await import('node:fs');
  const agent = await gateway.register({ agentId: 'secretive' });
  await gateway.check(agent);
  for (const entry of readdirSync(gateway.folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { name } = entry;
    const content = readFileSync(`${gateway.folder}/${name}`, 'latin1');
    expect(content.includes(agent.token), name).toBe(false);
    expect(content.includes(bootstrapKey), name).toBe(false);
  }
  const { stdout, stderr } = gateway.output();
  expect(stdout + stderr).not.toContain(bootstrapKey);
  expect(stdout + stderr).not.toContain(agent.token);
});
