import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { eventually } from '../harness/eventually.ts';
import { endWithUs } from '../harness/end-with-us.ts';
import { reeveCommand } from '../harness/reeve-command.ts';

export interface RawMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: ToolResult;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly nextCursor?: string;
  readonly _meta?: { readonly 'reeve.dev/decision'?: Readonly<Record<string, string>> };
}

/** A client that writes any line to `reeve mcp run`, and keeps every line that comes back. */
export class RawMcpClient {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: string[] = [];
  stderr = '';
  #nextId = 1;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|REEVE_)/.test(name));
    const [program = '', ...before] = reeveCommand;
    this.child = spawn(program, [...before, 'mcp', 'run', ...args], {
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: 'pipe',
    });
    endWithUs(this.child);
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    createInterface({ input: this.child.stdout }).on('line', (line) => this.lines.push(line));
  }

  get messages(): RawMessage[] {
    return this.lines.map((line) => JSON.parse(line) as RawMessage);
  }

  write(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  send(message: object): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  /** Sends a request and returns its id. */
  start(method: string, params: object = {}): number {
    const id = this.#nextId++;
    this.send({ id, method, params });
    return id;
  }

  answer(id: unknown): Promise<RawMessage> {
    return eventually(() => {
      const found = this.messages.find((message) => message.id === id && message.method === undefined);
      if (found === undefined) throw new Error(`no answer to ${String(id)}: ${this.lines.join('\n')}\n${this.stderr}`);
      return found;
    }, 600);
  }

  ask(method: string, params: object = {}): Promise<RawMessage> {
    return this.answer(this.start(method, params));
  }

  async call(name: string, args: object = {}): Promise<ToolResult> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args });
    if (result === undefined) throw new Error(`no result: ${JSON.stringify(error)}`);
    return result;
  }

  async initialize(): Promise<this> {
    const clientInfo = { name: 'raw', version: '1' };
    await this.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.send({ method: 'notifications/initialized' });
    return this;
  }

  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    return this.child.exitCode;
  }

  /** Goes away as clients do, by the end of the input. */
  async leave(): Promise<number | null> {
    this.child.stdin.end();
    return this.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 15_000);
    await this.ended();
    clearTimeout(timer);
  }
}
