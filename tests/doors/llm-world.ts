import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { LoggedEntry } from '../harness/audit-log.ts';
import { eventually } from '../harness/eventually.ts';
import type { GatewayOptions, Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { TestModelProxy } from '../harness/model-proxy.ts';
import { ModelUpstream } from '../harness/model-upstream.ts';

/** One dollar for a million tokens in, ten for a million out, and a tenth for cached input. */
export const prices = `
pricing:
  "**": {input_per_mtok_usd: 1, output_per_mtok_usd: 10, cached_input_per_mtok_usd: 0.1}
`;

const openPolicy = `name: test\ndefault: allow\n${prices}`;

export interface WorldOptions extends GatewayOptions {
  readonly policy?: string;
  readonly proxyArgs?: readonly string[];
}

/** A gateway, a provider, the proxy between them, and an agent that has the proxy's address. */
export class LlmWorld {
  gateway: TestGateway;
  readonly upstream: ModelUpstream;
  readonly proxy: TestModelProxy;
  readonly agent: Registered;

  private constructor(gateway: TestGateway, upstream: ModelUpstream, proxy: TestModelProxy, agent: Registered) {
    this.gateway = gateway;
    this.upstream = upstream;
    this.proxy = proxy;
    this.agent = agent;
  }

  static async start({ policy = openPolicy, proxyArgs = [], ...options }: WorldOptions = {}): Promise<LlmWorld> {
    const gateway = await TestGateway.start({ ...options, policies: { 'test.yaml': policy } });
    const upstream = await ModelUpstream.start();
    const proxy = await TestModelProxy.start({ grpc: gateway.grpc, upstream: upstream.url, args: proxyArgs });
    const agent = await gateway.register({ agentId: 'writer' });
    return new LlmWorld(gateway, upstream, proxy, agent);
  }

  openai(token = this.agent.token, more: object = {}): OpenAI {
    return new OpenAI({ baseURL: `${this.proxy.url}/v1`, apiKey: token, maxRetries: 0, ...more });
  }

  anthropic(token = this.agent.token, more: object = {}): Anthropic {
    return new Anthropic({ baseURL: this.proxy.url, apiKey: token, maxRetries: 0, ...more });
  }

  /** A bare call, for what clients hide. */
  post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const authorization = `Bearer ${this.agent.token}`;
    return fetch(this.proxy.url + path, {
      method: 'POST',
      body,
      headers: { authorization, 'content-type': 'application/json', ...headers },
    });
  }

  /** The decisions about calls of models, oldest first. */
  checks(): LoggedEntry[] {
    return this.gateway.audit().filter(({ payload }) => 'action' in payload);
  }

  async budget(): Promise<{ spent: string; reserved: string }> {
    const query = '/api/v1/budgets?org_id=acme&team_id=core&agent_id=writer';
    const { body } = await this.gateway.api.get<{ items: BudgetRow[] }>(query, bootstrapKey);
    const row = body.items.find(({ tier, period }) => tier === 'agent' && period === 'day');
    return { spent: row?.spent_usd ?? '0', reserved: row?.reserved_usd ?? '0' };
  }

  /** What the agent has spent today, once nothing is reserved any more. */
  async spent(): Promise<number> {
    return eventually(async () => {
      const { spent, reserved } = await this.budget();
      if (Number(reserved) !== 0) throw new Error(`${reserved} are still reserved`);
      return Math.round(Number(spent) * 1e6);
    }, 800);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await this.upstream[Symbol.asyncDispose]();
    await this.gateway[Symbol.asyncDispose]();
  }
}

interface BudgetRow {
  readonly tier: string;
  readonly period: string;
  readonly spent_usd: string;
  readonly reserved_usd: string;
}
