import type { ActionType } from '@reeve/core';
import { action } from '@reeve/core';
import type { Facts } from '@reeve/core';

/** Facts for tests: an agent of acme/red that calls a tool on the evening of Wednesday, 15 July 2026. */
export function sampleFacts(
  args: unknown = {},
  over: Partial<Facts> & { type?: ActionType; members?: Parameters<typeof action>[1] } = {},
): Facts {
  const { type = 'tool_call', members, ...facts } = over;
  return {
    agent: {
      id: { orgId: 'acme', teamId: 'red', agentId: 'mailer' },
      tokenHash: null,
      name: 'Mailer',
      framework: 'langgraph',
      version: '1',
      parent: null,
      metadata: { env: 'prod', owner: 'zoë' },
      toolNames: [],
      registeredAt: 0,
      suspension: null,
      controlled: false,
      registeredWith: [],
    },
    depth: 2,
    action: action(type, { tool: 'send_mail', json: JSON.stringify(args) ?? '', ...members }),
    now: Date.UTC(2026, 6, 15, 22, 30, 15, 250),
    args: () => args,
    annotations: () => ({}),
    run: () => ({ id: 'run-7', checks: 12, spent_usd: 1.5, labels: [] }),
    spend: () => ({
      global: { day_usd: 1, month_usd: 2 },
      org: { day_usd: 3, month_usd: 4 },
      team: { day_usd: 5, month_usd: 6 },
      agent: { day_usd: 7, month_usd: 8 },
    }),
    user: () => null,
    costUsd: 0.25,
    ...facts,
  };
}
