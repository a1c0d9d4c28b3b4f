import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Op = RouteOutput<Routes['listOps']>['items'][number];

/** A gateway with a policy, a client of it, and a person who approves and terminates. */
export class AdapterWorld implements AsyncDisposable {
  readonly #gateway: TestGateway;
  readonly #reeve: Reeve;

  private constructor(gateway: TestGateway) {
    this.#gateway = gateway;
    this.#reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 20_000 });
  }

  static async start(policy: string): Promise<AdapterWorld> {
    return new AdapterWorld(await TestGateway.start({ policies: { 'policy.yaml': policy } }));
  }

  register(agentId: string): Promise<Agent> {
    return this.#reeve.register({ orgId: 'acme', teamId: 'core', agentId });
  }

  ops(agent: Agent): Promise<readonly Op[]> {
    return this.#list<Op>('ops', agent);
  }

  /** The newest operation of the agent. */
  async op(agent: Agent): Promise<Op> {
    const [op] = await this.ops(agent);
    if (op === undefined) throw new Error('there is no operation');
    return op;
  }

  /** Approves the one action that the agent has asked for. */
  async approve(agent: Agent): Promise<void> {
    const [approval, ...others] = await this.#list<{ id: string }>('approvals', agent, '&state=all');
    if (approval === undefined || others.length > 0) throw new Error(`${others.length} more approvals than one`);
    await this.#post(`approvals/${approval.id}/approve`, {});
  }

  async terminate(agent: Agent, reason: string): Promise<void> {
    const { op_id: id } = await this.op(agent);
    await this.#post(`ops/${encodeURIComponent(id)}/terminate`, { reason });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reeve.close();
    await this.#gateway[Symbol.asyncDispose]();
  }

  async #list<Item>(what: string, { id }: Agent, query = ''): Promise<readonly Item[]> {
    const path = `/api/v1/${what}?agent_id=${id.agentId}${query}`;
    return (await this.#gateway.api.get<{ items: Item[] }>(path, bootstrapKey)).body.items;
  }

  async #post(path: string, json: object): Promise<void> {
    const { status, text } = await this.#gateway.api.post(`/api/v1/${path}`, bootstrapKey, json);
    if (status >= 300) throw new Error(text);
  }
}
