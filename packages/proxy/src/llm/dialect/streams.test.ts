import { describe, expect, test } from 'vitest';
import { dataOf, SseFramer } from '../sse.ts';
import { anthropicStream } from './anthropic-stream.ts';
import { chatStream } from './chat-stream.ts';
import { responseStream } from './response-stream.ts';
import type { StreamForm } from './stream-form.ts';

/** The data of the events of a stream. */
function eventsIn(stream: string): readonly unknown[] {
  const events = new SseFramer().push(Buffer.from(stream)).map(({ bytes }) => dataOf(bytes));
  return events.map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as unknown)));
}

/** An answer that goes through its own stream is the same. */
function again(form: StreamForm, events: readonly unknown[]) {
  const answer = form.answerOf(events) ?? {};
  return [answer, form.answerOf(eventsIn(form.eventsOf(answer, true)))] as const;
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
    expect(chatStream.eventsOf(masked, false)).not.toContain('secret');
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
    expect(anthropicStream.answerOf([{ type: 'ping' }])).toBeUndefined();
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
    const deltas = eventsIn(responseStream.eventsOf(response, true)) as {
      type: string;
      delta?: string;
      sequence_number: number;
    }[];
    expect(deltas.filter(({ delta }) => delta !== undefined).map(({ delta }) => delta)).toEqual([
      part.text,
      '{"to":"ada"}',
    ]);
    expect(deltas.map(({ sequence_number }) => sequence_number)).toEqual(deltas.map((_, at) => at));
    expect(responseStream.answerOf([{ type: 'response.created', response: {} }])).toBeUndefined();
  });
});
