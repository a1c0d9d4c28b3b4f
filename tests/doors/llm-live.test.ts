import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { chatChunk, chatDelta, messageStart, textDelta } from '../harness/model-answers.ts';
import { providerKey } from '../harness/model-proxy.ts';
import { beginStream, sendEvent } from '../harness/send-answer.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { LlmWorld } from './llm-world.ts';

const policy = `
name: test
default: allow
rules:
  - { name: masked, on: result, effect: mask, models: ["*-live"], mask: { detect: [email, phone, card, secret], patterns: ['EMP-\\d+'] } }
  - { name: mails, on: result, effect: mask, models: [gpt-mails], mask: { detect: [email] } }
  - { name: fields, on: result, effect: mask, models: [gpt-fields], mask: { detect: [email], fields: [secret] } }
  - { name: condition, on: result, effect: mask, models: [gpt-condition], when: 'result_text.contains("x")', mask: { detect: [email] } }
  - { name: labels, on: result, effect: mask, models: [gpt-labels], mask: { detect: [email] }, labels: [seen] }
  - { name: deny, on: result, effect: deny, models: [gpt-deny], when: 'result_text.contains("forbidden")' }
`;

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

/** A provider that begins its stream, and sends each part at the test's word. */
function provider(): { readonly begun: Promise<ServerResponse> } {
  const begun = Promise.withResolvers<ServerResponse>();
  world.upstream.script = (_, response) => {
    beginStream(response);
    begun.resolve(response);
    return true;
  };
  return { begun: begun.promise };
}

function chatText(response: ServerResponse, content: string, index = 0): void {
  sendEvent(response, chatChunk([{ ...chatDelta({ content }), index }]));
}

function endChat(response: ServerResponse): void {
  sendEvent(response, chatChunk([chatDelta({}, 'stop')]));
  sendEvent(response, chatChunk([], { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }));
  sendEvent(response, '[DONE]');
  response.end();
}

/** What the client has read so far, by its raw bytes: nothing hides from it. */
interface Reading {
  raw: string;
  isOver: boolean;
}

async function read(path: string, body: object): Promise<Reading> {
  const answer = await world.post(path, JSON.stringify({ ...body, stream: true }), {
    'anthropic-version': '2023-06-01',
  });
  const reading: Reading = { raw: '', isOver: false };
  const pump = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) reading.raw += decoder.decode(chunk, { stream: true });
  };
  pump().then(
    () => (reading.isOver = true),
    () => (reading.isOver = true),
  );
  return reading;
}

async function reads(reading: Reading, text: string): Promise<void> {
  await eventually(() => expect(reading.raw).toContain(text));
}

async function replacePolicy(text: string): Promise<void> {
  world.gateway.writePolicy('test.yaml', text);
  await world.gateway.api.post('/api/v1/policies/reload', bootstrapKey, {});
}

function ask(model: string) {
  return { model, messages: [{ role: 'user' as const, content: 'who?' }] };
}

function results(model: string) {
  return world.gateway
    .audit()
    .filter(({ event_type, payload }) => event_type.startsWith('Result') && payload['resource'] === model);
}

describe('what is decided of a streamed answer passes while the rest still comes', () => {
  test('a chat: texts of several choices, with what is masked spread over events', async () => {
    const { begun } = provider();
    const stream = await openStream(ask('gpt-live'), begun);
    const { response, texts, until } = stream;
    chatText(response, 'Hello there, ');
    chatText(response, 'Thinking aloud, my friend', 1);
    await until(() => expect(texts.get(0)).toContain('Hello there'));
    await until(() => expect(texts.get(1)).toContain('Thinking aloud'));
    for (const part of [
      'write to ada',
      '@exam',
      'ple.com or EMP',
      '-42 or call +49 30',
      ' 901820, and',
      ' so on. 😀 ',
    ]) {
      chatText(response, part);
    }
    await until(() => expect(texts.get(0)).toContain('and'));
    chatText(response, '4111 1111 1111');
    chatText(response, ' 1111');
    endChat(response);
    await stream.over;
    expect(texts.get(0)).toBe('Hello there, write to [masked] or [masked] or call [masked], and so on. 😀 [masked]');
    expect(texts.get(1)).toBe('Thinking aloud, my friend');
    expect(results('gpt-live')).toMatchObject([
      { event_type: 'ResultMasked', payload: { counts: { card: 1, email: 1, pattern: 1, phone: 1 } } },
    ]);
  });

  test('a message: thinking, texts and calls of tools in their order', async () => {
    const { begun } = provider();
    const messages = [{ role: 'user' as const, content: 'who?' }];
    const stream = world.anthropic().messages.stream({ model: 'claude-live', max_tokens: 10, messages });
    let text = '';
    let thinking = '';
    stream.on('text', (delta) => (text += delta));
    stream.on('thinking', (delta) => (thinking += delta));
    const response = await begun;
    const send = (event: Readonly<Record<string, unknown>>) => sendEvent(response, event, String(event['type']));
    send(messageStart());
    send({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } });
    const delta = (index: number, more: object) => send({ type: 'content_block_delta', index, delta: more });
    delta(0, { type: 'thinking_delta', thinking: 'I know of ada@example.com, so ' });
    await eventually(() => expect(thinking).toContain('I know of [masked], '));
    delta(0, { type: 'signature_delta', signature: 'c2ln' });
    send({ type: 'content_block_stop', index: 0 });
    send({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } });
    send({ ...textDelta('It is ada@'), index: 1 });
    await eventually(() => expect(text).toBe('It is '));
    send({ ...textDelta('example.com, I think'), index: 1 });
    await eventually(() => expect(text).toContain('It is [masked], I '));
    send({ type: 'content_block_stop', index: 1 });
    send({
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 't', name: 'mail', input: {} },
    });
    delta(2, { type: 'input_json_delta', partial_json: '{"to":"ada@ex' });
    delta(2, { type: 'input_json_delta', partial_json: 'ample.com"}' });
    send({ type: 'content_block_stop', index: 2 });
    send({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 5 },
    });
    send({ type: 'message_stop' });
    response.end();
    const { content, stop_reason } = await stream.finalMessage();
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'I know of [masked], so ', signature: 'c2ln' },
      { type: 'text', text: 'It is [masked], I think' },
      { type: 'tool_use', input: { to: '[masked]' } },
    ]);
    expect(stop_reason).toBe('tool_use');
    expect(results('claude-live')).toHaveLength(1);
  });

  test('nothing of what is masked leaves in any event, however it is cut', async () => {
    const { begun } = provider();
    const reading = read('/v1/chat/completions', ask('gpt-raw-live'));
    const response = await begun;
    for (const character of 'So the password = "two words" is his, and sk-abcdefghijklmnopqrstuvwxyz too. ') {
      chatText(response, character);
    }
    endChat(response);
    const { raw } = await eventually(async () => {
      const seen = await reading;
      expect(seen.isOver).toBe(true);
      return seen;
    });
    const texts = [...raw.matchAll(/^data: (\{.*)$/gm)].flatMap(([, data = '']) => {
      const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
      return choices.map((choice) => choice.delta.content ?? '');
    });
    expect(texts.join('')).toBe('So the password = "[masked]" is his, and [masked] too. ');
    expect(raw).not.toMatch(/two|words|sk-/);
  });

  test('a response: the text of a message, with ends that repeat it as it has passed', async () => {
    const { begun } = provider();
    const reading = read('/v1/responses', { model: 'gpt-live', input: 'who?' });
    const response = await begun;
    const send = responseEvents(response);
    const text = 'It is ada@example.com, I think, or EMP-42';
    for (const part of ['It is ada@', 'example.com, I thi']) send('output_text.delta', { ...first, delta: part });
    await reads(await reading, '[masked], I "');
    expect((await reading).isOver).toBe(false);
    send('output_text.delta', { ...first, delta: 'nk, or EMP-42' });
    const call = { id: 'f', type: 'function_call', call_id: 'c', name: 'mail', arguments: '{"to":"ada@example.com"}' };
    const output = [itemOf(text), call];
    send('output_item.done', { output_index: 0, item: output[0] });
    send('output_item.added', { output_index: 1, item: { ...call, arguments: '' } });
    send('function_call_arguments.delta', { output_index: 1, item_id: 'f', delta: call.arguments });
    send('output_item.done', { output_index: 1, item: call });
    send('completed', { response: { ...responseHead, status: 'completed', output } });
    response.end();
    const events = await eventsOf(reading);
    const texts = events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : []));
    const masked = 'It is [masked], I think, or [masked]';
    expect(texts.join('')).toBe(masked);
    expect(events.find(({ type }) => type === 'response.output_text.done')).toMatchObject({ text: masked });
    expect(events.filter(({ type }) => type === 'response.output_item.done')).toMatchObject([
      { item: { content: [{ text: masked }] } },
      { item: { arguments: '{"to":"[masked]"}' } },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [{ content: [{ text: masked }] }, { arguments: '{"to":"[masked]"}' }] },
    });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, nth) => nth));
    expect((await reading).raw).not.toMatch(/ada|EMP/);
  });

  test('a response that ends with another text than has passed is cut off', async () => {
    const { begun } = provider();
    const reading = read('/v1/responses', { model: 'gpt-live', input: 'who?' });
    const response = await begun;
    const send = responseEvents(response);
    send('output_text.delta', { ...first, delta: 'Hello there, friend' });
    await reads(await reading, 'Hello there, ');
    send('completed', { response: { ...responseHead, status: 'completed', output: [itemOf('Something else')] } });
    response.end();
    const events = await eventsOf(reading);
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'policy_denied' });
    expect((await reading).raw).not.toContain('Something else');
  });

  test("the upstream's key does not leave, however it is cut", async () => {
    const { begun } = provider();
    const reading = read('/v1/chat/completions', ask('gpt-mails'));
    const response = await begun;
    for (const part of ['Hello there, my key is ', ...providerKey.split(''), ' and that is it. '])
      chatText(response, part);
    await reads(await reading, 'that');
    endChat(response);
    await eventually(async () => expect((await reading).isOver).toBe(true));
    const { raw } = await reading;
    const texts = [...raw.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text);
    expect(texts.join('')).toBe(`Hello there, my key is ${'*'.repeat(providerKey.length)} and that is it. `);
  });
});

const responseHead = { id: 'r', object: 'response', model: 'gpt-live', status: 'in_progress', output: [], usage: null };
const first = { output_index: 0, content_index: 0, item_id: 'm' };

function itemOf(text: string) {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id: 'm', type: 'message', role: 'assistant', status: 'completed', content };
}

/** Begins a response with the first part of a message. */
function responseEvents(response: ServerResponse): (type: string, more: object) => void {
  let sequence_number = 0;
  const send = (name: string, more: object) => {
    const type = `response.${name}`;
    sendEvent(response, { type, ...more, sequence_number: sequence_number++ }, type);
  };
  send('created', { response: responseHead });
  send('output_item.added', { output_index: 0, item: { ...itemOf(''), status: 'in_progress', content: [] } });
  send('content_part.added', { ...first, part: { type: 'output_text', text: '', annotations: [], logprobs: [] } });
  return send;
}

type Event = Readonly<Record<string, unknown>>;

/** The events that the client has read, once the stream is over. */
async function eventsOf(reading: Promise<Reading>): Promise<readonly Event[]> {
  await eventually(async () => expect((await reading).isOver).toBe(true));
  return [...(await reading).raw.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Event);
}

describe('an answer is held until it is whole', () => {
  test.each(['gpt-fields', 'gpt-condition', 'gpt-labels', 'gpt-deny'])(
    'where a rule needs the whole, or labels the run: %s',
    async (model) => {
      const { begun } = provider();
      const reading = read('/v1/chat/completions', ask(model));
      const response = await begun;
      chatText(response, 'Hello there, ');
      chatText(response, 'a long way to go. ');
      chatText(response, 'no');
      endChat(response);
      const { raw } = await eventually(async () => {
        const seen = await reading;
        expect(seen.isOver).toBe(true);
        return seen;
      });
      // In one piece, so nothing of it was passed on before.
      expect(raw).toContain('"content":"Hello there, a long way to go. no"');
    },
  );
});

test('a stream that breaks off is judged as far as it has passed', async () => {
  const { begun } = provider();
  const reading = read('/v1/chat/completions', ask('gpt-broken-live'));
  const response = await begun;
  chatText(response, 'Hello there, ada@example.com, and so ');
  await reads(await reading, 'Hello there, [masked], and ');
  response.destroy();
  const [entry] = await eventually(() => {
    const found = results('gpt-broken-live');
    expect(found).toHaveLength(1);
    return found;
  });
  expect(entry).toMatchObject({ event_type: 'ResultMasked', payload: { counts: { email: 1 } } });
});

test('a policy that comes in between denies the rest', async () => {
  const { begun } = provider();
  const reading = read('/v1/chat/completions', ask('gpt-denied-live'));
  const response = await begun;
  chatText(response, 'Hello there, friend ');
  await reads(await reading, 'Hello there, ');
  const rule = '  - { name: no, on: result, effect: deny, models: ["gpt-denied-live"] }\n';
  await replacePolicy(`${policy}${rule}`);
  chatText(response, 'and the secret rest of it ');
  endChat(response);
  const { raw } = await eventually(async () => {
    const seen = await reading;
    expect(seen.isOver).toBe(true);
    return seen;
  });
  expect(raw).not.toContain('rest of it');
  expect(raw).toContain('"error"');
  expect(results('gpt-denied-live')).toMatchObject([{ event_type: 'ResultDenied' }]);
  await replacePolicy(policy);
});

/** A stream of the OpenAI client, with the texts of its choices so far. */
async function openStream(body: ReturnType<typeof ask>, begun: Promise<ServerResponse>) {
  const texts = new Map<number, string>();
  const pump = async () => {
    const stream = await world.openai().chat.completions.create({ ...body, stream: true });
    for await (const { choices } of stream) {
      for (const { index, delta } of choices) texts.set(index, (texts.get(index) ?? '') + (delta.content ?? ''));
    }
  };
  const over = pump();
  return { response: await begun, texts, over, until: (check: () => void) => eventually(check) };
}
