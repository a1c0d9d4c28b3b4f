import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { CheckResultRequest, CheckResultResponse } from '@reeve/contract';
import { Decision } from '@reeve/contract';
import type { Client } from '../../sdk/test/client.ts';
import { startClient } from '../../sdk/test/client.ts';
import { judging, masking, passing } from '../../sdk/test/scripted-answers.ts';
import type { Script } from '../../sdk/test/scripted-gateway.ts';
import { eventually } from '../../../tests/harness/eventually.ts';
import { runMcp } from '../src/mcp/run-mcp.ts';
import type { ServerSpec } from '../src/mcp/server-spec.ts';
import { toolsGoverned } from '../src/mcp/server-spec.ts';

export interface AnyMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const address = /[\w.]+@[\w.]+/g;

/** Masks addresses, and denies what says `forbidden`. */
export function judge({ resultJson }: CheckResultRequest): CheckResultResponse {
  const text = Buffer.from(resultJson).toString();
  if (text.includes('forbidden')) {
    return { ...passing(), decision: Decision.DENY, reason: 'it is forbidden', policyRule: 'test/no' };
  }
  return address.test(text) ? masking(text.replaceAll(address, '[email]')) : passing();
}

/** `mcp run` in this process, in front of the talkative server, with a gateway that follows a script. */
export class PipedProxy implements AsyncDisposable {
  readonly client: Client;
  readonly lines: string[] = [];
  readonly #input = new PassThrough();
  readonly #ended: Promise<number>;
  #nextId = 1;

  private constructor(client: Client, spec: Partial<ServerSpec>) {
    this.client = client;
    const output = new PassThrough();
    createInterface({ input: output }).on('line', (line) => this.lines.push(line));
    const args = [resolve('tests/doors/servers/talkative.mjs')];
    this.#ended = runMcp({
      ...{ name: 'talkative', runId: 'run-1', approvalWaitMs: 500, failOpen: false, showDenied: true, warn: () => {} },
      spec: { ...toolsGoverned, ...spec, command: process.execPath, args, env: {} },
      agent: async () => client.agent,
      lock: () => undefined,
      access: { tokens: undefined, person: () => undefined },
      input: this.#input,
      output,
      stop: new AbortController().signal,
    });
  }

  /** Past the handshake. Unless the script says otherwise, all is allowed and all results are judged. */
  static async start(script: Script = {}, spec: Partial<ServerSpec> = {}): Promise<PipedProxy> {
    const proxy = new PipedProxy(await startClient({ checkAction: judging, checkResult: judge, ...script }), spec);
    const clientInfo = { name: 'piped', version: '1' };
    await proxy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    proxy.send({ method: 'notifications/initialized' });
    return proxy;
  }

  get messages(): AnyMessage[] {
    return this.lines.map((line) => JSON.parse(line) as AnyMessage);
  }

  /** What was checked: the tool and its arguments. */
  get checked(): unknown[] {
    return this.client.gateway.messages('checkAction').map(({ context }) => {
      if (context?.action?.$case !== 'toolCall') return undefined;
      const { toolName, toolSource, argsJson } = context.action.value;
      return [toolName, toolSource, JSON.parse(Buffer.from(argsJson).toString() || 'null')];
    });
  }

  send(message: object): void {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  start(method: string, params: object = {}): number {
    const id = this.#nextId++;
    this.send({ id, method, params });
    return id;
  }

  find(is: (message: AnyMessage) => boolean): Promise<AnyMessage> {
    return eventually(() => {
      const found = this.messages.find(is);
      if (found === undefined) throw new Error(`not found in ${this.lines.join('\n')}`);
      return found;
    });
  }

  answer(id: unknown): Promise<AnyMessage> {
    return this.find((message) => message.id === id && message.method === undefined);
  }

  ask(method: string, params: object = {}): Promise<AnyMessage> {
    return this.answer(this.start(method, params));
  }

  call(name: string, args: object = {}, more: object = {}): Promise<AnyMessage> {
    return this.ask('tools/call', { name, arguments: args, ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#input.end();
    await this.#ended;
    await this.client[Symbol.asyncDispose]();
  }
}
