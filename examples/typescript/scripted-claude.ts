import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

export interface ScriptedUse {
  readonly name: string;
  readonly input: Json;
}

/** A model of Anthropic on loopback: it uses tools in its first turn, reads their results in the next, and is done. */
export class ScriptedClaude implements AsyncDisposable {
  readonly url: string;
  /** What came back, by the position of the use. */
  readonly results = new Map<number, string>();
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  /** What makes Claude Code use this model, and nothing else on the network. */
  get env(): Readonly<Record<string, string>> {
    return {
      ANTHROPIC_BASE_URL: this.url,
      ANTHROPIC_API_KEY: 'sk-scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    };
  }

  static async start(uses: readonly ScriptedUse[]): Promise<ScriptedClaude> {
    const server = createServer((request, response) => {
      void answered(request, response, uses, model.results);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const model: ScriptedClaude = new ScriptedClaude(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return model;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

async function answered(
  request: IncomingMessage,
  response: ServerResponse,
  uses: readonly ScriptedUse[],
  results: Map<number, string>,
): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const path = (request.url ?? '').replace(/\?.*$/, '');
  const isScripted = request.method === 'POST' && path.endsWith('/messages');
  if (isScripted) return answer(JSON.parse(text) as Json, response, uses, results);
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not scripted"}}');
}

function answer(
  body: Json,
  response: ServerResponse,
  uses: readonly ScriptedUse[],
  results: Map<number, string>,
): void {
  const parts = listOf(body['messages']).flatMap(({ content }) => listOf(content));
  const seen = parts.filter(({ type }) => type === 'tool_result');
  for (const { tool_use_id: id, content } of seen)
    results.set(Number(String(id).replace('toolu_', '')), textOf(content));
  const offered = new Set(listOf(body['tools']).map(({ name }) => name));
  // The host also asks for titles and the like, without the tools.
  const isFirst = seen.length === 0 && uses.every(({ name }) => offered.has(name));
  const blocks = isFirst ? uses.map(useBlock) : [textBlock()];
  const usage = { input_tokens: 1000, output_tokens: 200 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body['model'], stop_sequence: null, usage };
  const stop = isFirst ? 'tool_use' : 'end_turn';
  if (body['stream'] !== true) {
    const content = blocks.map(({ whole }) => whole);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...message, content, stop_reason: stop }));
    return;
  }
  const events: (readonly [string, Json])[] = [
    ['message_start', { message: { ...message, content: [], stop_reason: null } }],
    ...blocks.flatMap(({ start, delta }, index): (readonly [string, Json])[] => [
      ['content_block_start', { index, content_block: start }],
      ['content_block_delta', { index, delta }],
      ['content_block_stop', { index }],
    ]),
    ['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 200 } }],
    ['message_stop', {}],
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [name, data] of events) {
    response.write(`event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`);
  }
  response.end();
}

interface Block {
  readonly whole: Json;
  readonly start: Json;
  readonly delta: Json;
}

function useBlock({ name, input }: ScriptedUse, index: number): Block {
  const start = { type: 'tool_use', id: `toolu_${index}`, name, input: {} };
  return {
    whole: { ...start, input },
    start,
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  };
}

function textBlock(): Block {
  return {
    whole: { type: 'text', text: 'done' },
    start: { type: 'text', text: '' },
    delta: { type: 'text_delta', text: 'done' },
  };
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function textOf(content: unknown): string {
  return typeof content === 'string'
    ? content
    : listOf(content)
        .map(({ text }) => String(text))
        .join('\n');
}
