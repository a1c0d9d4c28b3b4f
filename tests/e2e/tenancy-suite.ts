import { paths, RegisterAgentRequest, RegisterAgentResponse } from '@reeve/contract';
import type { Route } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatReport } from '../../packages/cli/src/tenant-probe/format-report.ts';
import type { TenantReport } from '../../packages/cli/src/tenant-probe/notebook.ts';
import type { AgentPort } from '../../packages/cli/src/tenant-probe/ports.ts';
import { probeTenants } from '../../packages/cli/src/tenant-probe/probe-tenants.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

/** Nothing ends, and nobody has to wait, although the many calls take long. */
const env = {
  SVC_OPS_TTL_SECS: '600',
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_API_PER_MIN: '0',
};

/** Has a gateway on a store probed, and expects that it holds its tenants apart. */
export function describeTenancy(store: string, args: readonly string[]): void {
  describe(`with ${store}`, () => {
    let gateway: TestGateway;
    let report: TenantReport;
    beforeAll(async () => {
      gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, args, env });
      report = await probeTenants({
        baseUrl: gateway.http,
        fetch,
        adminCredential: bootstrapKey,
        agents: agentPort(gateway),
      });
      // Thousands of calls, one after the other.
    }, 360_000);
    afterAll(() => gateway[Symbol.asyncDispose]());

    test('tenants cannot see or touch each other in any operation', () => {
      expect(report.findings, formatReport(report)).toEqual([]);
    });

    test('every route of the contract was tried, each with every credential', () => {
      const { operations, credentials, comparisons } = report.tried;
      const names = Object.values<Route>(routes).map(({ method, path }) => `${method} ${path}`);
      const seldom = names.filter((name) => (operations[name] ?? 0) < credentials);
      expect(seldom).toEqual([]);
      expect(credentials).toBe(11);
      expect(comparisons).toBeGreaterThan(credentials);
    });

    test('it leaves no agent, no policy and no key in force behind', async () => {
      const policies = await gateway.api.get<{ items: { name: string }[] }>('/api/v1/policies', bootstrapKey);
      expect(policies.body.items.map(({ name }) => name)).toEqual(['test']);
      const agents = await gateway.api.get<{ total: number }>('/api/v1/agents', bootstrapKey);
      expect(agents.body.total).toBe(0);
      type Keys = { items: { label: string; revoked_at: string | null }[] };
      const keys = await gateway.api.get<Keys>('/api/v1/iam/api-keys?per_page=1000', bootstrapKey);
      const inForce = keys.body.items.filter((key) => key.revoked_at === null).map((key) => key.label);
      expect(inForce).toEqual(['bootstrap']);
    });
  });
}

function agentPort(gateway: TestGateway): AgentPort {
  const decisions = ['deny', 'allow', 'deny', 'pending'] as const;
  return {
    registerAgent: async (credential, { id, name, parent }) => {
      const { credentialToken } = await gateway.client.call(
        paths.registerAgent,
        RegisterAgentRequest,
        RegisterAgentResponse,
        {
          agentId: id,
          credentialToken: '',
          name,
          framework: '',
          version: '',
          parentAgentId: parent,
          metadata: {},
          toolNames: [],
        },
        { authorization: `Bearer ${credential}` },
      );
      return { token: credentialToken };
    },
    check: async (agent, about = { runId: '', opId: undefined }) => {
      const [traceId = '', spanId = ''] = about.opId?.split(':') ?? [];
      const { decision, opId } = await gateway.check(agent, { runId: about.runId, traceId, spanId });
      return { decision: decisions[decision] ?? 'deny', opId };
    },
    deregisterAgent: async (agent) => {
      await gateway.deregister(agent);
    },
  };
}
