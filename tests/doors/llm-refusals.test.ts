import {
  AuthenticationError as AnthropicAuthenticationError,
  NotFoundError as AnthropicNotFoundError,
  PermissionDeniedError as AnthropicPermissionDeniedError,
  RateLimitError as AnthropicRateLimitError,
} from '@anthropic-ai/sdk';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIError as OpenAIAPIError } from 'openai';
import {
  AuthenticationError as OpenAIAuthenticationError,
  NotFoundError as OpenAINotFoundError,
  PermissionDeniedError as OpenAIPermissionDeniedError,
  RateLimitError as OpenAIRateLimitError,
} from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { sendRaw } from '../harness/raw-http.ts';
import { sendJson } from '../harness/send-answer.ts';
import { LlmWorld, prices } from './llm-world.ts';

const policy = `
name: test
default: allow
rules:
  - {name: no-four, effect: deny, models: [gpt-4, claude-4]}
  - {name: ask, effect: require_approval, models: [gpt-ask, claude-ask]}
budget: {agent_daily_limit_usd: 0.15}
${prices}`;

let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start({ policy, proxyArgs: ['--approval-wait', '1', '--max-calls', '3'] });
});
afterAll(() => world[Symbol.asyncDispose]());

const messages = [{ role: 'user' as const, content: 'hello' }];

/** The errors of both clients for the same refusal, and how often the upstream was called. */
async function refused(openaiModel: string, claudeModel: string, token?: string, max_tokens = 10) {
  const calls = world.upstream.seen.length;
  const chat = world.openai(token, { maxRetries: 2 }).chat.completions;
  const openai = await chat.create({ model: openaiModel, messages, max_tokens }).catch((error: unknown) => error);
  const message = world.anthropic(token, { maxRetries: 2 }).messages;
  const claude = await message.create({ model: claudeModel, messages, max_tokens }).catch((error: unknown) => error);
  return { openai, claude, calls: world.upstream.seen.length - calls };
}

test('denied by policy', async () => {
  const { openai, claude, calls } = await refused('gpt-4', 'claude-4');
  expect(openai).toBeInstanceOf(OpenAIPermissionDeniedError);
  expect(openai).toMatchObject({ status: 403, code: 'policy_denied' });
  expect((openai as Error).message).toContain('no-four');
  expect(claude).toBeInstanceOf(AnthropicPermissionDeniedError);
  expect(claude).toMatchObject({ status: 403, type: 'permission_error', errorCode: 'policy_denied' });
  expect(calls).toBe(0);
});

test('over budget: the clients raise their own errors and do not try again', async () => {
  const before = world.checks().length;
  const { openai, claude, calls } = await refused('gpt-5', 'claude-5', undefined, 20_000);
  expect(openai).toBeInstanceOf(OpenAIRateLimitError);
  expect(openai).toMatchObject({ status: 429, code: 'budget_exceeded' });
  expect((openai as OpenAIAPIError).headers?.get('x-should-retry')).toBe('false');
  expect(claude).toBeInstanceOf(AnthropicRateLimitError);
  expect(claude).toMatchObject({ status: 429, type: 'rate_limit_error' });
  expect(calls).toBe(0);
  expect(world.checks()).toHaveLength(before + 2);
});

test('not approved in time', async () => {
  const { openai, claude, calls } = await refused('gpt-ask', 'claude-ask');
  expect(openai).toMatchObject({ status: 403, code: 'approval_pending' });
  expect((openai as Error).message).toMatch(/Waiting for approval \(approval \S+\)/);
  expect(claude).toMatchObject({ status: 403, type: 'permission_error', errorCode: 'approval_pending' });
  expect(calls).toBe(0);
});

const openApprovals = async () => {
  const { body } = await world.gateway.api.get<{ items: { id: string }[] }>('/api/v1/approvals', bootstrapKey);
  return body.items.map(({ id }) => id);
};

test('a call that nobody waits for any more is called off, and so is its approval', async () => {
  await eventually(async () => expect(await openApprovals()).toEqual([]));
  const abort = new AbortController();
  const call = world.openai().chat.completions.create({ model: 'gpt-ask', messages }, { signal: abort.signal });
  await eventually(async () => expect(await openApprovals()).toHaveLength(1));
  abort.abort();
  await expect(call).rejects.toThrow();
  await eventually(async () => expect(await openApprovals()).toEqual([]));
});

test('approved in time: the call happens; rejected: it does not, and the reason is told', async () => {
  const decide = async (verdict: 'approve' | 'reject') => {
    const before = await openApprovals();
    const id = await eventually(async () => {
      const fresh = (await openApprovals()).find((each) => !before.includes(each));
      if (fresh === undefined) throw new Error('nobody asks');
      return fresh;
    });
    const answer = await world.gateway.api.post(`/api/v1/approvals/${id}/${verdict}`, bootstrapKey, {
      reason: 'said so',
    });
    expect(answer.status).toBe(200);
  };
  const later = async () => {
    await sleep(100);
    return world.openai().chat.completions.create({ model: 'gpt-ask', messages });
  };
  const [approved] = await Promise.all([later(), decide('approve')]);
  expect(approved.choices).toHaveLength(1);
  const [rejected] = await Promise.allSettled([later(), decide('reject')]);
  expect(rejected).toMatchObject({ status: 'rejected', reason: { status: 403, code: 'policy_denied' } });
  expect(String((rejected as PromiseRejectedResult).reason)).toContain('said so');
});

test('more calls at once than one agent may make are told to come again', async () => {
  const answers: (() => void)[] = [];
  world.upstream.script = (_, response) => {
    answers.push(() => sendJson(response, { choices: [] }));
    return true;
  };
  const call = () => world.post('/v1/chat/completions', JSON.stringify({ model: 'gpt-5', messages, max_tokens: 9 }));
  const calls = [call(), call(), call()];
  await eventually(() => expect(answers).toHaveLength(3));
  const refused = await call();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_calls' } });
  for (const answer of answers) answer();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
  world.upstream.script = () => false;
});

test('an answer that is not read counts as a call under way', async () => {
  const large = 'x'.repeat(7.5 * 1024 * 1024);
  let sent = 0;
  world.upstream.script = (_, response) => {
    sent++;
    sendJson(response, { choices: [], large });
    return true;
  };
  const body = JSON.stringify({ model: 'gpt-5', messages, max_tokens: 9 });
  const { hostname, port, host } = new URL(world.proxy.url);
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${world.agent.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  const sockets: Socket[] = [];
  const leaveUnread = async () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).pause();
    sockets.push(socket);
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    // What the upstream has sent is held until it is whole, and then left to the client.
    await once(socket, 'readable');
  };
  // The calls of the test before may still be counted for a moment.
  for (const nth of [1, 2, 3]) {
    await eventually(async () => {
      await leaveUnread();
      expect(sent).toBe(nth);
    });
  }
  expect((await world.post('/v1/chat/completions', body)).status).toBe(429);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect((await world.post('/v1/chat/completions', body)).status).toBe(200));
  world.upstream.script = () => false;
});

test('a bad token, and none', async () => {
  const { openai, claude, calls } = await refused('gpt-5', 'claude-5', 'rva_nobody');
  expect(openai).toBeInstanceOf(OpenAIAuthenticationError);
  expect(claude).toBeInstanceOf(AnthropicAuthenticationError);
  expect(calls).toBe(0);
  expect((await fetch(`${world.proxy.url}/v1/models`)).status).toBe(401);
});

test('a token that was replaced stops at once', async () => {
  const old = await world.gateway.register({ agentId: 'replaced' });
  const create = () => world.openai(old.token).chat.completions.create({ model: 'gpt-5', messages });
  await create();
  await world.gateway.register({ agentId: 'replaced' });
  await expect(create()).rejects.toBeInstanceOf(OpenAIAuthenticationError);
});

test('a model that no upstream serves, also one of the other protocol', async () => {
  const { openai, claude, calls } = await refused('claude-5', 'gpt-5');
  expect(openai).toBeInstanceOf(OpenAINotFoundError);
  expect(openai).toMatchObject({ code: 'model_not_found' });
  expect(claude).toBeInstanceOf(AnthropicNotFoundError);
  expect(claude).toMatchObject({ type: 'not_found_error' });
  expect(calls).toBe(0);
});

test('the AI SDK raises its own error with the reason', async () => {
  const provider = createOpenAI({ baseURL: `${world.proxy.url}/v1`, apiKey: world.agent.token });
  const denied = generateText({ model: provider.chat('gpt-4'), prompt: 'x' });
  await expect(denied).rejects.toMatchObject({ name: 'AI_APICallError', statusCode: 403, isRetryable: false });
});

test.each([
  ['POST', '/v1/completions', '{}', 404],
  ['GET', '/v1/chat/completions', undefined, 405],
  ['POST', '/v1/chat/completions', '{"model":"gpt-5","model":"gpt-4"}', 400],
  ['POST', '/v1/chat/completions', '{"model":"gpt-5","max_tokens":"many"}', 400],
  ['POST', '/v1/chat/completions', '{"model":"gpt-5"', 400],
])('%s %s %s is %d, and does not reach the upstream', async (method, path, body, status) => {
  const calls = world.upstream.seen.length;
  const headers = { authorization: `Bearer ${world.agent.token}` };
  const answer = await fetch(world.proxy.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) as string } });
  expect(world.upstream.seen).toHaveLength(calls);
});

test('a body that is too large, one that is compressed, and a token in the address', async () => {
  const large = await world.post('/v1/messages', `{"model":"${'x'.repeat(33 * 1024 * 1024)}"}`);
  expect([large.status, ((await large.json()) as { error: { type: string } }).error.type]).toEqual([
    413,
    'request_too_large',
  ]);
  expect((await world.post('/v1/messages', '{}', { 'content-encoding': 'gzip' })).status).toBe(400);
  expect((await world.post(`/v1/messages?key=${world.agent.token}`, '{"model":"claude-5"}')).status).toBe(400);
});

test('another host is not answered for, but health is told to everybody', async () => {
  const send = async (path: string) => {
    const text = `GET ${path} HTTP/1.1\r\nhost: attacker.example\r\nconnection: close\r\n\r\n`;
    return (await sendRaw(world.proxy.url, text)).status;
  };
  expect([await send('/v1/models'), await send('/healthz')]).toEqual([421, 200]);
});
