import type { APIError as OpenAIAPIError } from 'openai';
import { InternalServerError as OpenAIInternalServerError } from 'openai';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { chatChunk, chatDelta } from '../harness/model-answers.ts';
import { beginStream, sendEvent } from '../harness/send-answer.ts';
import { LlmWorld, prices } from './llm-world.ts';

const model = 'gpt-5';
const messages = [{ role: 'user' as const, content: 'hello' }];

test('fifty calls at once against a cap for ten: exactly ten happen', async () => {
  // The most that a call may cost is 1000 tokens out, and not a tenth of that in.
  const policy = `name: test\ndefault: allow\nbudget: {agent_daily_limit_usd: 0.11}\n${prices}`;
  await using world = await LlmWorld.start({ policy });
  const open: (() => void)[] = [];
  world.upstream.script = (_, response) => {
    open.push(() => {
      const message = { role: 'assistant', content: 'x' };
      const usage = { prompt_tokens: 100, completion_tokens: 1000 };
      response.end(JSON.stringify({ choices: [{ message }], usage }));
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    return true;
  };
  const client = world.openai();
  const calls = Array.from({ length: 50 }, () => client.chat.completions.create({ model, messages }));
  const settled = Promise.allSettled(calls);
  let refused = 0;
  for (const call of calls) call.catch(() => refused++);
  await eventually(() => expect([open.length, refused]).toEqual([10, 40]));
  for (const finish of open) finish();
  const outcomes = await settled;
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  const errors = outcomes.filter((each) => each.status === 'rejected').map((each) => each.reason as OpenAIAPIError);
  expect(new Set(errors.map(({ status, code }) => `${status} ${code}`))).toEqual(new Set(['429 budget_exceeded']));
  expect(await world.spent()).toBe(10 * 10_100);
  expect(world.upstream.seen).toHaveLength(10);
});

test('a gateway that is killed and started again in the middle: the stream goes on and is settled', async () => {
  await using world = await LlmWorld.start();
  let finish = () => {};
  world.upstream.script = (_, response) => {
    beginStream(response);
    sendEvent(response, chatChunk([chatDelta({ content: 'One' })]));
    finish = () => {
      sendEvent(response, chatChunk([], { usage: { prompt_tokens: 1000, completion_tokens: 50 } }));
      sendEvent(response, '[DONE]');
      response.end();
    };
    return true;
  };
  const stream = await world.openai().chat.completions.create({ model, messages, stream: true });
  const grpc = world.gateway.grpc;
  await world.gateway.kill('SIGKILL');
  const away = await world
    .openai()
    .chat.completions.create({ model, messages })
    .catch((error: unknown) => error);
  expect(away).toBeInstanceOf(OpenAIInternalServerError);
  expect(away).toMatchObject({ status: 503, code: 'gateway_unavailable' });
  expect(String(away)).toContain('Reeve is not reachable');
  expect(world.upstream.seen).toHaveLength(1);
  finish();
  const got = [];
  for await (const chunk of stream) got.push(chunk.choices[0]?.delta.content);
  expect(got).toEqual(['One']);
  world.gateway = await world.gateway.restart('SIGKILL', { args: ['--grpc', grpc] });
  expect(await world.spent()).toBe(1500);
  world.upstream.script = () => false;
  await world.openai().chat.completions.create({ model, messages });
});

test('a gateway that is away in the middle of a masked stream: what is left waits until it is whole', async () => {
  const mask = '{ name: m, on: result, effect: mask, models: [gpt-5], mask: { detect: [email] } }';
  await using world = await LlmWorld.start({ policy: `name: test\ndefault: allow\nrules:\n  - ${mask}\n` });
  let say = (_content: string) => {};
  let finish = () => {};
  world.upstream.script = (_, response) => {
    beginStream(response);
    say = (content) => sendEvent(response, chatChunk([chatDelta({ content })]));
    finish = () => {
      sendEvent(response, chatChunk([chatDelta({}, 'stop')]));
      sendEvent(response, '[DONE]');
      response.end();
    };
    say('Hello there, friend ');
    return true;
  };
  const stream = await world.openai().chat.completions.create({ model, messages, stream: true });
  let text = '';
  const read = async () => {
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  };
  const over = read();
  await eventually(() => expect(text).toContain('Hello there, '));
  const grpc = world.gateway.grpc;
  await world.gateway.kill('SIGKILL');
  say('write to ada@example.com, and so on. ');
  // The proxy gives up on the piece before it gives up on the second of these, which it asks for later.
  for (const nth of ['first', 'second']) {
    const call = world.openai().chat.completions.create({ model, messages });
    await expect(call, nth).rejects.toMatchObject({ status: 503, code: 'gateway_unavailable' });
  }
  world.gateway = await world.gateway.restart('SIGKILL', { args: ['--grpc', grpc] });
  say('The end.');
  finish();
  await over;
  expect(text).toBe('Hello there, friend write to [masked], and so on. The end.');
});

test('with --fail-open calls happen without a gateway, and each says so on stderr', async () => {
  await using world = await LlmWorld.start({ proxyArgs: ['--fail-open'] });
  const { proxy, upstream } = world;
  const create = () => world.openai().chat.completions.create({ model, messages });
  await create();
  await expect(world.openai('rva_nobody').chat.completions.create({ model, messages })).rejects.toThrow('401');
  expect(proxy.cli.stderr).toBe('');
  await world.gateway.kill('SIGKILL');
  for (const times of [1, 2]) {
    await create();
    const told = /fail-open: a call of \/v1\/chat\/completions goes to its upstream unchecked/g;
    await eventually(() => expect(proxy.cli.stderr.match(told)).toHaveLength(times));
  }
  expect(upstream.seen).toHaveLength(3);
  expect(proxy.output).not.toContain(world.agent.token);
});

test('with --fail-open what was decided about messages of tools still holds', async () => {
  const policy = `
name: test
default: allow
rules:
  - { name: emails, on: result, effect: mask, actions: [tool_call], tools: [look_up], mask: { detect: [email] } }
${prices}`;
  await using world = await LlmWorld.start({ policy, proxyArgs: ['--fail-open'] });
  const call = { id: 'call_1', type: 'function' as const, function: { name: 'look_up', arguments: '{}' } };
  const tool = (content: string, id = 'call_1') => ({ role: 'tool' as const, tool_call_id: id, content });
  const send = (...tools: ReturnType<typeof tool>[]) => {
    const asked = { role: 'assistant' as const, content: null, tool_calls: [call] };
    return world.openai().chat.completions.create({ model, messages: [...messages, asked, ...tools] });
  };
  await send(tool('it is ada@example.com'));
  expect(world.upstream.last.body).not.toContain('ada@example.com');
  expect(world.proxy.cli.stderr).toBe('');
  await world.gateway.kill('SIGKILL');
  await send(tool('it is ada@example.com'), tool('from nowhere', 'call_9'), tool('new'), tool('newer'));
  expect(world.upstream.last.body).not.toContain('ada@example.com');
  expect(world.upstream.last.body).not.toContain('from nowhere');
  expect(world.upstream.last.json['messages']).toMatchObject([
    {},
    {},
    {},
    {},
    { content: 'new' },
    { content: 'newer' },
  ]);
  await eventually(() =>
    expect(world.proxy.cli.stderr.match(/fail-open: messages of tools go on unjudged/g)).toHaveLength(1),
  );
});
