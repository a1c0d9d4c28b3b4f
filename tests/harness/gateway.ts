import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type {
  ActionContext,
  AgentId,
  CheckActionRequest as CheckRequest,
  CheckActionResponse as CheckResponse,
  CompleteActionRequest as CompleteRequest,
} from '@reeve/contract';
import {
  ActionType,
  BatchCheckRequest,
  BatchCheckResponse,
  CheckActionRequest,
  CheckActionResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  IdentifyAgentRequest,
  IdentifyAgentResponse,
  paths,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from '@reeve/contract';
import type { LoggedEntry } from './audit-log.ts';
import { readAuditLog } from './audit-log.ts';
import { databaseOf, defaultDatabase, useDatabase } from './databases.ts';
import { endWithUs } from './end-with-us.ts';
import { GrpcClient } from './grpc-client.ts';
import { HttpClient } from './http-client.ts';
import { lastSignal, reeveCommand, reeveFromSources } from './reeve-command.ts';

/** A well-formed key, known only to tests. */
export const bootstrapKey = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

export interface GatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Policy files by name, written before the start. */
  readonly policies?: Readonly<Record<string, string>>;
  /** An existing folder, for a second start. */
  readonly folder?: string;
  /** Runs on this PostgreSQL database. Later starts on the same folder do, too. */
  readonly database?: { readonly url: string };
  /**
   * Runs the sources as the installed command does, not the bundle of `npm test`. At least one test of each thread and of
   * each store does.
   */
  readonly fromSources?: true;
}

export interface Registered {
  readonly id: AgentId;
  readonly token: string;
}

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const allowAll = 'name: test\ndefault: allow\n';

/** Runs `reeve serve` to its end, for starts that must fail. */
export async function runServe(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Exit> {
  const child = spawnReeve(reeveCommand, ['serve', ...args], env);
  const output = collect(child);
  await once(child, 'close');
  return { code: child.exitCode, ...output() };
}

/** A real gateway in its own process. The helper speaks the product's language: `register`, `check`, `complete`. */
export class TestGateway {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly http: string;
  readonly grpc: string;
  readonly client: GrpcClient;
  readonly api: HttpClient;
  readonly #output: () => { stdout: string; stderr: string };

  private constructor(folder: string, child: ChildProcess, http: string, grpc: string, output: TestGateway['output']) {
    this.folder = folder;
    this.child = child;
    this.http = http;
    this.grpc = grpc;
    this.client = new GrpcClient(grpc);
    this.api = new HttpClient(http);
    this.#output = output;
  }

  static async start(options: GatewayOptions = {}): Promise<TestGateway> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'reeve-gateway-'));
    const policies = join(folder, 'policies');
    mkdirSync(policies, { recursive: true });
    for (const [name, text] of Object.entries(options.policies ?? {})) writeFileSync(join(policies, name), text);
    const args = ['serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', folder, ...(options.args ?? [])];
    const url = await databaseFor(folder, options);
    const database = url === undefined ? {} : { SVC_DATABASE_URL: url };
    const env = { SVC_BOOTSTRAP_API_KEY: bootstrapKey, ...database, ...options.env };
    const child = spawnReeve(options.fromSources === true ? reeveFromSources : reeveCommand, args, env);
    const output = collect(child);
    const line = await firstLine(child, output);
    const { http, grpc } = JSON.parse(line) as { http: string; grpc: string };
    return new TestGateway(folder, child, http, grpc, output);
  }

  get output(): () => { stdout: string; stderr: string } {
    return this.#output;
  }

  async register(
    agent: Partial<AgentId> & { agentId: string },
    extra: Partial<RegisterAgentRequest> = {},
  ): Promise<Registered & Pick<RegisterAgentResponse, 'expiresAt'>> {
    const id = { orgId: 'acme', teamId: 'core', ...agent };
    const request: RegisterAgentRequest = {
      agentId: id,
      credentialToken: '',
      name: '',
      framework: '',
      version: '',
      parentAgentId: undefined,
      metadata: {},
      toolNames: [],
      ...extra,
    };
    const { credentialToken, expiresAt } = await this.client.call(
      paths.registerAgent,
      RegisterAgentRequest,
      RegisterAgentResponse,
      request,
      { authorization: `Bearer ${bootstrapKey}` },
    );
    return { id, token: credentialToken, expiresAt };
  }

  check(agent: Registered, request: Partial<CheckRequest> = {}): Promise<CheckResponse> {
    return this.client.call(paths.checkAction, CheckActionRequest, CheckActionResponse, checkRequest(agent, request));
  }

  /** Checks all in one call, which costs far less where a test needs many. */
  async batch(requests: CheckRequest[]): Promise<CheckResponse[]> {
    const batch = { requests };
    return (await this.client.call(paths.batchCheck, BatchCheckRequest, BatchCheckResponse, batch)).responses;
  }

  async complete(agent: Registered, opId: string, extra: Partial<CompleteRequest> = {}) {
    const request: CompleteRequest = {
      agentId: agent.id,
      credentialToken: agent.token,
      opId,
      actualCostMicros: undefined,
      outcome: 0,
      detail: '',
      ...extra,
    };
    const { op } = await this.client.call(paths.completeAction, CompleteActionRequest, CompleteActionResponse, request);
    return op;
  }

  heartbeat(agent: Registered) {
    const request = { agentId: agent.id, credentialToken: agent.token };
    return this.client.call(paths.heartbeat, HeartbeatRequest, HeartbeatResponse, request);
  }

  /** Asks whose token it is. */
  identify(credentialToken: string) {
    return this.client.call(paths.identifyAgent, IdentifyAgentRequest, IdentifyAgentResponse, { credentialToken });
  }

  deregister(agent: Registered, reason = '') {
    const request = { agentId: agent.id, credentialToken: agent.token, reason };
    return this.client.call(paths.deregisterAgent, DeregisterAgentRequest, DeregisterAgentResponse, request);
  }

  /** Every audit entry, oldest first, read directly from the store. */
  audit(): LoggedEntry[] {
    return readAuditLog(this.folder);
  }

  writePolicy(name: string, text: string): void {
    writeFileSync(join(this.folder, 'policies', name), text);
  }

  async ready(): Promise<{
    status: number;
    body: { status: string; parts: Record<string, { status: string; detail: string }> };
  }> {
    const response = await fetch(`${this.http}/readyz`);
    return { status: response.status, body: (await response.json()) as never };
  }

  /** Waits for the process to end by itself. */
  async exited(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    return this.child.exitCode;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.client.close();
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const closed = once(this.child, 'close');
      this.child.kill(signal);
      await closed;
    }
    return this.child.exitCode;
  }

  /** Stops the gateway and starts another on the same folder. */
  async restart(signal: NodeJS.Signals, options: GatewayOptions = {}): Promise<TestGateway> {
    await this.kill(signal);
    return TestGateway.start({ ...options, folder: this.folder });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill(lastSignal);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function checkRequest(agent: Registered, request: Partial<CheckRequest> = {}): CheckRequest {
  return {
    agentId: agent.id,
    credentialToken: agent.token,
    traceId: '',
    spanId: '',
    actionType: ActionType.TOOL_CALL,
    context: toolCall('search'),
    callerAgentId: undefined,
    estimatedCostMicros: undefined,
    runId: '',
    summary: '',
    canRewrite: false,
    ...request,
  };
}

export function toolCall(toolName: string, args?: unknown): ActionContext {
  const argsJson = args === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(args));
  return { action: { $case: 'toolCall', value: { toolName, toolSource: '', argsJson, targetUrl: '' } } };
}

async function databaseFor(folder: string, options: GatewayOptions): Promise<string | undefined> {
  if (options.env?.['SVC_DATABASE_URL'] !== undefined || options.args?.includes('--database') === true) {
    return undefined;
  }
  const url = options.database?.url ?? databaseOf(folder) ?? (await defaultDatabase(folder));
  if (url !== undefined) useDatabase(folder, url);
  return url;
}

function spawnReeve(
  [program = '', ...before]: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  const child = spawn(program, [...before, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  return child;
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return () => ({ stdout, stderr });
}

async function firstLine(child: ChildProcess, output: () => { stderr: string }): Promise<string> {
  if (child.stdout === null) throw new Error('the gateway has no stdout');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    once(child, 'close').then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`the gateway did not start: ${output().stderr}`);
  return line;
}
