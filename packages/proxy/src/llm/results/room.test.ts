import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bounds } from '@reeve/contract';
import { expect, test } from 'vitest';
import type { CallStop } from '../call-stop.ts';
import { openaiChat } from '../dialect/openai-chat.ts';
import type { ProxyContext } from '../handle-request.ts';
import { handleRequest } from '../handle-request.ts';
import { HeldBytes } from '../held-bytes.ts';
import { parseRequest } from '../json-request.ts';
import type { ModelCall } from '../model-call.ts';
import type { CallOperation } from '../settlement.ts';
import { LiveForward } from './live-forward.ts';
import { maskPrompt, promptLimits } from './mask-prompt.ts';

const route = { path: '/v1/chat/completions', dialect: openaiChat };

test('prompts that are masked have a bound, and what was masked is free again', async () => {
  const request = parseRequest(Buffer.from(JSON.stringify({ model: 'm', messages: [{ content: 'x'.repeat(200) }] })));
  const rooms = new HeldBytes({ most: 1000, mostTogether: 2000 });
  const replaced: string[] = [];
  const body = { request, replace: (_: unknown, bytes: Buffer) => replaced.push(bytes.toString()) };
  const callIn = (promptRoom: ModelCall['promptRoom']) =>
    ({ body, opId: 'o', route, promptRoom }) as unknown as ModelCall;
  const judged = Promise.withResolvers<void>();
  const checkPrompt = async (prompt: string) => {
    await judged.promise;
    return prompt.replace(/x+/, 'y');
  };
  const operation = { checkPrompt } as unknown as CallOperation;
  const [first, second] = [rooms.roomFor('a'), rooms.roomFor('b')];
  const masking = maskPrompt(callIn(first), operation);
  await expect(maskPrompt(callIn(second), operation)).rejects.toMatchObject({ code: 'overloaded' });
  judged.resolve();
  await masking;
  expect(replaced.join()).toContain('"content":"y"');
  await maskPrompt(callIn(second), operation);
  expect(replaced).toHaveLength(2);
});

test('prompts of one organization leave room for those of others, and never take that of answers', async () => {
  const rooms = new HeldBytes(promptLimits);
  const large = Buffer.alloc(bounds.result - 1024);
  const judged = new AbortController();
  const mask = async (org: string) => {
    const answerRoom = { take: () => expect.unreachable('that is for answers'), release: () => {} };
    const request = { body: large, value: {}, places: { members: [], end: 0 } };
    const call = { body: { request }, opId: 'o', route, answerRoom, promptRoom: rooms.roomFor(org) };
    const checkPrompt = async () => {
      await once(judged.signal, 'abort');
      return '{}';
    };
    await maskPrompt(call as unknown as ModelCall, { checkPrompt } as unknown as CallOperation);
  };
  const first = ['a', 'a', 'b', 'b', 'c', 'c'].map(mask);
  for (const org of ['a', 'b', 'c']) await expect(mask(org)).rejects.toMatchObject({ code: 'overloaded' });
  const others = ['d', 'd'].map(mask);
  judged.abort();
  await Promise.all([...first, ...others]);
});

test('the agents of an organization share its room for prompts', async () => {
  const owners: string[] = [];
  const prompts = { roomFor: (owner: string) => owners.push(owner) };
  const run = async () => Promise.reject(new Error('enough'));
  const agent = Promise.resolve({ id: { orgId: 'acme', teamId: '', agentId: 'one' }, run });
  const context = {
    prompts,
    agents: { find: () => ({ agent, revoked: new AbortController().signal, calls: 0 }) },
    answers: new HeldBytes({ most: 1, mostTogether: 1 }),
    bodies: { read: async () => ({ bytes: Buffer.from('{"model":"m","messages":[]}'), release: () => {} }) },
    hosts: { require: () => {} },
    upstreams: [{ kind: 'openai', models: [/m/] }],
    callsPerAgent: 1,
    tell: () => {},
  } as unknown as ProxyContext;
  for (const token of ['first', 'second']) {
    const headers = { authorization: `Bearer ${token}` };
    const request = { method: 'POST', url: route.path, headers } as unknown as IncomingMessage;
    const response = Object.assign(new EventEmitter(), { destroyed: false, headersSent: true, destroy: () => {} });
    await handleRequest(context, request, response as unknown as ServerResponse).catch(() => {});
  }
  expect(owners).toEqual(['acme', 'acme']);
});

test('a stream of which there is no room for copies is held until it is whole', async () => {
  let asked = 0;
  const operation = {
    checkStreamed: async ({ text }: { text: string }) => {
      asked++;
      return { read: '', rest: text };
    },
  } as unknown as CallOperation;
  const live = (mostTogether: number) => {
    const answerRoom = new HeldBytes({ most: 1, mostTogether }).roomFor('a');
    const call = { route, upstream: {}, answerRoom, opId: 'o' } as unknown as ModelCall;
    return new LiveForward(call, operation, () => {});
  };
  const chunk = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello' } }] })}\n\n`);
  await live(10_000).take(chunk, {} as CallStop);
  expect(asked).toBe(1);
  await live(chunk.length).take(chunk, {} as CallStop);
  expect(asked).toBe(1);
});
