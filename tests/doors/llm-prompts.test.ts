import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { chatChunk, chatDelta } from '../harness/model-answers.ts';
import { beginStream, sendEvent } from '../harness/send-answer.ts';
import { LlmWorld } from './llm-world.ts';

const policy = `
name: test
default: allow
rules:
  - { name: prompts, effect: mask, actions: [llm_call], models: [gpt-5, claude-5, "text-embedding-*"], mask: { detect: [email, card] } }
  - { name: names, effect: mask, actions: [llm_call], models: [gpt-fields], mask: { fields: ["metadata.*"], with: "-" } }
  - { name: long, effect: mask, actions: [llm_call], models: [gpt-long], mask: { detect: [ip], with: "${'x'.repeat(900)}" } }
  - { name: whole, effect: mask, actions: [llm_call], models: [gpt-whole], mask: { fields: [tools] } }
pricing:
  "**": {input_per_mtok_usd: 1, output_per_mtok_usd: 10, cached_input_per_mtok_usd: 0.1}
`;

const email = 'ada@example.com';
const card = '4111 1111 1111 1111';
let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start({ policy });
});
afterEach(() => {
  world.upstream.script = () => false;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** The body that the provider has got, as text. */
const told = () => world.upstream.last.body;
const entries = (type: string) => world.gateway.audit().filter(({ event_type }) => event_type === type);

describe('a provider gets the prompt as rules have masked it', () => {
  test('a chat: every message, whoever wrote it', async () => {
    await world.openai().chat.completions.create({
      model: 'gpt-5',
      user: email,
      messages: [
        { role: 'system', content: `you work for ${email}` },
        { role: 'user', content: [{ type: 'text', text: `pay with ${card}, please` }] },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'pay', arguments: `{"from": "${email}"}` } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: `paid by ${email}` },
      ],
      tools: [{ type: 'function', function: { name: 'pay', description: `ask ${email}`, parameters: {} } }],
    });
    expect(told()).not.toContain(email);
    expect(told()).not.toContain(card);
    expect(JSON.parse(told())).toMatchObject({
      user: '[masked]',
      messages: [
        { content: 'you work for [masked]' },
        { content: [{ type: 'text', text: 'pay with [masked], please' }] },
        { tool_calls: [{ id: 'c1', function: { name: 'pay', arguments: '{"from": "[masked]"}' } }] },
        { content: 'paid by [masked]', tool_call_id: 'c1' },
      ],
      tools: [{ function: { description: 'ask [masked]' } }],
    });
  });

  test('a streamed chat: what is sent is what was judged, byte for byte, with the usage asked for', async () => {
    world.upstream.script = (_, response) => {
      beginStream(response);
      sendEvent(response, chatChunk([chatDelta({ content: 'hi' })]));
      sendEvent(response, chatChunk([], { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }));
      sendEvent(response, '[DONE]');
      response.end();
      return true;
    };
    const body = `{ "stream":true,"messages" : [ {"role":"user","content":"caf\\u00e9 ${email}\\n"} ], "n" : 1,\t"model":"gpt-5"}`;
    const answer = await world.post('/v1/chat/completions', body);
    expect(await answer.text()).toContain('"content":"hi"');
    const asked = `${body.replace(email, '[masked]').slice(0, -1)},"stream_options":{"include_usage":true}}`;
    expect(told()).toBe(asked);
    expect(world.upstream.last.headers['content-length']).toBe(String(Buffer.byteLength(asked)));
  });

  test('messages of blocks', async () => {
    await world.anthropic().messages.create({
      model: 'claude-5',
      max_tokens: 100,
      system: [{ type: 'text', text: `for ${email}` }],
      messages: [
        { role: 'user', content: `I am ${email}` },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { [email]: email } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: `it is ${email}` }] },
      ],
      metadata: { user_id: email },
    });
    expect(told()).not.toContain(email);
    expect(told()).toContain('"input":{"[masked]":"[masked]"}');
    await world.anthropic().messages.countTokens({ model: 'claude-5', messages: [{ role: 'user', content: email }] });
    expect(told()).toContain('"content":"[masked]"');
  });

  test('a response, and embeddings', async () => {
    await world.openai().responses.create({
      model: 'gpt-5',
      instructions: `for ${email}`,
      input: [{ role: 'user', content: [{ type: 'input_text', text: `I am ${email}` }] }],
    });
    expect(told()).not.toContain(email);
    expect(told()).toContain('"text":"I am [masked]"');
    await world.openai().embeddings.create({ model: 'text-embedding-3-small', input: ['a', email] });
    expect(JSON.parse(told())).toMatchObject({ input: ['a', '[masked]'] });
  });

  test('fields name members of the request; a mask may make it longer', async () => {
    const messages = [{ role: 'user' as const, content: 'at 10.0.0.1 or 10.0.0.2' }];
    const metadata = { who: 'Ada', where: 'London' };
    await world.openai().chat.completions.create({ model: 'gpt-fields', messages, metadata });
    expect(JSON.parse(told())).toMatchObject({ metadata: { who: '-', where: '-' }, messages });
    await world.openai().chat.completions.create({ model: 'gpt-long', messages });
    expect(world.upstream.last.headers['content-length']).toBe(String(Buffer.byteLength(told())));
    expect(told().length).toBeGreaterThan(1800);
  });

  test('a request in which nothing is found passes in its own bytes', async () => {
    const body = '{"model" : "gpt-5","messages":[{"role":"user","content":"hi \\u0041"}]}';
    await (await world.post('/v1/chat/completions', body)).text();
    expect(told()).toBe(body);
    await eventually(async () => expect(entries('PromptAllowed')).not.toEqual([]));
  });

  test('the log counts what was found, and holds nothing of it', async () => {
    const [entry] = entries('PromptMasked');
    expect(entry?.payload).toMatchObject({ counts: { email: 5, card: 1 }, resource: 'gpt-5' });
    expect(entry?.payload).not.toHaveProperty('is_error');
    // The log has the arguments of tools that models asked for. Of prompts, it has nothing.
    const text = JSON.stringify([...entries('PromptMasked'), ...entries('PromptAllowed')]);
    expect([text.includes(email), JSON.stringify(world.gateway.audit()).includes(card)]).toEqual([false, false]);
  });
});

describe('what cannot be masked is not sent', () => {
  test('a mask of what is no text: the client reads why, and nothing is paid', async () => {
    const [before, calls] = [await world.spent(), world.upstream.seen.length];
    const tools = [{ type: 'function' as const, function: { name: 'pay', description: 'd', parameters: {} } }];
    const asked = world.openai().chat.completions.create({ model: 'gpt-whole', messages: [], tools });
    await expect(asked).rejects.toMatchObject({ status: 403, code: 'policy_denied' });
    await expect(asked).rejects.toThrow(/the prompt cannot be masked/);
    expect(world.upstream.seen.length).toBe(calls);
    expect(await world.spent()).toBe(before);
  });

  test('more than can be judged', async () => {
    const calls = world.upstream.seen.length;
    const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'x'.repeat(17 * 1024 * 1024) }] };
    const answer = await world.post('/v1/chat/completions', JSON.stringify(body));
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('the prompt cannot be masked: it has more than 16777216 bytes');
    expect(world.upstream.seen.length).toBe(calls);
  });

  test('a caller that cannot have it masked is denied, and a model that no rule masks is not', async () => {
    const check = (model: string) =>
      world.gateway.check(world.agent, {
        actionType: 1,
        context: { action: { $case: 'llmCall', value: { model, promptTokens: 1, maxOutputTokens: 1 } } },
      });
    expect(await check('gpt-5')).toMatchObject({
      decision: 2,
      reason: 'must be masked, which this caller cannot do: the model proxy can (reeve llm serve)',
    });
    expect(await check('gpt-plain')).toMatchObject({ decision: 1 });
  });
});

test('with --fail-open a prompt that rules are known to mask does not leave without a gateway', async () => {
  await using away = await LlmWorld.start({ policy, proxyArgs: ['--fail-open'] });
  const ask = (model: string) =>
    away.openai().chat.completions.create({ model, messages: [{ role: 'user', content: email }] });
  await ask('gpt-5');
  await ask('gpt-plain');
  expect(away.upstream.last.body).toContain(email);
  await away.gateway.kill('SIGKILL');
  await ask('gpt-plain');
  const calls = away.upstream.seen.length;
  await expect(ask('gpt-5')).rejects.toMatchObject({ status: 503, code: 'gateway_unavailable' });
  expect(away.upstream.seen.length).toBe(calls);
});
