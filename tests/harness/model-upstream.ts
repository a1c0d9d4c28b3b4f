import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicAnswer, chatAnswer, embeddingsAnswer, modelsAnswer, responsesAnswer } from './model-answers.ts';
import { sendJson } from './send-answer.ts';

/** A request as the upstream got it. */
export interface SeenCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
  /** Whether the connection ended before the answer did. */
  wasAborted: boolean;
}

/** Answers a call, or leaves it to the usual answers. */
export type Script = (call: SeenCall, response: ServerResponse) => boolean | void;

/** A model provider on loopback that follows a script. Without one it answers as the providers do. */
export class ModelUpstream {
  readonly url: string;
  readonly seen: SeenCall[] = [];
  script: Script = () => false;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(): Promise<ModelUpstream> {
    const server = createServer((request, response) => void upstream.#answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const upstream = new ModelUpstream(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return upstream;
  }

  /** The newest call. */
  get last(): SeenCall {
    const call = this.seen.at(-1);
    if (call === undefined) throw new Error('the upstream was not called');
    return call;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '', url = '', headers } = request;
    const json = body === '' ? {} : (JSON.parse(body) as SeenCall['json']);
    const call: SeenCall = { method, url, headers, body, json, wasAborted: false };
    this.seen.push(call);
    response.once('close', () => (call.wasAborted = !response.writableFinished));
    if (this.script(call, response) === true) return;
    usualAnswer(call, response);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

function usualAnswer(call: SeenCall, response: ServerResponse): void {
  const [path = ''] = call.url.split('?');
  switch (path) {
    case '/v1/chat/completions':
      return chatAnswer(call.json, response);
    case '/v1/responses':
      return responsesAnswer(call.json, response);
    case '/v1/embeddings':
      return sendJson(response, embeddingsAnswer);
    case '/v1/models':
      return sendJson(response, modelsAnswer);
    case '/v1/messages':
      return anthropicAnswer(call.json, response);
    case '/v1/messages/count_tokens':
      return sendJson(response, { input_tokens: 12 });
    default:
      return sendJson(response, { error: { message: `no ${path}` } }, 404);
  }
}
