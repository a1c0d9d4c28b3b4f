import type { ServerResponse } from 'node:http';
import { beginStream, sendEvent, sendJson } from './send-answer.ts';

type Request = Readonly<Record<string, unknown>>;

/** What every usual answer says it used: 1000 in, 400 of them cached, 50 out. */
const chatUsage = {
  prompt_tokens: 1000,
  completion_tokens: 50,
  total_tokens: 1050,
  prompt_tokens_details: { cached_tokens: 400 },
};
const responseUsage = {
  input_tokens: 1000,
  input_tokens_details: { cached_tokens: 400 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1050,
};
const messageUsage = {
  input_tokens: 500,
  cache_read_input_tokens: 400,
  cache_creation_input_tokens: 100,
  output_tokens: 50,
};

export const words = ['Refunds', ' take', ' five', ' days.'];
const text = words.join('');

const toolCall = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":"refunds"}' } };

/** Chunks of a chat, as the provider sends them: with `usage: null` in each if the usage is asked for. */
export function chatChunk(choices: readonly unknown[], more: Request = {}): Request {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5-mini', choices, ...more };
}

export function chatDelta(delta: unknown, finish: string | null = null): Request {
  return { index: 0, delta, finish_reason: finish };
}

export function chatAnswer(request: Request, response: ServerResponse): void {
  const usesTool = Array.isArray(request['tools']);
  const message = {
    role: 'assistant',
    content: usesTool ? null : text,
    ...(usesTool ? { tool_calls: [toolCall] } : {}),
  };
  const finish = usesTool ? 'tool_calls' : 'stop';
  if (request['stream'] !== true) {
    const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
    const { object: _object, ...rest } = chatChunk(choices, { usage: chatUsage });
    return sendJson(response, { object: 'chat.completion', ...rest });
  }
  const asksUsage = (request['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage === true;
  const none = asksUsage ? { usage: null } : {};
  beginStream(response);
  const deltas = usesTool
    ? [{ role: 'assistant', tool_calls: [{ index: 0, ...toolCall }] }]
    : words.map((content) => ({ role: 'assistant', content }));
  for (const delta of deltas) sendEvent(response, chatChunk([chatDelta(delta)], none));
  sendEvent(response, chatChunk([chatDelta({}, finish)], none));
  if (asksUsage) sendEvent(response, chatChunk([], { usage: chatUsage }));
  sendEvent(response, '[DONE]');
  response.end();
}

export function responsesAnswer(request: Request, response: ServerResponse): void {
  const part = { type: 'output_text', text, annotations: [] };
  const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [part] };
  const base = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    error: null,
    incomplete_details: null,
  };
  const done = { ...base, status: 'completed', output: [item], usage: responseUsage };
  if (request['stream'] !== true) return sendJson(response, done);
  beginStream(response);
  let sequence = 0;
  const send = (type: string, more: Request) =>
    sendEvent(response, { type, sequence_number: sequence++, ...more }, type);
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  send('response.created', { response: { ...base, status: 'in_progress', output: [], usage: null } });
  send('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } });
  send('response.content_part.added', { ...place, part: { ...part, text: '' } });
  for (const delta of words) send('response.output_text.delta', { ...place, delta, logprobs: [] });
  send('response.output_text.done', { ...place, text, logprobs: [] });
  send('response.content_part.done', { ...place, part });
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: done });
  response.end();
}

export function messageStart(): Request {
  const usage = { ...messageUsage, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-5',
    content: [],
    stop_reason: null,
  };
  return { type: 'message_start', message: { ...message, stop_sequence: null, usage } };
}

export function textDelta(delta: string): Request {
  return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: delta } };
}

export function anthropicAnswer(request: Request, response: ServerResponse): void {
  const usesTool = Array.isArray(request['tools']);
  const tool = { type: 'tool_use', id: 'toolu_1', name: 'look_up' };
  const stop = { stop_reason: usesTool ? 'tool_use' : 'end_turn', stop_sequence: null };
  if (request['stream'] !== true) {
    const content = usesTool ? [{ ...tool, input: { q: 'refunds' } }] : [{ type: 'text', text }];
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-5', content, ...stop };
    return sendJson(response, { ...message, usage: messageUsage });
  }
  beginStream(response);
  const send = (event: Request) => sendEvent(response, event, String(event['type']));
  send(messageStart());
  send({ type: 'ping' });
  const block = usesTool ? { ...tool, input: {} } : { type: 'text', text: '' };
  send({ type: 'content_block_start', index: 0, content_block: block });
  if (usesTool) {
    const delta = { type: 'input_json_delta', partial_json: '{"q":"refunds"}' };
    send({ type: 'content_block_delta', index: 0, delta });
  } else for (const word of words) send(textDelta(word));
  send({ type: 'content_block_stop', index: 0 });
  send({ type: 'message_delta', delta: stop, usage: { output_tokens: 50 } });
  send({ type: 'message_stop' });
  response.end();
}

export const embeddingsAnswer = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 1000, total_tokens: 1000 },
};

export const modelsAnswer = {
  object: 'list',
  data: ['gpt-5-mini', 'gpt-5', 'text-embedding-3-small', 'dall-e-3'].map((id) => ({
    id,
    object: 'model',
    created: 1,
  })),
};
