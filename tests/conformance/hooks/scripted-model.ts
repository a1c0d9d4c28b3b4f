import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';

type Json = Readonly<Record<string, unknown>>;

/** A model on loopback that wants one command run, and then says that it is done. It speaks as both providers do. */
export class ScriptedModel implements AsyncDisposable {
  readonly url: string;
  readonly #close: () => Promise<void>;
  /** Everything that the agent sent back as the result of the command. */
  readonly results: string[] = [];

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(command: string): Promise<ScriptedModel> {
    const server = createServer((request, response) => {
      void answer(request, response, command, (result) => model.results.push(result));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const close = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    };
    const model = new ScriptedModel(`http://127.0.0.1:${port}`, close);
    return model;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  command: string,
  onResult: (text: string) => void,
): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const path = (request.url ?? '').replace(/\?.*$/, '');
  const body = (text === '' ? {} : JSON.parse(text)) as Json;
  if (path.endsWith('/messages') && request.method === 'POST') return anthropic(body, response, command, onResult);
  if (path.endsWith('/responses') && request.method === 'POST') return openai(body, response, command, onResult);
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not scripted"}}');
}

function stream(response: ServerResponse, events: readonly (readonly [name: string, data: Json])[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [name, data] of events)
    response.write(`event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`);
  response.end();
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function anthropic(body: Json, response: ServerResponse, command: string, onResult: (text: string) => void): void {
  const parts = listOf(body['messages']).flatMap(({ content }) => listOf(content));
  const result = parts.find(({ type }) => type === 'tool_result');
  if (result !== undefined) onResult(JSON.stringify(result['content']));
  const hasTool = listOf(body['tools']).some(({ name }) => name === 'Bash');
  const isDone = result !== undefined || !hasTool;
  const block = isDone ? { type: 'text', text: '' } : { type: 'tool_use', id: 'toolu_script', name: 'Bash', input: {} };
  const delta = isDone
    ? { type: 'text_delta', text: 'done' }
    : { type: 'input_json_delta', partial_json: JSON.stringify({ command, description: 'as scripted' }) };
  const usage = { input_tokens: 10, output_tokens: 10 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: body['model'],
    content: [],
    stop_reason: null,
    usage,
  };
  const stop = isDone ? 'end_turn' : 'tool_use';
  if (body['stream'] !== true) {
    const content = [isDone ? { type: 'text', text: 'done' } : { ...block, input: { command } }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...message, content, stop_reason: stop }));
    return;
  }
  stream(response, [
    ['message_start', { message }],
    ['content_block_start', { index: 0, content_block: block }],
    ['content_block_delta', { index: 0, delta }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 10 } }],
    ['message_stop', {}],
  ]);
}

function openai(body: Json, response: ServerResponse, command: string, onResult: (text: string) => void): void {
  const result = listOf(body['input']).find(({ type }) => String(type).endsWith('_call_output'));
  if (result !== undefined) onResult(JSON.stringify(result['output']));
  const names = listOf(body['tools']).map(({ name }) => String(name));
  const tool = ['exec_command', 'shell_command', 'shell'].find((name) => names.includes(name));
  const args: Json =
    tool === 'exec_command' ? { cmd: command } : { command: tool === 'shell' ? ['bash', '-lc', command] : command };
  const item =
    result === undefined && tool !== undefined
      ? { type: 'function_call', id: 'fc_1', call_id: 'call_script', name: tool, arguments: JSON.stringify(args) }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: `done ${names.join(' ')}` }],
        };
  const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
  stream(response, [
    ['response.created', { response: { id: 'resp_1' } }],
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response: { id: 'resp_1', usage, output: [] } }],
  ]);
}
