import { ApprovalLinks } from '../../packages/gateway/src/adapters/webhook/approval-links.ts';
import { paths, RegisterAgentRequest, RegisterAgentResponse } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { HttpReceiver } from '../harness/log-receivers.ts';
import { Person } from '../harness/person.ts';

const secret = 'a secret that signs';
const policy = `name: p
default: allow
rules:
  - { name: one, effect: require_approval, tools: [shell] }
  - { name: two, effect: require_approval, tools: [wire], approvals: { count: 2 } }
`;

interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text?: { readonly text: string };
    readonly fields?: readonly { readonly type: string; readonly text: string }[];
    readonly elements?: readonly { readonly url: string; readonly text: { readonly text: string } }[];
  }[];
}

let receiver: HttpReceiver;
let gateway: TestGateway;
let alice: Person;
let agent: Registered;
let asked = 0;

function options(more: Readonly<Record<string, string>>) {
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const env = { SVC_APPROVAL_WEBHOOK_URL: url, SVC_APPROVAL_WEBHOOK_SECRET: secret, ...more };
  return { policies: { 'p.yaml': policy }, env };
}

const slack = { SVC_APPROVAL_WEBHOOK_FORMAT: 'slack', SVC_APPROVAL_WEBHOOK_APPROVER: 'Alice@example.com' };

beforeAll(async () => {
  receiver = await HttpReceiver.start(({ text }) => [text]);
  gateway = await TestGateway.start(options(slack));
  alice = new Person(gateway);
  expect((await alice.register('alice@example.com')).status).toBe(201);
  agent = await gateway.register({ agentId: 'bot' });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

/** Asks, and returns the approval with the message about it. */
async function ask(tool = 'shell', summary = '', by = agent): Promise<{ id: string; message: SlackMessage }> {
  const request = { traceId: `t${++asked}`, spanId: 's', context: toolCall(tool, { path: '/srv' }), summary };
  const { approvalId: id } = await gateway.check(by, request);
  const message = await eventually(() => {
    const found = receiver.posts.find(({ headers }) => headers['reeve-delivery'] === `${id}.requested`);
    if (found === undefined) throw new Error('there is no message yet');
    return JSON.parse(found.text) as SlackMessage;
  });
  return { id, message };
}

function linksIn({ blocks }: SlackMessage): Readonly<Record<string, string>> {
  const buttons = blocks.flatMap(({ elements }) => elements ?? []);
  return Object.fromEntries(buttons.map(({ text, url }) => [text.text, url]));
}

/** Sends the form of the page behind a link, as a browser does. */
async function press(link = ''): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(link, { method: 'POST', headers, body: '' });
  return { status: response.status, text: await response.text() };
}

async function approval(id: string) {
  return (
    await gateway.api.get<{ state: string; verdicts: unknown[]; expires_at: string }>(
      `/api/v1/approvals/${id}`,
      bootstrapKey,
    )
  ).body;
}

test('a message for Slack names the action in plain text, and its buttons lead to pages', async () => {
  const { id, message } = await ask('shell', '<!channel> *Approve* <https://evil.example|here>\u202e\nagain');
  expect(message.blocks.map(({ type }) => type)).toEqual(['header', 'section', 'actions']);
  expect(message.blocks[0]?.text?.text).toBe('Approval requested');
  const fields = message.blocks[1]?.fields ?? [];
  expect(new Set(fields.map(({ type }) => type))).toEqual(new Set(['plain_text']));
  const texts = fields.map(({ text }) => text);
  expect(texts).toContain('Agent\nacme/core/bot');
  expect(texts).toContain('Action\nshell(path: "/srv")');
  expect(texts).toContain('Summary\n<!channel> *Approve* <https://evil.example|here><U+202E> again');
  expect(Object.keys(linksIn(message))).toEqual(['Approve…', 'Reject…', 'Review in Reeve']);
  expect(linksIn(message)['Review in Reeve']).toBe(`${gateway.http}/approvals?id=${id}`);
});

test('opening a link decides nothing; sending it decides once, in the name of its person, also after a restart', async () => {
  const { id, message } = await ask('shell', 'a <b>bold</b> plan');
  const { 'Approve…': approve = '', 'Reject…': reject = '' } = linksIn(message);
  for (const link of [approve, approve, reject]) {
    const page = await fetch(link);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const text = await page.text();
    expect(text).toContain('alice@example.com');
    expect(text).toContain('a &lt;b&gt;bold&lt;/b&gt; plan');
    expect(text).toContain('/srv');
  }
  expect(await approval(id)).toMatchObject({ state: 'open', verdicts: [] });
  const done = await press(approve);
  expect(done).toMatchObject({ status: 200 });
  expect(done.text).toContain('<h1>Approved</h1>');
  expect(await approval(id)).toMatchObject({
    state: 'approved',
    verdicts: [{ verdict: 'approve', actor: { kind: 'account', label: 'alice@example.com' } }],
  });
  const entry = gateway.audit().find(({ event_type: type }) => type === 'ApprovalGranted');
  expect(entry).toMatchObject({ actor: { kind: 'account' }, payload: { approval_id: id, via: 'chat_link' } });
  expect(await press(approve)).toMatchObject({ status: 409 });
  expect(await press(reject)).toMatchObject({ status: 409 });

  const waiting = await ask('wire');
  const { 'Approve…': first = '', 'Reject…': no = '' } = linksIn(waiting.message);
  expect((await press(first)).text).toContain('more are needed');
  const port = new URL(gateway.http).port;
  gateway = await gateway.restart('SIGKILL', { ...options(slack), args: ['--http', `127.0.0.1:${port}`] });
  for (const link of [first, no]) expect(await press(link)).toMatchObject({ status: 409 });
  // The same person by another way is the same person; another one is the second.
  alice = new Person(gateway);
  expect((await alice.logIn('alice@example.com')).status).toBe(200);
  expect(await alice.call('POST', `/api/v1/approvals/${waiting.id}/approve`, {})).toMatchObject({ status: 409 });
  const other = await gateway.api.post(`/api/v1/approvals/${waiting.id}/approve`, bootstrapKey, {});
  expect(other.body).toMatchObject({ state: 'approved' });
}, 240_000);

test('a link that was changed, or whose person may not decide, decides nothing', async () => {
  const one = await ask();
  const two = await ask();
  const { 'Approve…': approve = '', 'Reject…': reject = '' } = linksIn(one.message);
  const changed = [
    approve.replace(one.id, two.id),
    approve.replace('.approve.', '.reject.'),
    approve.replace(/approve\.(\d+)/, (_, at: string) => `approve.${Number(at) + 1}`),
    `${approve.slice(0, -1)}${approve.endsWith('A') ? 'B' : 'A'}`,
    reject.replace(/token=.*/, 'token=rvl_'),
  ];
  for (const link of changed) expect(await press(link), link).toMatchObject({ status: 422 });
  expect(await approval(two.id)).toMatchObject({ state: 'open' });

  // An agent that the person has registered is none of the person's to decide about, admin or not.
  const own = await registerWith(alice.accessToken ?? '');
  const mine = await ask('shell', '', own);
  expect(Object.keys(linksIn(mine.message))).toEqual(['Review in Reeve']);
  expect(JSON.stringify(mine.message)).toContain('a verdict must come from somebody else');
  const { expires_at: at } = await approval(mine.id);
  const token = new ApprovalLinks(secret, 'Alice@example.com').tokenFor({
    approvalId: mine.id,
    verdict: 'approve',
    expiresAt: Date.parse(at),
  });
  const link = `${gateway.http}/api/v1/approval-link?token=${token}`;
  expect(await (await fetch(link)).text()).not.toContain('<button');
  const refused = await press(link);
  expect(refused).toMatchObject({ status: 403 });
  expect(refused.text).toContain('own_approval');

  // A link lives no longer than the account is active.
  const owner = new Person(gateway);
  const { body: invite } = await alice.call<{ token: string }>('POST', '/api/v1/auth/invite', {
    email: 'olga@example.com',
    role: 'owner',
  });
  expect((await owner.accept(invite.token)).status).toBe(201);
  const { body: me } = await alice.call<{ account: { id: string } }>('GET', '/api/v1/auth/me');
  const disabled = await owner.call('PATCH', `/api/v1/accounts/${me.account.id}`, { status: 'disabled' });
  expect(disabled.status).toBe(200);
  for (const link of [approve, reject]) expect(await press(link)).toMatchObject({ status: 422 });
  expect((await fetch(approve)).status).toBe(422);
  expect(await approval(one.id)).toMatchObject({ state: 'open', verdicts: [] });
  const { stderr } = gateway.output();
  expect(stderr).not.toContain('rvl_');
}, 240_000);

test('Teams gets an Adaptive Card, by default without links that decide', async () => {
  await using teams = await TestGateway.start(options({ SVC_APPROVAL_WEBHOOK_FORMAT: 'teams' }));
  const bot = await teams.register({ agentId: 'bot' });
  const before = receiver.posts.length;
  const { approvalId: id } = await teams.check(bot, { context: toolCall('shell'), summary: '[click](https://evil)' });
  await eventually(() => expect(receiver.posts.length).toBeGreaterThan(before));
  const card = JSON.parse(receiver.posts.at(-1)?.text ?? '') as object;
  expect(card).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          actions: [{ type: 'Action.OpenUrl', title: 'Review in Reeve', url: `${teams.http}/approvals?id=${id}` }],
        },
      },
    ],
  });
  expect(JSON.stringify(card)).toContain('{"type":"TextRun","text":"[click](https://evil)"}');
  await teams.api.post(`/api/v1/approvals/${id}/reject`, bootstrapKey, { reason: 'no' });
  await eventually(() => expect(receiver.posts.at(-1)?.text).toContain('"text":"Rejected"'));
  // Without an approver, no link decides.
  const token = `rvl_${id}.approve.1.${'x'.repeat(43)}`;
  expect(await press(`${teams.http}/api/v1/approval-link?token=${token}`)).toMatchObject({ status: 422 });
}, 240_000);

/** Registers an agent with another credential than the harness does. */
async function registerWith(credential: string): Promise<Registered> {
  const id = { orgId: 'acme', teamId: 'core', agentId: 'own' };
  const texts = { credentialToken: '', name: '', framework: '', version: '' };
  const request = { agentId: id, ...texts, parentAgentId: undefined, metadata: {}, toolNames: [] };
  const bearer = { authorization: `Bearer ${credential}` };
  const answer = gateway.client.call(paths.registerAgent, RegisterAgentRequest, RegisterAgentResponse, request, bearer);
  return { id, token: (await answer).credentialToken };
}
