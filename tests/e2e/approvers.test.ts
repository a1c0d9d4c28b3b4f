import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { HttpReceiver } from '../harness/log-receivers.ts';
import { Person } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

type Approval = RouteOutput<Routes['getApproval']>;
type Listed = RouteOutput<Routes['listApprovals']>;

const policy = `
name: p
default: allow
rules:
  - { name: deploys, effect: require_approval, tools: [deploy], approvals: { by: { roles: [owner] } } }
  - { name: payments, effect: require_approval, tools: [pay], approvals: { by: { emails: ["*@finance.example.com"] } } }
  - { name: keys, effect: require_approval, tools: [rotate], approvals: { by: { roles: [admin] } } }
  - { name: plain, effect: require_approval, tools: [plain] }
`;
const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' };

async function invited(gateway: TestGateway, owner: Person, email: string, role: string): Promise<Person> {
  const { body } = await owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email, role });
  const somebody = new Person(gateway);
  expect((await somebody.accept(body.token)).status).toBe(201);
  return somebody;
}

describe.each(durableStores)('whose verdicts a rule counts, on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let agent: Registered;
  let olga: Person;
  let dora: Person;
  let fin: Person;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ env, policies: { 'p.yaml': policy } });
    agent = await gateway.register({ agentId: 'bot' });
    olga = new Person(gateway);
    expect((await olga.register('olga@example.com')).status).toBe(201);
    dora = await invited(gateway, olga, 'dora@example.com', 'developer');
    fin = await invited(gateway, olga, 'Fin@Finance.example.com', 'developer');
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const held = async (tool: string): Promise<string> => {
    const { approvalId } = await gateway.check(agent, { context: toolCall(tool) });
    expect(approvalId).not.toBe('');
    return approvalId;
  };
  const give = (id: string, by: Person, what = 'approve') =>
    by.call<Approval & Problem>('POST', `/api/v1/approvals/${id}/${what}`, {});
  const notOne = { status: 403, body: { code: 'not_an_approver' } };
  const approved = { status: 200, body: { state: 'approved' } };

  test('a role: others get 403, and are told so before they try', async () => {
    const id = await held('deploy');
    for (const one of [dora, fin]) {
      expect(await give(id, one)).toMatchObject(notOne);
      expect(await give(id, one, 'reject')).toMatchObject(notOne);
    }
    const { body: seen } = await dora.call<Approval>('GET', `/api/v1/approvals/${id}`);
    expect(seen).toMatchObject({
      approvers: { by: [{ roles: ['owner'] }], not_user: false, words: 'somebody with the role owner' },
      refusal: { code: 'not_an_approver' },
    });
    const { body: list } = await olga.call<Listed>('GET', '/api/v1/approvals');
    expect(list.items.find((item) => item.id === id)).toMatchObject({ refusal: null });
    expect(await give(id, olga)).toMatchObject(approved);
  });

  test('an email, letter case aside', async () => {
    const id = await held('pay');
    expect(await give(id, olga)).toMatchObject(notOne);
    expect(await give(id, fin)).toMatchObject(approved);
  });

  test('a key counts as the account that made it, and one without an account as admin by its scope', async () => {
    const keyOf = async (by: Person) => (await makeKey(gateway, { label: 'k', scopes: ['write'] }, by.accessToken)).key;
    const byKey = (id: string, key: string) =>
      gateway.api.post<Approval & Problem>(`/api/v1/approvals/${id}/approve`, key, {});
    const deploy = await held('deploy');
    const rotate = await held('rotate');
    expect(await byKey(deploy, bootstrapKey)).toMatchObject(notOne);
    expect(await byKey(rotate, await keyOf(olga))).toMatchObject(notOne);
    const plain = await makeKey(gateway, { label: 'w', scopes: ['write'] });
    expect(await byKey(rotate, plain.key)).toMatchObject(notOne);
    expect(await byKey(rotate, bootstrapKey)).toMatchObject(approved);
    expect(await byKey(deploy, await keyOf(olga))).toMatchObject(approved);
  });

  test('the command says why a verdict would not count, and offers none', async () => {
    const id = await held('deploy');
    using home = new TestHome();
    const shown = async (by = bootstrapKey) => {
      const { key } = await makeKey(gateway, { label: 'k', scopes: ['read', 'write'] }, by);
      return home.run(['approvals', 'show', id], { env: { REEVE_API_URL: gateway.http, REEVE_API_KEY: key } });
    };
    const refused = await shown();
    expect(refused.stderr).toContain('You cannot decide: your verdict does not count');
    expect(refused.stderr).toContain('somebody with the role owner');
    expect(refused.stderr).not.toContain('approvals approve');
    expect((await shown(olga.accessToken)).stderr).toContain(`reeve approvals approve ${id}`);
    expect(await give(id, olga)).toMatchObject(approved);
  });

  test('a changed role counts at once, and what was asked holds after a kill', async () => {
    const id = await held('deploy');
    await gateway.kill();
    gateway = await store.start({ env, policies: { 'p.yaml': 'name: p\ndefault: allow\n' } });
    for (const [one, email] of [
      [olga, 'olga@example.com'],
      [dora, 'dora@example.com'],
    ] as const) {
      Object.assign(one, { gateway });
      expect((await one.logIn(email)).status).toBe(200);
    }
    expect(await give(id, dora)).toMatchObject(notOne);
    const { body } = await olga.call<{ items: { id: string; email: string }[] }>('GET', '/api/v1/accounts');
    const account = body.items.find(({ email }) => email === 'dora@example.com');
    expect((await olga.call('PATCH', `/api/v1/accounts/${account?.id}`, { role: 'owner' })).status).toBe(200);
    expect((await dora.logIn('dora@example.com')).status).toBe(200);
    expect(await give(id, dora)).toMatchObject(approved);
  });
});

test('a webhook is told whose verdict counts, and why that of its person does not, without links that decide', async () => {
  await using receiver = await HttpReceiver.start(({ text }) => [text]);
  await using gateway = await TestGateway.start({
    policies: { 'p.yaml': policy },
    env: {
      SVC_APPROVAL_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/hook`,
      SVC_APPROVAL_WEBHOOK_SECRET: 'a secret that signs',
      SVC_APPROVAL_WEBHOOK_APPROVER: 'olga@example.com',
    },
  });
  expect((await new Person(gateway).register('olga@example.com')).status).toBe(201);
  const agent = await gateway.register({ agentId: 'bot' });
  for (const tool of ['pay', 'deploy']) await gateway.check(agent, { context: toolCall(tool) });
  const told = await eventually(() => {
    expect(receiver.posts).toHaveLength(2);
    return receiver.posts.map(({ text }) => JSON.parse(text) as { approval: Approval });
  });
  const about = (rule: string) => told.find(({ approval }) => approval.policy_rule === rule)?.approval;
  expect(about('p/payments')).toMatchObject({
    approvers: { words: 'somebody with an email like *@finance.example.com' },
    refusal: { code: 'not_an_approver' },
  });
  expect(about('p/deploys')).toMatchObject({ approvers: { words: 'somebody with the role owner' }, refusal: null });
  expect(JSON.stringify(about('p/payments'))).not.toContain('approval-link');
});

test('a chat message has buttons only if its person counts, and says why not; its link says so, too', async () => {
  await using receiver = await HttpReceiver.start(({ text }) => [text]);
  await using gateway = await TestGateway.start({
    policies: { 'p.yaml': policy },
    env: {
      SVC_APPROVAL_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/hook`,
      SVC_APPROVAL_WEBHOOK_SECRET: 'a secret that signs',
      SVC_APPROVAL_WEBHOOK_FORMAT: 'slack',
      SVC_APPROVAL_WEBHOOK_APPROVER: 'olga@example.com',
    },
  });
  expect((await new Person(gateway).register('olga@example.com')).status).toBe(201);
  const agent = await gateway.register({ agentId: 'bot' });
  const messageFor = async (tool: string) => {
    const { approvalId } = await gateway.check(agent, { context: toolCall(tool) });
    return await eventually(() => {
      const found = receiver.posts.find(({ headers }) => headers['reeve-delivery'] === `${approvalId}.requested`);
      if (found === undefined) throw new Error('there is no message yet');
      return found.text;
    });
  };
  expect(await messageFor('deploy')).toContain('Approve…');
  const pay = await messageFor('pay');
  expect(pay).not.toContain('Approve…');
  expect(pay).toContain('Review in Reeve');
  expect(pay).toContain(
    'your verdict does not count: a rule asks for somebody with an email like *@finance.example.com',
  );
});
