import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Op = RouteOutput<Routes['listOps']>['items'][number];
type Controlled = { readonly control: { readonly id: string } };

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

  /** The whole log. */
  entries(): Promise<ReturnType<TestGateway['audit']>> {
    return Promise.resolve(this.#gateway.audit());
  }

  async agents(): Promise<RouteOutput<Routes['listAgents']>['items']> {
    const path = '/api/v1/agents?per_page=200';
    return (await this.#gateway.api.get<RouteOutput<Routes['listAgents']>>(path, bootstrapKey)).body.items;
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

  approvals(agent: Agent): Promise<readonly { readonly id: string; readonly state: string; readonly title: string }[]> {
    return this.#list('approvals', agent, '&state=all');
  }

  /** Approves the one action that the agent has asked for. */
  async approve(agent: Agent): Promise<void> {
    const [approval, ...others] = await this.approvals(agent);
    if (approval === undefined || others.length > 0) throw new Error(`${others.length} more approvals than one`);
    await this.#post(`approvals/${approval.id}/approve`, {});
  }

  /** Terminates the newest operation of the agent, and gives the path of the receipt. */
  async terminate(agent: Agent, reason: string): Promise<string> {
    const { op_id: id } = await this.op(agent);
    const { control } = (await this.#post(`ops/${encodeURIComponent(id)}/terminate`, { reason })) as Controlled;
    return `/api/v1/control/${control.id}`;
  }

  /** How far a control has come. */
  async statusOf(receipt: string): Promise<string> {
    return (await this.#gateway.api.get<{ status: string }>(receipt, bootstrapKey)).body.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reeve.close();
    await this.#gateway[Symbol.asyncDispose]();
  }

  async #list<Item>(what: string, { id }: Agent, query = ''): Promise<readonly Item[]> {
    const path = `/api/v1/${what}?agent_id=${id.agentId}${query}`;
    return (await this.#gateway.api.get<{ items: Item[] }>(path, bootstrapKey)).body.items;
  }

  async #post(path: string, json: object): Promise<unknown> {
    const { status, text, body } = await this.#gateway.api.post(`/api/v1/${path}`, bootstrapKey, json);
    if (status >= 300) throw new Error(text);
    return body;
  }
}
