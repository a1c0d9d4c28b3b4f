import { expect } from 'vitest';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { RunningCli } from '../harness/cli.ts';

export type Approvals = RouteOutput<Routes['listApprovals']>;
type Op = RouteOutput<Routes['listOps']>['items'][number];

/** What a hook answered. */
export interface HookAnswer {
  readonly code: number | null;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly stdout: string;
  readonly stderr: string;
}

/** A coding agent on a person's machine: it runs a process of its hook for each event. */
export class HookMachine {
  readonly gateway: TestGateway;
  readonly home = new TestHome();
  readonly env: Record<string, string>;

  constructor(gateway: TestGateway, env: Record<string, string> = {}) {
    this.gateway = gateway;
    this.env = {
      REEVE_GRPC_ADDR: gateway.grpc,
      REEVE_API_KEY: bootstrapKey,
      REEVE_AGENT: 'acme/core/ada',
      ...env,
    };
  }

  static async start(policy: string, env: Readonly<Record<string, string>> = {}): Promise<HookMachine> {
    return new HookMachine(await TestGateway.start({ policies: { 'house.yaml': policy }, env }));
  }

  /** Sends one event to the hook of a host. */
  async send(host: string, event: unknown, flags: readonly string[] = [], env = this.env): Promise<HookAnswer> {
    const input = typeof event === 'string' ? event : JSON.stringify(event);
    const { code, stdout, stderr } = await this.home.run(['hook', host, ...flags], { env, input });
    return { code, stdout, stderr, answer: stdout === '' ? {} : (JSON.parse(stdout) as HookAnswer['answer']) };
  }

  /** Starts a hook that waits. */
  begin(host: string, event: unknown, flags: readonly string[] = []): RunningCli {
    return this.home.start(['hook', host, ...flags], { env: this.env, input: JSON.stringify(event) });
  }

  /** The operations of a session, by their ids without the session. */
  async ops(session: string): Promise<Record<string, Op>> {
    const path = `/api/v1/ops?run_id=${encodeURIComponent(session)}&per_page=1000`;
    const { body } = await this.gateway.api.get<RouteOutput<Routes['listOps']>>(path, bootstrapKey);
    return Object.fromEntries(body.items.map((op) => [op.op_id.replace(`${session}:`, ''), op]));
  }

  /** The states of the operations of a session. */
  async states(session: string): Promise<Record<string, string>> {
    return Object.fromEntries(Object.entries(await this.ops(session)).map(([id, { state }]) => [id, state]));
  }

  /** Waits until a person is asked, and returns the id of the approval. */
  async askedPerson(): Promise<string> {
    return await eventually(async () => {
      const { body } = await this.gateway.api.get<Approvals>('/api/v1/approvals?state=open', bootstrapKey);
      const [approval] = body.items;
      if (approval === undefined) throw new Error('nobody is asked');
      return approval.id;
    }, 400);
  }

  async decide(approval: string, verdict: 'approve' | 'reject'): Promise<void> {
    const path = `/api/v1/approvals/${approval}/${verdict}`;
    const answer = await this.gateway.api.post(path, bootstrapKey, { reason: '' });
    expect(answer.status, answer.text).toBe(200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.home[Symbol.dispose]();
    await this.gateway[Symbol.asyncDispose]();
  }
}

/** An event of Claude Code or Codex, with the members that both always send. */
export function toolEvent(name: string, session: string, id: string, tool: string, input: object, more: object = {}) {
  return {
    session_id: session,
    transcript_path: `/home/ada/.claude/projects/x/${session}.jsonl`,
    cwd: '/workspace/app',
    permission_mode: 'default',
    hook_event_name: name,
    tool_name: tool,
    tool_input: input,
    tool_use_id: id,
    ...more,
  };
}

/** The decision of Claude Code's and Codex's form. */
export function decisionOf({ answer }: HookAnswer): { decision: string | undefined; reason: string } {
  const output = (answer['hookSpecificOutput'] ?? {}) as Record<string, string>;
  return { decision: output['permissionDecision'], reason: output['permissionDecisionReason'] ?? '' };
}
