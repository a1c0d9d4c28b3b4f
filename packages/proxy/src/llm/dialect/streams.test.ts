import { describe, expect, test } from 'vitest';
import type { JudgePiece } from '../results/text-window.ts';
import { HeldBack } from '../results/text-window.ts';
import { dataOf, SseFramer } from '../sse.ts';
import { anthropicStream } from './anthropic-stream.ts';
import { chatStream } from './chat-stream.ts';
import { responseStream } from './response-stream.ts';
import type { StreamForm, Written } from './stream-form.ts';
import { OddStream } from './stream-form.ts';

/** The data of the events of a stream. */
function eventsIn(stream: string): readonly unknown[] {
  const events = new SseFramer().push(Buffer.from(stream)).map(({ bytes }) => dataOf(bytes));
  return events.map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as unknown)));
}

const whole: Written = { wantsUsage: true, isMasked: false };

function streamOf(form: StreamForm, answer: Readonly<Record<string, unknown>>, how = whole): string {
  return [...form.eventsOf(answer, how)].join('');
}

/** An answer that goes through its own stream is the same. */
function again(form: StreamForm, events: readonly unknown[]) {
  const answer = form.answerOf(events);
  return [answer, form.answerOf(eventsIn(streamOf(form, answer)))] as const;
}

describe('a stream is put together to its answer, and taken apart again', () => {
  test('a chat, with texts and arguments in parts', () => {
    const chunk = (choices: readonly unknown[], more: object = {}) => ({
      id: 'x',
      model: 'm',
      created: 1,
      choices,
      ...more,
    });
    const part = (index: number, delta: object) => chunk([{ index, delta, finish_reason: null }]);
    const call = (args: string, more: object = {}) => ({
      tool_calls: [{ index: 0, function: { arguments: args }, ...more }],
    });
    const [answer, twice] = again(chatStream, [
      part(0, { role: 'assistant', content: 'ada@' }),
      part(1, {
        role: 'assistant',
        ...call('', { id: 'c1', type: 'function', function: { name: 'mail', arguments: '' } }),
      }),
      part(0, { content: 'example.com' }),
      part(1, call('{"to":"a')),
      part(1, call('da"}')),
      chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
      chunk([], { usage: { total_tokens: 3 } }),
      '[DONE]',
    ]);
    expect(answer).toMatchObject({ choices: [{ message: { role: 'assistant', content: 'ada@example.com' } }, {}] });
    expect(answer).toMatchObject({
      choices: [
        { finish_reason: 'stop' },
        { message: { tool_calls: [{ function: { name: 'mail', arguments: '{"to":"ada"}' } }] } },
      ],
      usage: { total_tokens: 3 },
    });
    expect(twice).toMatchObject({ choices: answer['choices'] as object, usage: { total_tokens: 3 } });
  });

  test('what clients need not know stays away from a stream that was changed', () => {
    const tokens = { content: [{ token: 'secret' }] };
    const answer = chatStream.answerOf([
      { id: 'x', choices: [{ index: 0, delta: { content: 'secret' }, logprobs: tokens }] },
    ]);
    expect(JSON.stringify(answer)).toContain('"token":"secret"');
    const masked = { ...answer, choices: [{ index: 0, message: { content: '***' }, logprobs: tokens }] };
    expect(streamOf(chatStream, masked, { wantsUsage: false, isMasked: true })).not.toContain('secret');
  });

  test('a message of blocks', () => {
    const delta = (index: number, more: object) => ({ type: 'content_block_delta', index, delta: more });
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'c',
      content: [],
      usage: { input_tokens: 2 },
    };
    const [answer, twice] = again(anthropicStream, [
      { type: 'message_start', message },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      delta(1, { type: 'text_delta', text: 'ada@' }),
      delta(1, { type: 'text_delta', text: 'example.com' }),
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't', name: 'mail', input: {} } },
      delta(2, { type: 'input_json_delta', partial_json: '{"to":' }),
      delta(2, { type: 'input_json_delta', partial_json: '"ada"}' }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]);
    expect(answer).toMatchObject({
      stop_reason: 'tool_use',
      usage: { input_tokens: 2, output_tokens: 5 },
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'ada@example.com' },
        { type: 'tool_use', id: 't', name: 'mail', input: { to: 'ada' } },
      ],
    });
    expect(twice).toEqual(answer);
    expect(() => anthropicStream.answerOf([{ type: 'ping' }])).toThrow(OddStream);
  });

  test('a response, whose last event holds all of it', () => {
    const part = { type: 'output_text', text: 'ada@example.com', annotations: [] };
    const output = [
      { type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [part] },
      { type: 'function_call', id: 'f1', call_id: 'c1', name: 'mail', arguments: '{"to":"ada"}', status: 'completed' },
    ];
    const response = { id: 'r', status: 'completed', output, usage: { input_tokens: 1 } };
    const [answer, twice] = again(responseStream, [
      { type: 'response.created', response: { id: 'r', output: [] } },
      { type: 'response.output_text.delta', delta: 'ada@' },
      { type: 'response.completed', response },
    ]);
    expect(answer).toEqual(response);
    expect(twice).toEqual(response);
    const deltas = eventsIn(streamOf(responseStream, response)) as {
      type: string;
      delta?: string;
      sequence_number: number;
    }[];
    expect(deltas.filter(({ delta }) => delta !== undefined).map(({ delta }) => delta)).toEqual([
      part.text,
      '{"to":"ada"}',
    ]);
    expect(deltas.map(({ sequence_number }) => sequence_number)).toEqual(deltas.map((_, at) => at));
    expect(() => responseStream.answerOf([{ type: 'response.created', response: {} }])).toThrow(OddStream);
  });
});

describe('an answer that was not changed keeps all that was judged', () => {
  test('a chat: tokens, and what the provider adds', () => {
    const logprobs = { content: [{ token: 'a' }, { token: 'b' }] };
    const [answer, twice] = again(chatStream, [
      { id: 'x', citations: ['u'], choices: [{ index: 0, delta: { content: 'a', odd: { x: 1 } }, logprobs: null }] },
      { id: 'x', citations: ['u'], choices: [{ index: 0, delta: { content: 'b' }, finish_reason: 'stop', logprobs }] },
      { id: 'x', citations: ['u'], choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ]);
    expect(answer).toMatchObject({
      citations: ['u'],
      choices: [{ message: { content: 'ab', odd: { x: 1 } }, finish_reason: 'stop', logprobs }],
    });
    expect(twice).toMatchObject(answer);
  });

  test('a message: citations, and numbers of an input that a parser would change', () => {
    const input = '{"id":12345678901234567890}';
    const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
    const delta = (index: number, more: object) => ({ type: 'content_block_delta', index, delta: more });
    const [answer, twice] = again(anthropicStream, [
      { type: 'message_start', message: { id: 'm', content: [] } },
      block(0, { type: 'text', text: '' }),
      delta(0, { type: 'citations_delta', citation: { cited_text: 'one' } }),
      delta(0, { type: 'citations_delta', citation: { cited_text: 'two' } }),
      block(1, { type: 'tool_use', id: 't', name: 'mail', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: input }),
    ]);
    expect(answer['content']).toMatchObject([{ citations: [{ cited_text: 'one' }, { cited_text: 'two' }] }, { input }]);
    expect(twice['content']).toEqual(answer['content']);
    expect(streamOf(anthropicStream, answer)).toContain(JSON.stringify(input));
  });

  test('a response whose items are in events of their own', () => {
    const item = { type: 'reasoning', id: 'i', content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] };
    const [answer, twice] = again(responseStream, [
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.failed', response: { id: 'r', output: [] } },
    ]);
    expect(answer).toEqual({ id: 'r', status: 'failed', output: [item] });
    expect(twice).toEqual(answer);
    expect(streamOf(responseStream, answer)).not.toContain('output_text');
  });
});

test('a masked response has no tokens one by one', () => {
  const part = { type: 'output_text', text: '***', logprobs: [{ token: 'secret' }] };
  const answer = { status: 'completed', output: [{ type: 'message', content: [part] }] };
  expect(streamOf(responseStream, answer, { wantsUsage: true, isMasked: true })).not.toContain('secret');
});

describe('a stream that clients may read in another way is not understood', () => {
  const choice = (index: unknown, delta: object) => ({ choices: [{ index, delta }] });
  const start = { type: 'message_start', message: { content: [] } };
  const block = (index: unknown) => ({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
  const delta = (index: unknown) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'x' } });
  const done = { type: 'response.completed', response: { output: [] } };
  const ended = { type: 'response.output_item.done', output_index: 0, item: {} };

  test.each<readonly [string, StreamForm, readonly unknown[]]>([
    ['a chat without events', chatStream, []],
    ['a chat with its end alone', chatStream, ['[DONE]']],
    ['a text that becomes a list', chatStream, [choice(0, { content: 'x' }), choice(0, { content: [] })]],
    ['a choice without an index', chatStream, [choice(0, { content: 'x' }), choice(undefined, { content: 'y' })]],
    ['a choice of a text as index', chatStream, [choice('0', { content: 'x' })]],
    ['a choice of a huge index', chatStream, [choice(1e8, { content: 'x' })]],
    ['a call without an index', chatStream, [choice(0, { tool_calls: [{ function: { arguments: 'x' } }] })]],
    ['a hidden member', chatStream, [choice(0, JSON.parse('{"__proto__":{"content":"x"}}') as object)]],
    ['a message that starts twice', anthropicStream, [start, start]],
    ['a message with a content from the start', anthropicStream, [{ ...start, message: { content: [{}] } }]],
    ['a block that starts twice', anthropicStream, [start, block(0), block(0)]],
    ['a part of no block', anthropicStream, [start, delta(0)]],
    ['a block of a negative index', anthropicStream, [start, block(-1)]],
    ['a block of a huge index', anthropicStream, [start, block(4_294_967_294)]],
    ['a response that ends twice', responseStream, [done, done]],
    ['an item that ends twice', responseStream, [ended, ended, done]],
  ])('%s', (_what, form, events) => {
    expect(() => form.answerOf(events)).toThrow(OddStream);
  });
});

test('each part of a stream costs no more than its own size', () => {
  const most = 10_000;
  const ids = Array.from({ length: most }, (_, at) => at);
  const chunks = ids.map((index) => ({ choices: [{ index, delta: { content: 'x', [`m${index}`]: 1 } }] }));
  expect(chatStream.answerOf(chunks)['choices']).toHaveLength(most);
  const start = { type: 'message_start', message: { content: [] } };
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  const citation = { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } };
  const long = Array.from({ length: 20_000 }, () => citation);
  const names = long.map((_, at) => ({ type: 'message_delta', delta: { [`m${at}`]: 1 } }));
  const [answered] = anthropicStream.answerOf([start, block, ...long, ...names])['content'] as object[];
  expect((answered as { citations: unknown[] }).citations).toHaveLength(20_000);
});

test('a chat of more choices than providers give is held until it is whole', () => {
  const live = chatStream.live?.();
  const chunk = (index: number) => ({ choices: [{ index, delta: { content: 'x' } }] });
  for (let index = 0; index < 128; index++) live?.note(chunk(index));
  live?.note(chunk(0));
  expect(() => live?.note(chunk(9000))).toThrow(HeldBack);
});

describe('a response that passes while it comes', () => {
  const start = { id: 'm', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const itemOf = (text: string) => ({ ...start, status: 'completed', content: [{ type: 'output_text', text }] });
  const first = { output_index: 0, content_index: 0 };
  const begun = [
    { type: 'response.created', response: { id: 'r', status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: start },
    { type: 'response.content_part.added', ...first, part: { type: 'output_text', text: '' } },
    { type: 'response.output_text.delta', ...first, delta: 'Hello there' },
  ];
  const shout: JudgePiece = async ({ text }) => ({ read: text.replaceAll('there', 'THERE'), rest: '' });

  /** What passes of these events, and the stream to go on with. */
  async function passed(events: readonly unknown[]) {
    const live = responseStream.live?.();
    if (live === undefined) throw new Error('nothing of it passes');
    const written: string[] = [];
    for (const event of events) {
      live.note(event);
      for await (const each of live.next(shout)) written.push(each);
    }
    return { live, types: eventsIn(written.join('')).map((event) => (event as { type: string }).type) };
  }

  test('items pass in their order, and what is no text once it is whole', async () => {
    const call = { id: 'f', type: 'function_call', name: 'x', arguments: '{}' };
    const { types } = await passed([
      ...begun,
      { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{}' },
      { type: 'response.output_item.done', output_index: 1, item: call },
    ]);
    expect(types).toEqual([
      ...['response.created', 'response.output_item.added', 'response.content_part.added'],
      'response.output_text.delta',
    ]);
  });

  test('the end says what has passed, with what is left', async () => {
    const { live } = await passed(begun);
    const rest = [...live.rest({ id: 'r', output: [itemOf('Hello THERE, you')] }, whole)].join('');
    expect(eventsIn(rest)).toMatchObject([
      { type: 'response.output_text.delta', delta: ', you' },
      { type: 'response.output_text.done', text: 'Hello THERE, you' },
      { type: 'response.content_part.done', part: { text: 'Hello THERE, you' } },
      { type: 'response.output_item.done', item: { content: [{ text: 'Hello THERE, you' }] } },
      { type: 'response.completed', response: { output: [{ content: [{ text: 'Hello THERE, you' }] }] } },
    ]);
  });

  test.each([
    ['another text', [itemOf('Hello there')]],
    ['no item', []],
    ['another item', [{ type: 'function_call', arguments: 'Hello THERE' }]],
  ])('an end with %s is not understood', async (_, output) => {
    const { live } = await passed(begun);
    expect(() => [...live.rest({ id: 'r', output }, whole)]).toThrow(OddStream);
  });

  test('an item that has passed whole is the one at the end, whatever its id', async () => {
    const { live } = await passed([
      ...begun,
      { type: 'response.output_item.done', ...first, item: itemOf('Hello there') },
    ]);
    const end = (text: string) => [...live.rest({ output: [{ ...itemOf(text), id: 'other' }] }, whole)];
    expect(end('Hello THERE')).toHaveLength(1);
    expect(() => end('Hello THERE!')).toThrow(OddStream);
  });

  test.each([
    { type: 'response.output_item.added', output_index: 0, item: start },
    { type: 'response.content_part.added', ...first, part: { type: 'output_text', text: '' } },
    { type: 'response.refusal.delta', ...first, delta: 'x' },
    { type: 'response.output_text.delta', output_index: 7, content_index: 0, delta: 'x' },
    { type: 'response.output_text.delta', output_index: 0, delta: 'x' },
  ])('%j is not understood', async (event) => {
    await expect(passed([...begun, event])).rejects.toThrow(OddStream);
  });
});
