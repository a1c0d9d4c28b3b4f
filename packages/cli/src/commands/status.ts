import type { OpState } from '@reeve/contract/names';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { callableContext } from '../context/active-context.ts';
import { callerText } from '../http/caller-text.ts';
import { clientFor } from '../http/connect.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';

type Caller = RouteOutput<Routes['me']>;

interface Policies {
  /** Of the first ones. */
  readonly names: readonly string[];
  readonly total: number;
  readonly policy_version: string;
}

type Suspensions = Pick<RouteOutput<Routes['listSuspensions']>, 'items' | 'total'>;

interface Status {
  readonly context: string;
  readonly api_url: string;
  readonly grpc_addr: string;
  readonly tls: boolean;
  readonly caller: Caller;
  readonly policies: Policies;
  readonly suspensions: Suspensions;
  readonly agents: Pick<RouteOutput<Routes['topologyStats']>, 'agents' | 'by_status' | 'orgs' | 'teams'>;
  readonly ops: Readonly<Record<(typeof liveStates)[number], number>>;
  readonly approvals_pending: number;
}

/** The states of operations that are not over. */
const liveStates = ['running', 'paused', 'pending'] as const satisfies readonly OpState[];

export const statusCommand = defineCommand({
  details: [
    'Needs the scope read. What a tenant’s credential sees is what is its own.',
    'Data: {context, api_url, grpc_addr, tls, caller (as GET /api/v1/auth/me), policies: {names (of the first three), total, policy_version}, suspensions: {items (the newest three, as GET /api/v1/suspensions), total}, agents: {agents, by_status, orgs, teams}, ops: {running, paused, pending}, approvals_pending}.',
  ],
  args: {},
  options: {},
  examples: [
    ['reeve status', 'the gateway of the current context'],
    ['reeve status --context staging --output json', 'that of another one, for a program'],
  ],
  run: async ({ globals }, shell) => {
    const context = await callableContext(shell, globals);
    const status = await readStatus(context.name, clientFor(shell, context, globals.timeout));
    print(shell, globals.output, status, () => statusText(status));
    return 0;
  },
});

async function readStatus(context: string, client: GatewayClient): Promise<Status> {
  // The caller comes first: without a credential, its refusal says what to do.
  const caller = await client.call('me', {});
  const one = { per_page: 1 };
  const three = { per_page: 3 };
  const [connection, policies, suspensions, stats, approvals, ...ops] = await Promise.all([
    client.call('connection', {}),
    client.call('listPolicies', { query: three }),
    client.call('listSuspensions', { query: three }),
    client.call('topologyStats', {}),
    client.call('listApprovals', { query: one }),
    ...liveStates.map((state) => client.call('listOps', { query: { ...one, state } })),
  ]);
  const [running = 0, paused = 0, pending = 0] = ops.map(({ total }) => total);
  const { agents, by_status, orgs, teams } = stats;
  return {
    context,
    api_url: client.apiUrl,
    grpc_addr: connection.grpc_addr,
    tls: connection.tls,
    caller,
    policies: {
      names: policies.items.map(({ name }) => name),
      total: policies.total,
      policy_version: policies.policy_version,
    },
    suspensions: { items: suspensions.items, total: suspensions.total },
    agents: { agents, by_status, orgs, teams },
    ops: { running, paused, pending },
    approvals_pending: approvals.total,
  };
}

function statusText({ context, api_url: url, policies, agents, ops, ...status }: Status): string {
  const byStatus = Object.entries(agents.by_status).filter(([, count]) => count > 0);
  const kinds = byStatus.length === 0 ? '' : `: ${byStatus.map(([name, count]) => `${count} ${name}`).join(', ')}`;
  return renderRecord([
    ['Gateway', context === url ? url : `${url} (context ${context})`],
    ['gRPC', `${status.grpc_addr}${status.tls ? ' with TLS' : ''}`],
    ['You', callerText(status.caller)],
    ['Policy', policyText(policies, status.caller)],
    ['Suspended', suspensionsText(status.suspensions)],
    ['Agents', `${agents.agents}${kinds}`],
    ['Operations', liveStates.map((state) => `${ops[state]} ${state}`).join(', ')],
    ['Approvals', `${status.approvals_pending} waiting`],
  ]);
}

function suspensionsText({ items, total }: Suspensions): string {
  if (total === 0) return 'nothing';
  const scopes = items.map(({ org_id: org, team_id: team }) => (org === null ? 'everything' : scopeText(org, team)));
  const more = total - items.length;
  return `${scopes.join(', ')}${more > 0 ? ` and ${more} more` : ''}, so every check there is denied (reeve suspensions)`;
}

function scopeText(org: string, team: string | null): string {
  return team === null ? org : `${org}/${team}`;
}

function policyText({ names, total, policy_version: version }: Policies, { org_id: org }: Caller): string {
  // A tenant does not see the documents of the gateway, which may allow.
  if (total === 0) return org === null ? 'none, so everything is denied' : `none of ${org}’s own (version ${version})`;
  const more = total - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} (version ${version})`;
}
