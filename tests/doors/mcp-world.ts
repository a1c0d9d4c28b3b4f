import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { LoggedEntry } from '../harness/audit-log.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { RawMessage } from './raw-mcp-client.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

export const scripted = ['node', resolve('tests/doors/servers/scripted.mjs')];

const policy = `
name: test
default: allow
rules:
  - { name: no-wiping, effect: deny, tools: [wipe] }
  - { name: no-secrets, effect: deny, tools: [echo], when: 'has(args.path) && args.path == "/etc/shadow"' }
  - { name: ask, effect: require_approval, tools: [steps] }
`;

/** A gateway, an agent, and what the server behind the proxy heard. */
export class McpWorld implements AsyncDisposable {
  readonly gateway: TestGateway;
  readonly agent: Registered;
  readonly folder = mkdtempSync(join(tmpdir(), 'reeve-mcp-'));

  private constructor(gateway: TestGateway, agent: Registered) {
    this.gateway = gateway;
    this.agent = agent;
  }

  static async start(source = policy, env: Readonly<Record<string, string>> = {}): Promise<McpWorld> {
    const gateway = await TestGateway.start({ policies: { 'test.yaml': source }, env });
    return new McpWorld(gateway, await gateway.register({ agentId: 'bot' }));
  }

  get heardFile(): string {
    return join(this.folder, 'heard');
  }

  /** What the scripted server was sent. */
  heard(): RawMessage[] {
    if (!existsSync(this.heardFile)) return [];
    const lines = readFileSync(this.heardFile, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RawMessage);
  }

  heardCalls(): unknown[] {
    return this.heard()
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => params?.['name']);
  }

  get env(): Record<string, string> {
    const { token } = this.agent;
    return { REEVE_AGENT_TOKEN: token, REEVE_GRPC_ADDR: this.gateway.grpc, HEARD_FILE: this.heardFile };
  }

  /** `reeve mcp run` in front of the scripted server, past the handshake. */
  run(options: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<RawMcpClient> {
    const args = ['--server', 'scripted', ...options, '--', ...scripted];
    return new RawMcpClient(args, { ...this.env, ...env }).initialize();
  }

  /** The operations of the agent that have ended, by tool, with their outcome. */
  outcomes(): unknown[] {
    const moved = this.gateway.audit().filter(({ event_type: type }) => type === 'OpStateChanged');
    return moved.map(({ payload }) => (payload as { outcome?: string }).outcome).filter((each) => each !== undefined);
  }

  decisions(): LoggedEntry[] {
    return this.gateway.audit().filter(({ decision }) => decision !== null);
  }

  /** The running call of `slow`. */
  async op(): Promise<{ readonly op_id: string; readonly state: string }> {
    return eventually(async () => {
      const { body } = await this.gateway.api.get<RouteOutput<Routes['listOps']>>('/api/v1/ops', bootstrapKey);
      const op = body.items.find(({ resource, state }) => resource === 'slow' && state === 'running');
      if (op === undefined) throw new Error('no operation');
      return op;
    });
  }

  async control(action: 'pause' | 'resume' | 'terminate', opId: string): Promise<{ readonly id: string }> {
    const path = `/api/v1/ops/${encodeURIComponent(opId)}/${action}`;
    const answer = await this.gateway.api.post<{ control: { id: string } }>(path, bootstrapKey, { reason: 'enough' });
    if (answer.status !== 202) throw new Error(answer.text);
    return answer.body.control;
  }

  async receipt(id: string): Promise<string> {
    const { body } = await this.gateway.api.get<{ status: string }>(`/api/v1/control/${id}`, bootstrapKey);
    return body.status;
  }

  async approval(): Promise<string> {
    return eventually(async () => {
      const { body } = await this.gateway.api.get<{ items: { id: string }[] }>('/api/v1/approvals', bootstrapKey);
      const [first] = body.items;
      if (first === undefined) throw new Error('no approval');
      return first.id;
    });
  }

  async decide(id: string, verdict: 'approve' | 'reject'): Promise<void> {
    const path = `/api/v1/approvals/${id}/${verdict}`;
    const answer = await this.gateway.api.post(path, bootstrapKey, { reason: 'because' });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
