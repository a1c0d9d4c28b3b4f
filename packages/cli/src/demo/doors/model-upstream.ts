import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ModelUpstream {
  readonly url: string;
  close(): void;
}

interface CompletionBody {
  readonly model?: string;
}

type Event = readonly [name: string | undefined, data: unknown];

const words = 'Refunds take five days, and we tell the customer on the first of them what happens next.'.split(/(?= )/);
/** Each answer takes a few seconds, so that people see it run and can stop it. */
const wordMs = 250;

/** A provider of models on loopback, with the streams of OpenAI and of Anthropic. What it says is made up. */
export async function startModelUpstream(): Promise<ModelUpstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model = '' } = (await json(request)) as CompletionBody;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const inputTokens = 900 + Math.floor(Math.random() * 2500);
  const events = request.url?.startsWith('/v1/messages')
    ? messageEvents(model, inputTokens)
    : chatEvents(model, inputTokens);
  for (const [name, data] of events) {
    if (response.destroyed) return;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
    await sleep(wordMs, undefined, { ref: false });
  }
  response.end();
}

function* chatEvents(model: string, inputTokens: number): Generator<Event> {
  const chunk = (choices: readonly object[], usage: object | null = null): Event => [
    undefined,
    { id: 'chatcmpl-demo', object: 'chat.completion.chunk', created: 1, model, choices, usage },
  ];
  for (const content of words) yield chunk([{ index: 0, delta: { content }, finish_reason: null }]);
  yield chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  yield chunk([], { prompt_tokens: inputTokens, completion_tokens: 420, total_tokens: inputTokens + 420 });
  yield [undefined, '[DONE]'];
}

function* messageEvents(model: string, inputTokens: number): Generator<Event> {
  const event = (type: string, more: object): Event => [type, { type, ...more }];
  const usage = { input_tokens: inputTokens, cache_read_input_tokens: 1200, output_tokens: 1 };
  const message = { id: 'msg_demo', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage };
  yield event('message_start', { message });
  yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  for (const text of words) yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
  yield event('content_block_stop', { index: 0 });
  yield event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 380 } });
  yield event('message_stop', {});
}
