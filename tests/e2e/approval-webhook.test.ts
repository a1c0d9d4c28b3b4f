import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, runServe, TestGateway, toolCall } from '../harness/gateway.ts';

type Approval = RouteOutput<Routes['getApproval']>;

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { readonly id: string; readonly type: string; readonly at: string; readonly approval: Approval };
}

const secret = 'a secret that signs';
const policy = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell] }]\n';

/** A receiver of webhooks that answers with the given statuses, then with 204. */
class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  statuses: number[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      this.deliveries.push({ headers: request.headers, text, body: JSON.parse(text) as Delivery['body'] });
      response.writeHead(this.statuses.shift() ?? 204, { location: '/elsewhere' }).end();
    });
  });

  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async received(count: number): Promise<Delivery[]> {
    await eventually(() => expect(this.deliveries.length).toBeGreaterThanOrEqual(count), 400);
    return this.deliveries;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

function notifying(port: number) {
  return {
    policies: { 'p.yaml': policy },
    env: {
      SVC_APPROVAL_WEBHOOK_URL: `http://127.0.0.1:${port}/hook?team=ops-channel`,
      SVC_APPROVAL_WEBHOOK_SECRET: secret,
    },
  };
}

async function ask(gateway: TestGateway, traceId = 't'): Promise<string> {
  const agent = await gateway.register({ agentId: `bot-${traceId}` });
  const { approvalId } = await gateway.check(agent, { traceId, spanId: 's', context: toolCall('shell') });
  return approvalId;
}

async function approve(gateway: TestGateway, id: string): Promise<void> {
  const answer = await gateway.api.post(`/api/v1/approvals/${id}/approve`, bootstrapKey, { reason: 'fine' });
  expect(answer.status, answer.text).toBe(200);
}

/** Verifies as a receiver would, from the received headers and bytes. */
function expectSigned({ headers, text }: Delivery): void {
  const [, time = '', mac = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['reeve-signature'])) ?? [];
  expect(mac).toBe(createHmac('sha256', secret).update(`${time}.${text}`).digest('hex'));
  expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(300);
}

test('a webhook is told, by signed messages, what is asked and what is decided', async () => {
  await using receiver = await Receiver.start();
  await using gateway = await TestGateway.start(notifying(receiver.port));
  const id = await ask(gateway);
  const [requested] = await receiver.received(1);
  expect(requested).toMatchObject({
    headers: { 'content-type': 'application/json', 'reeve-delivery': `${id}.requested` },
    body: { id: `${id}.requested`, type: 'approval.requested', approval: { id, state: 'open', policy_rule: 'p/ask' } },
  });
  await approve(gateway, id);
  const deliveries = await receiver.received(2);
  expect(deliveries[1]?.body).toMatchObject({
    id: `${id}.decided`,
    type: 'approval.decided',
    approval: { id, state: 'approved', verdicts: [{ verdict: 'approve', reason: 'fine' }] },
  });
  for (const delivery of deliveries) expectSigned(delivery);
  const { text } = await gateway.api.get('/metrics');
  expect(text).toContain('reeve_webhook_deliveries_total{type="approval.requested",outcome="delivered"} 1');
  expect(text).toContain('reeve_approvals_total{outcome="approved"} 1');
  expect(text).toMatch(/reeve_approval_wait_seconds_count\{outcome="approved"\} 1/);
  expect(text).toContain('reeve_approvals_open 0');
});

test('what the receiver could not take is sent again, the same message, until it can', async () => {
  await using receiver = await Receiver.start();
  receiver.statuses = [503, 429];
  await using gateway = await TestGateway.start(notifying(receiver.port));
  const id = await ask(gateway);
  await approve(gateway, id);
  const deliveries = await receiver.received(4);
  expect(deliveries.map(({ body }) => body.id)).toEqual([
    `${id}.requested`,
    `${id}.requested`,
    `${id}.requested`,
    `${id}.decided`,
  ]);
  for (const delivery of deliveries) expectSigned(delivery);
});

test('what the receiver refuses, or sends elsewhere, is not sent again, and is logged without the address', async () => {
  await using receiver = await Receiver.start();
  receiver.statuses = [400, 302];
  await using gateway = await TestGateway.start(notifying(receiver.port));
  const id = await ask(gateway);
  await approve(gateway, id);
  await receiver.received(2);
  const next = await ask(gateway, 'u');
  await receiver.received(3);
  expect(receiver.deliveries.map(({ body }) => body.id)).toEqual([
    `${id}.requested`,
    `${id}.decided`,
    `${next}.requested`,
  ]);
  await eventually(() => expect(gateway.output().stderr).toContain('the webhook has refused a message'));
  expect(gateway.output().stderr).not.toContain('ops-channel');
  expect(gateway.output().stderr).not.toContain(secret);
});

test('what could not be delivered before a restart is delivered after it', async () => {
  const first = await Receiver.start();
  const { port } = first;
  const before = await TestGateway.start(notifying(port));
  await first[Symbol.asyncDispose]();
  const id = await ask(before);
  await approve(before, id);
  await eventually(() => expect(before.output().stderr).toContain('the webhook could not be reached'));
  await using receiver = await Receiver.start(port);
  await using gateway = await before.restart('SIGKILL', notifying(port));
  const deliveries = await receiver.received(2);
  expect(deliveries.map(({ body }) => body.id)).toEqual([`${id}.requested`, `${id}.decided`]);
  const later = await ask(gateway, 'u');
  await receiver.received(3);
  expect(receiver.deliveries[2]?.body.id).toBe(`${later}.requested`);
});

test('a receiver that never answers holds up no decision', async () => {
  const sockets = createServer(() => undefined);
  sockets.listen(0, '127.0.0.1');
  await once(sockets, 'listening');
  const { port } = sockets.address() as AddressInfo;
  await using gateway = await TestGateway.start(notifying(port));
  for (const trace of ['a', 'b', 'c', 'd', 'e', 'f']) await approve(gateway, await ask(gateway, trace));
  expect(await gateway.kill('SIGTERM')).toBe(0);
  sockets.closeAllConnections();
  sockets.close();
});

test('a webhook needs an address of the web and a secret that is long enough, both', async () => {
  const url = 'http://127.0.0.1:1/hook';
  for (const [env, said] of [
    [{ SVC_APPROVAL_WEBHOOK_URL: url }, 'SVC_APPROVAL_WEBHOOK_SECRET is not'],
    [{ SVC_APPROVAL_WEBHOOK_SECRET: secret }, 'SVC_APPROVAL_WEBHOOK_URL is not'],
    [{ SVC_APPROVAL_WEBHOOK_URL: url, SVC_APPROVAL_WEBHOOK_SECRET: 'short-and-sour' }, 'at least 16 characters'],
    [{ SVC_APPROVAL_WEBHOOK_URL: 'ftp://host/x', SVC_APPROVAL_WEBHOOK_SECRET: secret }, 'starts with http://'],
    [{ SVC_APPROVAL_WEBHOOK_URL: 'http://u:p@host/', SVC_APPROVAL_WEBHOOK_SECRET: secret }, 'without user name'],
  ] as const) {
    const { code, stderr } = await runServe([], env);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('short-and-sour');
  }
});
