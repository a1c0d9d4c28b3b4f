import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { expect } from 'vitest';
import type { TestGateway } from './gateway.ts';
import { bootstrapKey } from './gateway.ts';
import type { HttpAnswer } from './http-client.ts';

export type Policy = RouteOutput<Routes['getPolicy']>;
export type PolicyList = RouteOutput<Routes['listPolicies']>;
export type PolicyVersions = RouteOutput<Routes['policyVersions']>;

/** The stored policies of a gateway, for one caller. */
export class Policies {
  readonly #gateway: Pick<TestGateway, 'api'>;
  readonly #bearer: string;

  constructor(gateway: Pick<TestGateway, 'api'>, bearer = bootstrapKey) {
    this.#gateway = gateway;
    this.#bearer = bearer;
  }

  /** Puts a document, and expects success. */
  async put(name: string, source: string, members: object = {}): Promise<Policy> {
    const answer = await this.tryPut<Policy>(name, source, members);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  tryPut<Body = Problem>(name: string, source: string, members: object = {}): Promise<HttpAnswer<Body>> {
    const json = { source, ...members };
    return this.#gateway.api.send<Body>('PUT', pathOf(name), { bearer: this.#bearer, json });
  }

  async list(query = ''): Promise<PolicyList> {
    const answer = await this.#gateway.api.get<PolicyList>(`/api/v1/policies${query}`, this.#bearer);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  async names(query = ''): Promise<string[]> {
    return (await this.list(query)).items.map(({ name }) => name);
  }

  get<Body = Policy>(name: string): Promise<HttpAnswer<Body>> {
    return this.#gateway.api.get<Body>(pathOf(name), this.#bearer);
  }

  versions<Body = PolicyVersions>(name: string, query = ''): Promise<HttpAnswer<Body>> {
    return this.#gateway.api.get<Body>(`${pathOf(name)}/versions${query}`, this.#bearer);
  }

  rollback<Body = Policy>(name: string, version: number, members: object = {}): Promise<HttpAnswer<Body>> {
    return this.#gateway.api.post<Body>(`${pathOf(name)}/rollback`, this.#bearer, { version, ...members });
  }

  delete<Body = Problem>(name: string): Promise<HttpAnswer<Body>> {
    return this.#gateway.api.send<Body>('DELETE', pathOf(name), { bearer: this.#bearer });
  }

  validate(source: string, name?: string): Promise<HttpAnswer<RouteOutput<Routes['validatePolicy']>>> {
    return this.#gateway.api.post('/api/v1/policies/validate', this.#bearer, { source, name });
  }
}

function pathOf(name: string): string {
  return `/api/v1/policies/${encodeURIComponent(name)}`;
}
