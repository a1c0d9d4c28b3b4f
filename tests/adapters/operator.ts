import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { AgentId } from '@reeve/sdk';
import { eventually } from '../harness/eventually.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { Stage } from './scene.ts';
import type { Step } from './table.ts';

type Op = RouteOutput<Routes['listOps']>['items'][number];
type Approval = RouteOutput<Routes['listApprovals']>['items'][number];
export type Entry = RouteOutput<Routes['listLogs']>['items'][number];

/** The gateway of all cases. It may be another process after a restart. */
export interface World {
  gateway: TestGateway;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

/** A person who looks after one agent, over HTTP. */
export class Operator {
  readonly #world: World;
  readonly #agent: Required<AgentId>;

  constructor(world: World, agent: Required<AgentId>) {
    this.#world = world;
    this.#agent = agent;
  }

  async take(step: Step, stage: Stage, isRead: () => boolean): Promise<void> {
    const { reason = '' } = step;
    if (step.suspend !== undefined) await this.#suspend(step.suspend);
    if (step.stop_gateway === true) await this.#world.stop();
    if (step.restart_gateway === true) await this.#world.restart();
    for (const tool of step.await_running ?? []) await until(() => (stage.ran[tool] ?? 0) > 0, `${tool} never runs`);
    for (const tool of step.release ?? []) stage.release(tool);
    if (step.approve !== undefined) await this.#decide(step.approve, 'approve', reason);
    if (step.reject !== undefined) await this.#decide(step.reject, 'reject', reason);
    for (const action of ['pause', 'resume', 'terminate'] as const) {
      const tool = step[action];
      if (tool !== undefined) await this.#control(tool, action, reason);
    }
    const paused = step.await_paused;
    if (paused !== undefined) {
      await until(async () => (await this.op(paused)).control?.status === 'effective', `${paused} never pauses`);
    }
    if (step.nothing_read === true && isRead()) throw new Error('the model has read a result too early');
  }

  async ops(): Promise<readonly Op[]> {
    return (await this.#get<{ items: Op[] }>('ops')).items;
  }

  async op(resource: string): Promise<Op> {
    const found = (await this.ops()).find((op) => op.resource === resource);
    if (found === undefined) throw new Error(`there is no operation of ${resource}`);
    return found;
  }

  async approval(tool: string): Promise<Approval> {
    const { items } = await this.#get<{ items: Approval[] }>('approvals', '&state=all');
    const found = items.find(({ resource }) => resource === tool);
    if (found === undefined) throw new Error(`nobody is asked about ${tool}`);
    return found;
  }

  /** All entries of the agent, and of its sub-agent. */
  async log(): Promise<readonly Entry[]> {
    const { agentId } = this.#agent;
    const own = await this.#get<{ items: Entry[] }>('logs', '&per_page=200');
    const child = await this.#get<{ items: Entry[] }>('logs', '&per_page=200', `${agentId}.child`);
    return [...own.items, ...child.items];
  }

  async #suspend(reason: string): Promise<void> {
    const { orgId, teamId, agentId } = this.#agent;
    await this.#post(`agents/${orgId}/${teamId}/${agentId}/suspend`, reason);
  }

  async #decide(tool: string, verdict: 'approve' | 'reject', reason: string): Promise<void> {
    const { id } = await eventually(() => this.approval(tool), patience);
    await this.#post(`approvals/${id}/${verdict}`, reason);
  }

  async #control(tool: string, action: 'pause' | 'resume' | 'terminate', reason: string): Promise<void> {
    const { op_id: id } = await eventually(() => this.op(tool), patience);
    await this.#post(`ops/${encodeURIComponent(id)}/${action}`, reason);
    if (action !== 'pause') return;
    await until(
      async () => isHeard((await this.op(tool)).control?.status),
      `the agent never hears of the pause of ${tool}`,
    );
  }

  async #post(path: string, reason: string): Promise<void> {
    const { status, text } = await this.#world.gateway.api.post(`/api/v1/${path}`, bootstrapKey, { reason });
    if (status >= 300) throw new Error(`POST ${path}: ${text}`);
  }

  async #get<Body>(what: string, query = '', agentId = this.#agent.agentId): Promise<Body> {
    const { orgId, teamId } = this.#agent;
    const path = `/api/v1/${what}?org_id=${orgId}&team_id=${teamId}&agent_id=${agentId}${query}`;
    const { status, body, text } = await this.#world.gateway.api.get<Body>(path, bootstrapKey);
    if (status !== 200) throw new Error(`GET ${path}: ${text}`);
    return body;
  }
}

function isHeard(status: string | undefined): boolean {
  return status === 'acked' || status === 'effective';
}

/** Frameworks with a process of their own take their time. */
const patience = 900;

export async function until(isTrue: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  await eventually(async () => {
    if (!(await isTrue())) throw new Error(otherwise);
  }, patience);
}
